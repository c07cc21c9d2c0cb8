"""Arguments of commands, read from text by their signatures."""

from __future__ import annotations

import pytest

import graphscope.debugger.commands  # noqa: F401 - fills the table
from graphscope.debugger.command_table import COMMANDS, GROUPS, bind, every, find, words
from graphscope.errors import CommandError


@pytest.mark.parametrize(
    ("line", "arguments", "keywords"),
    [
        ("next", [1], {}),
        ("next 12", [12], {}),
        ("ignore #1 2", [1, 2], {}),
        ("enable 1, 2 3", [1, 2, 3], {}),
        ("break op:mul, a > 'b'", ["op:mul, a > 'b'"], {}),
        ("lt op:mul -r -n '^h$'", ["op:mul"], {"reverse": True, "name": "^h$"}),
        ("lt --filter has_nan", [""], {"filter": "has_nan"}),
        ("p -x", ["-x"], {}),
    ],
)
def test_bind(line: str, arguments: list[object], keywords: dict[str, object]) -> None:
    name, _, text = line.partition(" ")

    assert bind(COMMANDS[name], text) == (arguments, keywords)


@pytest.mark.parametrize(
    ("line", "complaint"),
    [
        ("next x", "takes a whole number as count, not 'x'"),
        ("when 3", "does not know what to do with '3'"),
        ("p", "needs EXPRESSION"),
        ("ignore", "needs NUMBER"),
        ("lt -q", "has no flag -q"),
        ("lt -n", "needs a value"),
        ("lt 'a", "can't read"),
        ("li -d x", "takes a whole number"),
    ],
)
def test_bind_refuses(line: str, complaint: str) -> None:
    name, _, text = line.partition(" ")

    with pytest.raises(CommandError, match=complaint):
        bind(COMMANDS[name], text)


def test_no_word_means_two_commands() -> None:
    spelled = [word for command in every() for word in (command.name, *command.aliases)]

    assert sorted(spelled) == words()


FINGERS = "n s unt r c cont b tbreak cl w u d l ll a p pp whatis q h rn rs rc lt ni li lo pt ps"


@pytest.mark.parametrize("word", FINGERS.split())
def test_the_words_that_fingers_know(word: str) -> None:
    assert find(word) is not None


def test_every_command_is_in_a_group() -> None:
    assert {command.group for command in COMMANDS.values()} <= set(GROUPS)
