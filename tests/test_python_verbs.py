"""The verbs as Python functions: signatures, documentation and their counterparts on the command line."""

import inspect
import pydoc
import re
import typing
from collections.abc import Callable, Iterator
from importlib import import_module
from typing import Any

import pytest

import isogloss
from isogloss.cli.main import VERBS

FUNCTIONS = [name for name in isogloss.__all__ if inspect.isfunction(getattr(isogloss, name))]
# Python counterparts of commands that are not a function of the same name.
COUNTERPARTS = {
    "list": "isogloss.tasks.suite",
    "fetch": "isogloss.data.fetch.fetch",
    "task": "isogloss.check_task",
    "import": "isogloss.predictions.importers.import_files",
    "build": "isogloss.building.mewslix.build_mewslix",
    "llm": "isogloss.run",
    "predict": "isogloss.run",
    "checklist": "isogloss.checklist.build.build",
}
# Commands without a counterpart, and why.
ONLY_COMMANDS = {
    "board": "a server with its administration, run by its operator and not from a program",
    "demo": "a tour of the commands; in Python, isogloss.run('ngram', suite='mini') does the same",
}


def documented(function: Callable[..., Any]) -> set[str]:
    """Return the names under `Args:` of a docstring, at any depth."""
    text = inspect.getdoc(function) or ""
    arguments = text.partition("Args:\n")[2].partition("\n\nReturns:")[0].partition("\n\nRaises:")[0]
    return set(re.findall(r"^ +(?:- )?\*{0,2}(\w+): ", arguments, re.MULTILINE))


def parameters(function: Callable[..., Any]) -> Iterator[str]:
    """Yield the names of all parameters, with every name of options that are given as a typed dictionary."""
    for name, parameter in inspect.signature(function, eval_str=True).parameters.items():
        yield name
        if parameter.kind is parameter.VAR_KEYWORD and typing.get_origin(parameter.annotation) is typing.Unpack:
            [options] = typing.get_args(parameter.annotation)
            yield from typing.get_type_hints(options)


def test_there_is_a_function_for_every_verb_of_the_package() -> None:
    assert len(FUNCTIONS) >= 20


@pytest.mark.parametrize("name", FUNCTIONS)
def test_every_parameter_is_typed_and_documented(name: str) -> None:
    function = getattr(isogloss, name)
    signature = inspect.signature(function)
    assert function.__name__ == name
    assert signature.return_annotation is not signature.empty
    untyped = [each for each, value in signature.parameters.items() if value.annotation is value.empty]
    assert untyped == []
    assert sorted({*parameters(function)} - documented(function)) == []


@pytest.mark.parametrize("name", FUNCTIONS)
def test_help_describes_the_function(name: str) -> None:
    function = getattr(isogloss, name)
    text = pydoc.plain(pydoc.render_doc(function))
    assert f"\n{name}(" in text
    assert "PACKAGE CONTENTS" not in text
    assert inspect.getsourcefile(function) != inspect.getsourcefile(isogloss)
    special = [
        each for each in vars(function) if each.startswith("__") and each not in {"__wrapped__", "__overloads__"}
    ]
    assert special == []


@pytest.mark.parametrize("verb", VERBS)
def test_every_command_has_a_counterpart_or_a_reason(verb: str) -> None:
    if verb in ONLY_COMMANDS:
        assert len(ONLY_COMMANDS[verb].split()) > 5
        return
    if verb in COUNTERPARTS:
        package, _, name = COUNTERPARTS[verb].rpartition(".")
        assert inspect.isfunction(getattr(import_module(package), name))
    else:
        assert verb in FUNCTIONS
