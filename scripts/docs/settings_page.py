"""Page of settings, from the classes that define them: language models, recipes of training, board servers."""

import ast
import inspect
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import isogloss
from isogloss.systems.llm.system import LlmSystem
from isogloss.training import recipes

_HEAD = """\
# Settings

Generated from the code, with defaults. Settings of a system are written after its name
(`llm:qwen3-32b#shots=4`) or in a TOML file (`--config`), where `true` and `false` stand for True and False.
"""


def _rows(meanings: Mapping[str, str], defaults: Mapping[str, str]) -> str:
    """Return a table of settings."""
    rows = [f"| `{name}` | {_cell(defaults.get(name, ''))} | {text} |" for name, text in meanings.items()]
    return "\n".join(["| setting | default | meaning |", "|---|---|---|", *rows])


def _cell(default: str) -> str:
    value = "all" if default == "ALL" else default.strip("'")
    return f"`{value}`" if value not in ("", "None", "()") else ""


def _documented(doc: str, title: str) -> dict[str, str]:
    """Return the entries of a section of a docstring, one line each."""
    section = inspect.cleandoc(re.split(r"\n\n(?=\S)", doc.partition(f"{title}:\n")[2])[0])
    entries = [" ".join(entry.split()) for entry in re.split(r"\n(?=\S)", section)]
    return dict(entry.split(": ", 1) for entry in entries)


def _commented(cls: type[Any]) -> Iterator[tuple[str, str, str]]:
    """Yield name, default and comment of the fields of a class that documents them by comments."""
    source = inspect.getsource(cls)
    lines = source.splitlines()
    for field in ast.walk(ast.parse(source)):
        if not isinstance(field, ast.AnnAssign) or not isinstance(field.target, ast.Name):
            continue
        above = field.lineno - 1
        while lines[above - 1].strip().startswith("#"):
            above -= 1
        comments = [line.strip().lstrip("# ") for line in lines[above : field.lineno - 1]]
        comments += [lines[(field.end_lineno or 1) - 1].partition("  # ")[2]]
        default = ast.unparse(field.value) if field.value else ""
        yield field.target.id, default, " ".join(filter(None, comments)).replace("|", "\\|")


def _board_settings() -> ast.ClassDef:
    """Return the class of a board's settings without importing it: that needs the packages of a server."""
    source = Path(isogloss.__file__).parent / "board" / "server" / "board.py"
    body = ast.parse(source.read_text(encoding="utf-8")).body
    return next(node for node in body if isinstance(node, ast.ClassDef) and node.name == "BoardSettings")


def _board_defaults(node: ast.ClassDef) -> Iterator[tuple[str, str]]:
    """Yield name and default of each setting; sizes are products of numbers."""
    for field in node.body:
        if isinstance(field, ast.AnnAssign) and isinstance(field.target, ast.Name) and field.value:
            constant = not isinstance(field.value, ast.Call)
            value = eval(ast.unparse(field.value), {"__builtins__": {}}) if constant else ""  # noqa: S307 - our source
            yield field.target.id, f"{value:,}" if type(value) is int else str(value)


def page() -> str:
    """Return the page."""
    parameters = inspect.signature(LlmSystem.__init__).parameters
    llm = {name: str(each.default) for name, each in parameters.items() if each.default is not each.empty}
    server = _board_settings()
    recipe = list(_commented(recipes.Recipe))
    parts = [_HEAD, "## Language models", "`llm:MODEL`; see [language models](../llm.md)."]
    parts.append(_rows(_documented(inspect.getdoc(LlmSystem) or "", "Args"), llm))
    parts += ["## Recipes", "See [training](../training.md#recipes). Recipes [set other values](hyperparameters.md)."]
    parts.append(_rows({name: text for name, _, text in recipe}, {name: value for name, value, _ in recipe}))
    parts += ["## Board servers", "Keys of `board.toml`; see [board servers](../board-server.md#settings)."]
    parts.append(_rows(_documented(ast.get_docstring(server) or "", "Attributes"), dict(_board_defaults(server))))
    return "\n\n".join(parts) + "\n"
