"""Many small ES modules made into one plain script, since browsers load no modules from disk.

Only the simplest forms of `import` and `export` are known; whatever else a module has at the beginning of a line is
refused rather than guessed at.
"""

import re
from dataclasses import dataclass
from pathlib import Path

from isogloss.data.files import read_text
from isogloss.errors import DataError
from isogloss.report.page_parts import packaged_path

# An import may go over several lines; a comment is never at the beginning of one of its lines.
_IMPORT = re.compile(r'^import (?:\{([\w$,\s]*)\} from )?"\./([\w-]+\.js)";?[ \t]*$', re.MULTILINE)
_DECLARED = re.compile(r"^(export )?(?:async )?(?:function\*?|class|const|let) ([\w$]+)", re.MULTILINE)
# What would declare names that are not seen above, or is none of the forms that are known.
_REFUSED = re.compile(
    r"^(?:import\b|export\b(?! (?:async function|function|class|const|let)\b)|var\b|(?:const|let) [{\[]).*",
    re.MULTILINE,
)


@dataclass(frozen=True)
class _WebModule:
    """A module without its imports: what it needs, and the names it has at its top level."""

    name: str
    needs: tuple[tuple[str, tuple[str, ...]], ...]
    names: tuple[str, ...]
    exported: frozenset[str]
    text: str


def bundle(folder: Path, entry: str = "main.js") -> str:
    """One script that does what a module and all that it imports do.

    Args:
        folder: where the modules are; what is not there is one of those that the board shares with the report.
        entry: the name of the module that is run last.

    Returns:
        A script without imports, in a scope of its own: every module once, after those it needs.

    Raises:
        DataError: a module is not there, has a form that is not known, needs a name that another does not export, needs
            itself in a circle, or two modules have one name at their top level.
    """
    modules: dict[str, _WebModule] = {}
    _add(folder, entry, modules, ())
    owner: dict[str, str] = {}
    for module in modules.values():
        for name in module.names:
            if (other := owner.setdefault(name, module.name)) != module.name:
                raise DataError(f"{name} is declared in {other} too", where=str(folder / module.name), fix="Rename one")
    parts = "\n".join(f"// {module.name}\n{module.text.strip()}\n" for module in modules.values())
    return f'(() => {{\n"use strict";\n{parts}}})();\n'


def _add(folder: Path, name: str, modules: dict[str, _WebModule], way: tuple[str, ...]) -> None:
    """Put a module behind all that it needs."""
    where = str(folder / name)
    if name in way:
        raise DataError(f"imports go in a circle: {' → '.join((*way, name))}", where=where)
    if name in modules:
        return
    places = (folder / name, packaged_path(name))
    module = _module(name, read_text(next((path for path in places if path.exists()), places[0])), where)
    for needed, names in module.needs:
        _add(folder, needed, modules, (*way, name))
        if lacking := sorted(set(names) - modules[needed].exported):
            raise DataError(f"{needed} exports no {', '.join(lacking)}", where=where)
    modules[name] = module


def _module(name: str, text: str, where: str) -> _WebModule:
    needs = tuple(
        (found[2], tuple(word.strip() for word in (found[1] or "").split(",") if word.strip()))
        for found in _IMPORT.finditer(text)
    )
    rest = _IMPORT.sub("", text)
    if strange := _REFUSED.search(rest):
        fix = 'Write import { a, b } from "./x.js", and export before function, class, const or let'
        raise DataError(f"{strange[0][:80]!r} is not known to the bundle", where=where, fix=fix)
    declared = [(found[2], bool(found[1])) for found in _DECLARED.finditer(rest)]
    exported = frozenset(name for name, is_exported in declared if is_exported)
    names = tuple(name for name, _ in declared)
    return _WebModule(name, needs, names, exported, re.sub(r"^export ", "", rest, flags=re.MULTILINE))
