"""Joins the pages' modules into one classic script, since pages from disk cannot load modules."""

import re
from pathlib import Path

IMPORT = re.compile(r'^import \{([^}]*)\} from "\./([\w.-]+)";\n', re.M)
TOP_NAME = re.compile(r"^(?:export )?(?:async )?(?:const|let|function\*?|class) (\w+)", re.M)


def bundle(web: Path, entry: str = "main.js") -> str:
    """One script of the entry and all it imports, in the order of their dependence."""
    parts: dict[str, str] = {}
    names: dict[str, str] = {}

    def visit(name: str, above: tuple[str, ...]) -> None:
        assert name not in above, (*above, name)
        if name in parts:
            return
        text = (web / name).read_text(encoding="utf-8")
        for _, needed in IMPORT.findall(text):
            visit(needed, (*above, name))
        for found in TOP_NAME.findall(text):
            assert found not in names, (found, name, names[found])
            names[found] = name
        for wanted, source in IMPORT.findall(text):
            exported = re.findall(r"^export (?:async )?(?:const|let|function|class) (\w+)", (web / source).read_text(), re.M)
            for each in filter(None, map(str.strip, wanted.split(","))):
                assert each in exported, (name, each, source)
        parts[name] = re.sub(r"^export ", "", IMPORT.sub("", text), flags=re.M)

    visit(entry, ())
    return '(() => {\n"use strict";\n' + "".join(parts.values()) + "})();\n"
