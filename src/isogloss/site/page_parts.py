"""Parts of pages: their inputs and sections before rendering, and the frame with style, script and data in one file."""

import re
from base64 import b64encode
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from hashlib import sha256
from pathlib import Path
from posixpath import dirname, join, normpath
from typing import Any, Literal

import msgspec

from isogloss.data.files import read_text
from isogloss.errors import DataError
from isogloss.escaping import html_text, printable_values
from isogloss.results.averages import Systems
from isogloss.tables.charts import Chart
from isogloss.tables.explain_io import ExplainRecords
from isogloss.tables.table import Table
from isogloss.version import __version__

# Modules and styles that all pages share; `inlined` has those of pages in one file.
WEB = Path(__file__).with_name("web")
# An import may span several lines; none of them begins with a comment.
_IMPORT = re.compile(r'^import (?:\{([\w$,\s]*)\} from )?"(\.\.?/(?:[\w-]+/)*[\w-]+\.js)";?[ \t]*$', re.MULTILINE)
_DECLARED = re.compile(r"^(export )?(?:async )?(?:function\*?|class|const|let) ([\w$]+)", re.MULTILINE)
_JSDOC = re.compile(
    r"^[ \t]*(?:/\*\*(?:[^*]|\*(?!/))*\*/|// @ts-\w+)[ \t]*\n|/\*\* @\w+ (?:[^*]|\*(?!/))*\*/ ?", re.MULTILINE
)
# Unsupported forms, and declarations that `_DECLARED` does not match.
_REFUSED = re.compile(
    r"^(?:import\b|export\b(?! (?:async function|function|class|const|let)\b)|var\b|(?:const|let) [{\[]).*",
    re.MULTILINE,
)


@dataclass(frozen=True)
class ReportInputs:
    """Content of a report.

    Attributes:
        systems: systems with result records, by the name they are shown under.
        subtitle: subtitle of a page without systems.
        languages: languages to offer in the search of a page without systems.
        data: data folder, to test systems with predictions; default ISOGLOSS_DATA or the user's cache folder.
    """

    systems: Systems = field(default_factory=dict)
    explained: ExplainRecords = field(default_factory=ExplainRecords)
    subtitle: str = ""
    languages: tuple[str, ...] = ()
    data: Path | None = None


@dataclass(frozen=True, kw_only=True)
class Section:
    """A section of the report.

    Attributes:
        tables: tables by file name.
        panel: interactive panel of the section; its charts are only files.
        only_files: tables that are too long for the page.
        notes: lines below the tables.
        reference: True to keep long tables folded in print.
        files: True to link to tables and charts as files.
        pictures: True to write charts as files as well.
    """

    id: str
    title: str
    intro: str
    tables: dict[str, Table] = field(default_factory=dict)
    charts: list[Chart] = field(default_factory=list)
    panel: Literal["", "explain", "bias"] = ""
    only_files: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    reference: bool = False
    files: bool = True
    pictures: bool = True


def packaged_file(name: str) -> str:
    """Return the text of a file of the front end."""
    inlined = WEB / "inlined" / name
    return (inlined if inlined.exists() else WEB / name).read_text(encoding="utf-8")


def inlined_page(name: str, title: str, parts: Mapping[str, str], data: Callable[[int], Any]) -> str:
    """Return a self-contained page.

    Args:
        name: name of the body, the style and the script in the front end.
        title: title of the page, as HTML.
        parts: HTML at the positions `{{name}}` of the body.
        data: function from the size of the page without its data, in bytes, to the script's data.
    """
    script = bundle(WEB, f"{name}.js")
    frame = {
        "title": title,
        "version": html_text(__version__),
        # The page's security policy lets only this script run.
        "hashes": f"'sha256-{b64encode(sha256(script.encode()).digest()).decode()}'",
        "style": packaged_file("look.css") + packaged_file(f"{name}.css"),
        "body": _filled(f"{name}.html", {**parts, "title": title}),
        "script": script,
    }
    frame["data"] = script_json(printable_values(data(sum(len(part.encode()) for part in frame.values()))))
    return _filled("page.html", frame)


def _filled(template: str, parts: Mapping[str, str]) -> str:
    # One pass, so that inserted text is never searched for positions.
    return re.sub(r"\{\{(\w+)\}\}", lambda match: parts[match[1]], packaged_file(template))


def script_json(value: Any) -> str:
    """Encode JSON that is safe inside a script element."""
    text = msgspec.json.encode(value).decode()
    for sign in "<>&\u2028\u2029":
        text = text.replace(sign, f"\\u{ord(sign):04x}")
    return text


@dataclass(frozen=True, kw_only=True)
class _WebModule:
    name: str
    needs: tuple[tuple[str, tuple[str, ...]], ...]
    names: tuple[str, ...]
    exported: frozenset[str]
    text: str


def bundle(folder: Path, entry: str = "main.js") -> str:
    """Return one script with a module and everything it imports, since browsers cannot load modules from disk.

    Only the simplest forms of `import` and `export` are supported. The script has its own scope and every module once,
    after those it needs, without comments and indentation.

    Raises:
        DataError: a module is missing, has an unsupported form, imports a name that another does not export, is part
            of a circular import, or shares a top-level name with another module.
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


def _add(folder: Path, name: str, modules: dict[str, _WebModule], chain: tuple[str, ...]) -> None:
    where = str(folder / name)
    if name in chain:
        raise DataError(f"circular imports: {' → '.join((*chain, name))}", where=where)
    if name in modules:
        return
    if name.startswith(".."):
        raise DataError("a module outside the front end is not supported", where=where)
    module = _module(name, read_text(folder / name), where)
    for needed, names in module.needs:
        _add(folder, needed, modules, (*chain, name))
        if lacking := sorted(set(names) - modules[needed].exported):
            raise DataError(f"{needed} does not export {', '.join(lacking)}", where=where)
    modules[name] = module


def _module(name: str, text: str, where: str) -> _WebModule:
    needs = tuple(
        (normpath(join(dirname(name), match[2])), tuple(filter(None, map(str.strip, (match[1] or "").split(",")))))
        for match in _IMPORT.finditer(text)
    )
    rest = _JSDOC.sub("", _IMPORT.sub("", text))
    if refused := _REFUSED.search(rest):
        fix = 'Write import { a, b } from "./x.js", and export before function, class, const or let'
        raise DataError(f"{refused[0][:80]!r} is not supported by the bundle", where=where, fix=fix)
    declared = [(match[2], bool(match[1])) for match in _DECLARED.finditer(rest)]
    exported = frozenset(name for name, is_exported in declared if is_exported)
    names = tuple(name for name, _ in declared)
    script = re.sub(r"^export ", "", rest, flags=re.MULTILINE)
    if not any(line.count("`") % 2 for line in script.splitlines()):  # no template literal spans several lines
        script = re.sub(r"^(?:[ \t]*//.*\n|[ \t]+|\n)", "", script, flags=re.MULTILINE)
    return _WebModule(name=name, needs=needs, names=names, exported=exported, text=script)
