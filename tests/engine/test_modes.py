"""Gradient mode: as context manager, as decorator, nested, reused, with exceptions, per thread."""

from __future__ import annotations

import threading

import pytest

import graphscope as gs


def tracks():
    return (gs.ones(1, requires_grad=True) * 2).requires_grad


def test_contexts_nest():
    assert tracks()
    with gs.no_grad():
        assert not tracks()
        with gs.enable_grad():
            assert tracks()
            with gs.set_grad_enabled(False):
                assert not tracks()
            assert tracks()
        assert not gs.is_grad_enabled()
    assert tracks()


def test_decorators():
    @gs.no_grad()
    def quiet(enabled):
        assert not tracks()
        return enabled

    @gs.no_grad
    def bare():
        return tracks()

    @gs.enable_grad()
    def loud():
        return tracks()

    @gs.set_grad_enabled(False)
    def switched():
        return tracks()

    assert tracks()
    assert quiet(5) == 5
    assert quiet.__name__ == "quiet"
    assert not bare()
    assert not switched()
    with gs.no_grad():
        assert loud()
        assert not tracks()
    assert tracks()


def test_a_recursive_decorated_function():
    @gs.no_grad()
    def down(n):
        if n:
            down(n - 1)
        return tracks()

    assert not down(3)
    assert tracks()


def test_a_decorated_generator():
    @gs.no_grad()
    def rows():
        yield tracks()
        yield tracks()

    assert [(row, tracks()) for row in rows()] == [(False, True), (False, True)]


def test_exceptions_restore_the_mode():
    with pytest.raises(ZeroDivisionError), gs.no_grad():
        1 / 0  # noqa: B018
    assert tracks()

    @gs.no_grad()
    def fails():
        raise KeyError

    with pytest.raises(KeyError):
        fails()
    assert tracks()


def test_a_context_manager_can_be_reused_and_nested_in_itself():
    quiet = gs.no_grad()
    with quiet:
        with quiet:
            assert not tracks()
        assert not tracks()
    assert tracks()
    with quiet:
        assert not tracks()
    assert tracks()


def test_set_grad_enabled_at_once():
    before = gs.set_grad_enabled(False)
    try:
        assert not tracks()
    finally:
        gs.set_grad_enabled(True)
    assert before is not None
    assert tracks()


def test_threads_have_their_own_mode():
    inside, checked = threading.Event(), threading.Event()
    found = []

    def other():
        inside.wait(5)
        found.append(tracks())
        with gs.no_grad():
            checked.set()
            found.append(tracks())

    thread = threading.Thread(target=other)
    thread.start()
    with gs.no_grad():
        inside.set()
        checked.wait(5)
        assert not tracks()
    thread.join()
    assert found == [True, False]
    assert tracks()


def test_backward_in_threads():
    x = gs.ones(50, requires_grad=True)
    results = []

    def work(n):
        for _ in range(20):
            (found,) = gs.grad((x * n).tanh().sum(), x)
        results.append((n, found.array))

    threads = [threading.Thread(target=work, args=(n,)) for n in range(1, 5)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(n for n, _ in results) == [1, 2, 3, 4]
    for n, found in results:
        (expected,) = gs.grad((x * n).tanh().sum(), x)
        assert (found == expected.array).all()


def test_in_place_writes_without_gradients():
    w = gs.ones(2, requires_grad=True)
    (w * 3).sum().backward()
    with gs.no_grad():
        w -= 0.5 * w.grad
    assert w.tolist() == [-0.5, -0.5]
    assert w.is_leaf
    assert w.requires_grad
