"""The verbs as Python functions: signatures, documentation and their counterparts on the command line."""

import ast
import inspect
import pydoc
import re
from collections.abc import Callable
from typing import Any

import pytest

import isogloss
from isogloss.cli.main import VERBS

FUNCTIONS = [name for name in dir(isogloss) if inspect.isfunction(getattr(isogloss, name))]
# Python counterparts of commands that are not a function of the same name.
COUNTERPARTS = {
    "import": "import_files",
    "build": "build_mewslix",
    "llm": "run",
    "checklist": "build_checklist",
    "board": "build_board",
}
# Commands without a counterpart, and why.
ONLY_COMMANDS = {
    "completion": "it completes commands in a shell; notebooks complete names and options by themselves",
    "demo": "a tour of the commands; in Python, isogloss.run('ngram', suite='mini') does the same",
}


def documented(function: Callable[..., Any]) -> set[str]:
    """Return the names under `Args:` of a docstring, at any depth."""
    text = inspect.getdoc(function) or ""
    arguments = text.partition("Args:\n")[2].partition("\n\nReturns:")[0].partition("\n\nRaises:")[0]
    return set(re.findall(r"^ +(?:- )?\*{0,2}(\w+): ", arguments, re.MULTILINE))


def test_there_is_a_function_for_every_verb_of_the_package() -> None:
    assert len(FUNCTIONS) >= 27


@pytest.mark.parametrize("name", FUNCTIONS)
def test_every_parameter_is_typed_and_documented(name: str) -> None:
    function = getattr(isogloss, name)
    signature = inspect.signature(function)
    assert function.__name__ == name
    assert signature.return_annotation is not signature.empty
    untyped = [each for each, value in signature.parameters.items() if value.annotation is value.empty]
    assert untyped == []
    assert sorted({*signature.parameters} - documented(function)) == []


@pytest.mark.parametrize("name", FUNCTIONS)
def test_help_describes_the_function(name: str) -> None:
    function = getattr(isogloss, name)
    text = pydoc.plain(pydoc.render_doc(function))
    assert f"\n{name}(" in text
    assert "PACKAGE CONTENTS" not in text
    assert inspect.getsourcefile(function) != inspect.getsourcefile(isogloss)
    special = [
        each
        for each in vars(function)
        if each.startswith("__") and each not in {"__wrapped__", "__overloads__", "__signature__"}
    ]
    assert special == []


@pytest.mark.parametrize("verb", VERBS)
def test_every_command_has_a_counterpart_or_a_reason(verb: str) -> None:
    if verb in ONLY_COMMANDS:
        assert len(ONLY_COMMANDS[verb].split()) > 5
        return
    assert COUNTERPARTS.get(verb, verb) in FUNCTIONS


@pytest.mark.parametrize("name", FUNCTIONS)
def test_examples_call_the_function_with_its_options(name: str) -> None:
    example = inspect.cleandoc((inspect.getdoc(getattr(isogloss, name)) or "").partition("Example:\n")[2])
    called = set()
    for call in (node for node in ast.walk(ast.parse(example)) if isinstance(node, ast.Call)):
        words = ast.unparse(call.func).split(".")
        if words[0] == "isogloss" and len(words) == 2:
            options = {keyword.arg: None for keyword in call.keywords if keyword.arg}
            inspect.signature(getattr(isogloss, words[1])).bind(*call.args, **options)
            called.add(words[1])
    assert name in called


@pytest.mark.parametrize("name", FUNCTIONS)
def test_help_lists_every_option(name: str) -> None:
    signature = inspect.signature(getattr(isogloss, name))
    assert ("options" in signature.parameters) == (name == "analyze")  # its options depend on the analysis
    assert "lambda" not in str(signature)
