"""Rows of several threads, and of signal handlers and finalizers in the middle of an append: none lost or torn."""

from __future__ import annotations

import gc
import itertools
import signal
import sys
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager

import numpy as np
import pytest

from graphscope.eventlog.names import Table
from graphscope.eventlog.reader import Log, load
from graphscope.eventlog.schema import Kind
from graphscope.eventlog.writer import Writer

SIZES = (1, 2, 5, 40, 300, 4000)


@pytest.fixture(autouse=True)
def _switch_threads_often() -> Iterator[None]:
    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-5)
    yield
    sys.setswitchinterval(before)


class Producer:
    """Appends rows whose value tells who made them; remembers what it appended."""

    def __init__(self, writer: Writer, name: int) -> None:
        self.writer = writer
        self.name = name
        self.rows: dict[int, np.ndarray] = {}
        self.templates = {
            (size, several): writer.template(Kind.OP, shape=(size,), dtype=np.dtype("f8"), several=several)
            for size in SIZES
            for several in (False, True)
        }

    def append(self, number: int) -> None:
        size = SIZES[number * 7 % len(SIZES)] if number % 3 == 0 else SIZES[number % 3]
        value = np.full(size, self.name * 1e7 + number)
        if number % 50 == 1:
            keep = self.templates[size, False].keep
            row = self.writer.append_wide(
                self.templates[size, True], [(value, keep), (-value, keep)], [(number, 0)] * 5
            )
        elif number % 50 == 2:
            text = f"{self.name}/{number}"
            row = self.writer.mark(Kind.PRINT, text=text)
            value = np.frombuffer(text.encode(), "u1")
        else:
            row = self.writer.append(self.templates[size, False], value)
        assert row not in self.rows
        self.rows[row] = value


def check(log: Log, producers: list[Producer]) -> None:
    appended = list(itertools.chain(*(producer.rows for producer in producers)))
    assert len(set(appended)) == len(appended), "no row is given twice"
    written = set((np.flatnonzero(log.column("kind")) + log.first).tolist())
    assert written == set(appended)
    for producer in producers:
        for row, value in producer.rows.items():
            event = log.event(row)
            if event.kind == Kind.PRINT:
                assert log.attrs(event.attrs) == {"text": value.tobytes().decode()}
                continue
            found = log.value(row)
            assert found is not None
            assert found.shape == value.shape
            assert np.array_equal(found, value)
            if event.output_count == 2:
                assert np.array_equal(log.value(row, 1), -value)
                assert len(event.inputs) == 5


@pytest.mark.slow
def test_rows_of_eight_threads(make) -> None:
    writer = make(budget=1 << 34)
    producers = [Producer(writer, name) for name in range(8)]
    together = threading.Barrier(8)

    def run(producer: Producer) -> None:
        together.wait()
        for number in range(5000):
            producer.append(number)

    with ThreadPoolExecutor(8) as pool:
        list(pool.map(run, producers))
    log = load(writer.path)
    assert len(list(log.chunks())) > 3, "segments were made meanwhile"
    check(log, producers)
    assert {log.thread(int(number))["name"] for number in np.unique(log.column("thread"))} <= {
        thread["name"] for thread in log.table("threads")
    }


@pytest.mark.slow
def test_rows_of_eight_threads_for_longer(make) -> None:
    writer = make(budget=1 << 34)
    producers = [Producer(writer, name) for name in range(8)]
    with ThreadPoolExecutor(8) as pool:
        list(pool.map(lambda producer: [producer.append(number) for number in range(20_000)], producers))
    check(load(writer.path), producers)


@contextmanager
def interrupted(work) -> Iterator[None]:
    """Do some work in a signal handler, again and again; each time is armed by the one before, so that none nest."""

    def handler(*_: object) -> None:
        try:
            work()
        finally:
            if armed:
                signal.setitimer(signal.ITIMER_REAL, 0.001)

    armed = [True]
    before = signal.signal(signal.SIGALRM, handler)
    signal.setitimer(signal.ITIMER_REAL, 0.001)
    try:
        yield
    finally:
        armed.clear()
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


@pytest.mark.slow
@pytest.mark.skipif(not hasattr(signal, "setitimer"), reason="no timer signals here")
def test_a_signal_handler_appends_in_the_middle(make) -> None:
    writer = make()
    program, handler = Producer(writer, 1), Producer(writer, 2)
    numbers = itertools.count()
    with interrupted(lambda: handler.append(next(numbers))):
        for number in range(10_000):
            program.append(number)
    assert len(handler.rows) > 10
    check(load(writer.path), [program, handler])


@pytest.mark.slow
def test_a_finalizer_appends_in_the_middle(make) -> None:
    writer = make()
    program, finalizer = Producer(writer, 1), Producer(writer, 2)
    numbers = itertools.count()

    class Finalized:
        def __init__(self) -> None:
            self.myself = self

        def __del__(self) -> None:
            finalizer.append(next(numbers))

    thresholds = gc.get_threshold()
    gc.set_threshold(3, 2, 2)
    try:
        for number in range(6000):
            Finalized()
            program.append(number)
    finally:
        gc.set_threshold(*thresholds)
        gc.collect()
    assert len(finalizer.rows) > 1000
    check(load(writer.path), [program, finalizer])


@pytest.mark.slow
@pytest.mark.parametrize(
    "moments", [range(0, 60, 7), pytest.param(range(60), marks=pytest.mark.slow)], ids=["some", "all"]
)
def test_appends_nested_at_every_call_of_a_roll_over(make, moments: range) -> None:
    # A handler may run after each call inside the writer: do so at every single one, a different one each time.
    for moment in moments:
        writer = make(f"{moment}.gscope")
        program, handler = Producer(writer, 1), Producer(writer, 2)
        for number in range(0, 3000, 3):
            program.append(number)
        calls = itertools.count()

        def profile(frame, event, _, *, moment=moment, calls=calls, handler=handler) -> None:
            inside = "eventlog" in frame.f_code.co_filename
            if inside and event in ("return", "c_return") and next(calls) == moment:
                sys.setprofile(None)
                for number in range(1, 5000, 48):
                    handler.append(number)

        full = writer.segment
        while writer.segment is full:
            sys.setprofile(
                profile if full.end - full.next_row < 2 or full.value_end - full.next_value < 70_000 else None
            )
            program.append(number)
            number += 3
        sys.setprofile(None)
        for more in range(100):
            program.append(number + more)
        assert writer.broken is None
        check(load(writer.path), [program, handler])
        assert not list(writer.path.glob("segments/*.*"))


@pytest.mark.slow
def test_table_entries_nested_at_every_call(tmp_path, make) -> None:
    for moment in range(40):
        writer = make(f"{moment}.gscope")
        table = writer.tables["attrs"]
        expected: dict[int, str] = {}
        calls = itertools.count()

        def add(text: str, table: Table = table, expected: dict[int, str] = expected) -> None:
            number = table.add(text, {"text": text})
            assert number not in expected
            expected[number] = text

        def profile(frame, event, _, *, moment=moment, calls=calls, add=add) -> None:
            if "eventlog" in frame.f_code.co_filename and event in ("return", "c_return") and next(calls) == moment:
                sys.setprofile(None)
                for number in range(30):
                    add(f"nested {number}" + "y" * 600)

        for number in range(12):
            add(f"entry {number}" + "x" * 600)
        sys.setprofile(profile)
        for number in range(12, 40):
            add(f"entry {number}" + "x" * 600)
        sys.setprofile(None)
        log = load(writer.path)
        assert {number: log.attrs(number)["text"] for number in expected} == expected
        assert len(log.table("attrs")) == len(expected)
        assert not list((writer.path / "tables").glob("*.[0-9]*"))


@pytest.mark.slow
def test_an_interrupt_in_the_middle_leaves_the_rest_readable(make) -> None:
    writer = make()
    program = Producer(writer, 1)

    class Interrupt(BaseException):
        pass

    appending = []

    def interrupt() -> None:
        if appending:
            appending.clear()
            raise Interrupt

    interrupts = 0
    with interrupted(interrupt):
        for number in range(10_000):
            try:
                appending.append(True)
                program.append(number)
                appending.clear()
            except Interrupt:
                interrupts += 1
    assert interrupts > 5
    log = load(writer.path)
    assert writer.broken is None
    written = set((np.flatnonzero(log.column("kind")) + log.first).tolist())
    assert log.end < 1 << 20  # a segment that was not finished gives its rows back
    assert set(program.rows) <= written
    for row, value in program.rows.items():
        event = log.event(row)
        if event.kind == Kind.PRINT:
            assert log.attrs(event.attrs) == {"text": value.tobytes().decode()}
        else:
            assert np.array_equal(log.value(row), value)


def test_the_duration_of_a_row_whose_segment_is_full(make, append) -> None:
    writer = make()
    segment = writer.segment
    rows = []
    while segment.next_row < segment.end:
        rows.append(append(writer, np.float32(1)))
    rows.append(append(writer, np.float32(2)))
    assert writer.segment is not segment
    for row in rows[-8:]:
        writer.finish(row, writer.clock() - 1)
    log = load(writer.path)
    assert log.end == rows[-1] + 1
    assert log.value(rows[-1]) == 2
    assert log.event(rows[-1]).duration > 0
