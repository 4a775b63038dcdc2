"""Class names are unique within the package."""

import ast
from pathlib import Path

import isogloss


def test_class_names_are_unique() -> None:
    places: dict[str, list[str]] = {}
    for path in sorted(Path(isogloss.__file__).parent.rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.ClassDef):
                places.setdefault(node.name, []).append(f"{path.name}:{node.lineno}")
    assert {name: found for name, found in places.items() if len(found) > 1} == {}
