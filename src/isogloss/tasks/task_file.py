"""A task as a TOML file: its keys, and the `Task` that they declare.

The package's own task files are listed with `isogloss list`, so declaring a task imports neither its kind nor msgspec
unless a file leaves something for the kind to decide, or has to be checked.
"""

import json
import re
from collections.abc import Iterable, Mapping
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any, Literal
from warnings import warn

from isogloss.checked_settings import checked_settings
from isogloss.data.table_syntax import TableSyntax
from isogloss.errors import DataError, UnknownNameError, unknown
from isogloss.languages import known_language, language
from isogloss.tasks.table_format import (
    COMMON_COLUMNS,
    SPLIT,
    ColumnName,
    HubDataset,
    NumberedUnits,
    TableFormat,
)
from isogloss.tasks.task import SPLITS, Layout, Task, counted

_ID = re.compile(r"[a-z0-9][a-z0-9._-]{0,63}")
_PLACEHOLDER = re.compile(r"\{([^{}]*)\}")
_PLACEHOLDERS = ("language", "split", "lang", "code", "iso3", "name")
# A language that the registry does not know names folders, too.
_SAFE_TAG = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]{0,63}")
# Splits of hub datasets.
_HUB_SPLITS = {"test": "test", "dev": "validation", "train": "train"}

_NAMES = tuple[str, ...]
_FORMAT = Literal["csv", "tsv", "jsonl", "json", "parquet", "conll", "conllu", "squad"]
# Keys by their type.
_TEXTS = (
    "id title kind based_on category data hub revision config delimiter quote dialect prompt corpus cluster train_on "
    "licence homepage citation"
).split()
_KEYS: Mapping[str, Any] = {
    **dict.fromkeys(_TEXTS, str),
    **dict.fromkeys(("codes", "columns", "splits", "synonyms", "units", "counts", "options"), dict),
    **dict.fromkeys(("languages", "also"), str | _NAMES | dict),
    "files": str | dict,
    "format": _FORMAT,
    "header": bool,
    "labels": _NAMES | dict,
    "main": str | _NAMES,
    "parallel": bool | str,
}
# Keys of a file that is based on another task.
_EDITION_KEYS = frozenset("id title based_on languages also data counts licence homepage citation".split())
_UNIT_KEYS: Mapping[str, Any] = {"column": str | int, "first": dict, "cluster": int, "name": str}


def read_task_file(path: Path) -> Task:
    """Read a user's task file.

    Raises:
        UnknownNameError: an unknown key, kind, column or format; the message has the nearest.
        DataError: the file is missing, or a value is wrong.
    """
    from isogloss.data.files import read_text

    return parse_task_file(read_text(path), path)


def parse_task_file(text: str, path: Path) -> Task:
    """Return the task that the text of a task file declares; `path` is where it is, or will be.

    Raises:
        UnknownNameError: an unknown key, kind, column or format; the message has the nearest.
        DataError: a value is wrong.
    """
    from isogloss.decoding import decode_toml

    where = str(path)
    table = checked_settings(decode_toml(text, where), _KEYS, "key of a task file", where, error=DataError)
    if "units" in table:
        checked_settings(table["units"], _UNIT_KEYS, "key of [units]", f"{where} [units]", error=DataError)
    return _declared(table, path, check=True)


@cache
def shipped_task(name: str) -> Task:
    """Return a task of the package."""
    import tomllib

    path = Path(__file__).parent / "living" / f"{name}.toml"
    return _declared(tomllib.loads(path.read_text(encoding="utf-8")), path, check=False)


def task_id(table: Mapping[str, Any], path: Path) -> str:
    """Return the id of a task file: its key `id`, or the file's name."""
    return str(table.get("id", path.stem))


def is_task_id(name: str) -> bool:
    """Return True if a task may have this id."""
    return bool(_ID.fullmatch(name))


def _declared(table: Mapping[str, Any], path: Path, *, check: bool) -> Task:
    where, name = str(path), task_id(table, path)
    if not is_task_id(name):
        fix = "Use small letters, digits, dots, hyphens and underscores" + ("" if "id" in table else ': id = "my-task"')
        raise DataError(f"{name!r:.80} cannot be the id of a task", where=where, fix=fix)
    if "based_on" in table:
        return _edition(table, path, name)
    if "kind" not in table:
        raise DataError("missing kind", where=where, fix='Write kind = "classification", for instance')
    if check:
        _check_kind(table, where)
    home = path.absolute().parent
    folder = str((home / str(table.get("data", "")).replace("~", str(Path.home()), 1)).resolve()) if check else ""
    form = _format(table, home, where, is_checked=check)
    patterns = _patterns(table, where)
    languages, also = _languages(table, where), _languages(table, where, "also")
    if not languages:
        languages, further = _found_languages(form, patterns, folder, table, where)
        also = {**further, **also}
    codes = {**languages, **{tag: code for tag, code in also.items() if tag not in languages}}
    labels = table.get("labels", ())
    labels = tuple(dict.fromkeys(labels.values())) if isinstance(labels, dict) else tuple(labels)
    defaults = _KindDefaults(str(table["kind"]))
    parallel = table.get("parallel", "")
    options: dict[str, object] = {
        "labels": labels if labels and (not check or defaults.needs_labels) else (),
        "dialect": table.get("dialect") or (defaults.dialect if check else ""),
        "prompt": table.get("prompt", ""),
        "synonyms": _synonyms(table.get("synonyms", {}), labels, where),
        **table.get("options", {}),
    }
    return Task(
        id=name,
        title=table.get("title", name),
        kind=table["kind"],
        category=table.get("category") or defaults.category,
        languages=tuple(languages),
        also=tuple(tag for tag in codes if tag not in languages),
        main=_words(table.get("main", ())) or defaults.main,
        layouts=(Layout("table.read", **patterns, table=form),),
        counts={split: _counts(value, languages, where) for split, value in table.get("counts", {}).items()},
        licence=table.get("licence", "not stated"),
        homepage=table.get("homepage", ""),
        citation=table.get("citation", ""),
        parallel=(name if parallel else "") if isinstance(parallel, bool) else parallel,
        corpus=table.get("corpus", ""),
        cluster=table.get("cluster") or _cluster_name(form),
        options={key: value for key, value in options.items() if value},
        train_on=table.get("train_on", ""),
        codes=codes if any(tag != code for tag, code in codes.items()) else {},
        declared_in=where if check else "",
        folder=folder,
    )


def _edition(table: Mapping[str, Any], path: Path, name: str) -> Task:
    """Return another task with other languages and counts, such as a Mewsli-X that a user has built."""
    from isogloss.tasks.registry import task

    where = str(path)
    if others := sorted({*table} - _EDITION_KEYS):
        what = f"{others[0]} is that of the task it is based on"
        raise DataError(what, where=where, fix=f"Keep only {', '.join(sorted(_EDITION_KEYS))}")
    try:
        base = task(table["based_on"])
    except UnknownNameError as error:
        error.where = where
        raise
    languages, also = _languages(table, where), _languages(table, where, "also")
    counts = {split: _counts(value, {**languages, **also}, where) for split, value in table.get("counts", {}).items()}
    kept = {key: table[key] for key in ("title", "licence", "homepage", "citation") if key in table}
    return replace(
        base,
        id=name,
        **kept,
        languages=tuple(languages) or base.languages,
        also=tuple(tag for tag in also if tag not in languages) if languages else base.also,
        codes={tag: code for tag, code in {**also, **languages}.items() if tag != code} or base.codes,
        counts=counts,
        edition_of=base.base_id,
        declared_in=where,
        folder=str((path.absolute().parent / table.get("data", "")).resolve()),
    )


class _KindDefaults:
    """Defaults that the kind has for keys of its tasks; the kind is imported when the first is used."""

    def __init__(self, name: str) -> None:
        self._name = name

    def __getattr__(self, attribute: str) -> Any:
        from isogloss.tasks.kinds import KINDS

        kind = KINDS[self._name]
        return getattr(kind, attribute) or (self._name if attribute == "category" else getattr(kind, attribute))


def _words(value: Any) -> tuple[str, ...]:
    return tuple(value.split()) if isinstance(value, str) else tuple(value)


def _check_kind(table: Mapping[str, Any], where: str) -> None:
    """Raise an error for an unknown kind, wrong columns, or missing labels."""
    from isogloss.tasks.kinds import KINDS

    name = table["kind"]
    if name not in KINDS:
        raise unknown("kind", name, KINDS, where=where)
    kind = KINDS[name]
    if kind.retrieval:
        what = f"examples of kind {name!r} need candidates, which a table does not have"
        raise DataError(what, where=where, fix="Write a reader in Python: CONTRIBUTING.md")
    own = tuple(dict.fromkeys((*kind.inputs, kind.gold, *kind.extra_columns)))
    for role, column in table.get("columns", {}).items():
        if role not in (*own, *COMMON_COLUMNS):
            error = unknown(f"column of kind {name!r}:", role, (*own, *COMMON_COLUMNS), where=f"{where} [columns]")
            error.fix = f"{error.fix}. Its columns are {', '.join(own)}; all kinds have {', '.join(COMMON_COLUMNS)}"
            raise error
        if not _is_column(column):
            what = f"{role} = {column!r:.80} is not a column's name, its number from 1, or a list of them"
            raise DataError(what, where=f"{where} [columns]")
    if kind.needs_labels and not table.get("labels"):
        raise DataError(f"missing labels, which kind {name!r} needs", where=where, fix='Write labels = ["yes", "no"]')
    if not kind.main and not table.get("main"):
        raise DataError(f"missing main, the metric that kind {name!r} is scored by", where=where)


def _is_column(column: Any) -> bool:
    if isinstance(column, list):
        return bool(column) and all(_is_column(each) and not isinstance(each, list) for each in column)
    return isinstance(column, str) or (isinstance(column, int) and not isinstance(column, bool) and column >= 1)


def _format(table: Mapping[str, Any], home: Path, where: str, *, is_checked: bool) -> TableFormat:
    syntax = TableSyntax(
        format=table.get("format", ""),
        header=table.get("header", True),
        delimiter=table.get("delimiter", ""),
        quote=table.get("quote"),
    )
    for key, text in (("delimiter", syntax.delimiter), ("quote", syntax.quote or "")):
        if len(text) > 1 or text in ("\n", "\r"):
            raise DataError(f"{key} = {text!r:.40} is not one character", where=where)
    columns: dict[str, ColumnName] = {
        role: tuple(name) if isinstance(name, list) else name for role, name in table.get("columns", {}).items()
    }
    files = table.get("files", "")
    if isinstance(files, str) and "{split}" not in files and "hub" not in table:
        columns.setdefault(SPLIT, SPLIT)  # one file for all splits
    labels = table.get("labels", ())
    units = table.get("units")
    if units is not None and "column" not in units:
        raise DataError("missing column", where=f"{where} [units]", fix='Write column = "id", for instance')
    declaration = {key: table.get(key) for key in ("columns", "labels", "splits", "units", "codes", "hub", "revision")}
    return TableFormat(
        syntax=syntax,
        columns=columns,
        values={str(value): label for value, label in labels.items()} if isinstance(labels, dict) else {},
        splits={str(name).lower(): split for name, split in table.get("splits", {}).items()},
        numbered=None if units is None else NumberedUnits(**units),
        hub=_hub(table, home, where),
        key=_key(syntax, declaration) if is_checked else "",
    )


def _key(syntax: TableSyntax, declaration: Mapping[str, Any]) -> str:
    """Return a checksum of the keys that decide how files are read."""
    from hashlib import sha256

    return sha256(json.dumps([vars(syntax), declaration], sort_keys=True, default=str).encode()).hexdigest()[:16]


def _hub(table: Mapping[str, Any], home: Path, where: str) -> HubDataset | None:
    if "hub" not in table:
        for key in ("revision", "config"):
            if key in table:
                raise DataError(f"{key} without hub", where=where, fix='Write hub = "owner/name"')
        return None
    name, revision = table["hub"], table.get("revision", "")
    if name.startswith((".", "/", "~")):
        return HubDataset(
            name=str((home / Path(name).expanduser()).resolve()), revision="", config=table.get("config", "")
        )
    if not revision:
        fix = 'Write revision = "…", the commit of the dataset, so that scores stay comparable'
        raise DataError("missing revision of the hub dataset", where=where, fix=fix)
    return HubDataset(name=name, revision=revision, config=table.get("config", ""))


def _patterns(table: Mapping[str, Any], where: str) -> dict[str, str]:
    """Return path patterns by split, or names of splits of a hub dataset."""
    files = table.get("files", _HUB_SPLITS if "hub" in table else "")
    if isinstance(files, str):
        files = dict.fromkeys(SPLITS, files) if files else {}
    if not files:
        raise DataError("missing files", where=where, fix='Write files = "{language}/{split}.csv"')
    patterns: dict[str, str] = {}
    for split, pattern in files.items():
        if split not in SPLITS:
            raise unknown("split", split, SPLITS, where=f"{where} [files]")
        if not isinstance(pattern, str):
            raise DataError(f"{split} = {pattern!r:.80} is not a path", where=f"{where} [files]")
        for placeholder in _PLACEHOLDER.findall(pattern):
            if placeholder not in _PLACEHOLDERS:
                raise unknown("placeholder", placeholder, _PLACEHOLDERS, where=f"{where} [files]")
        if set(_PLACEHOLDER.sub("", pattern)) & set("{}"):
            raise DataError(f"unbalanced braces in {pattern!r:.80}", where=f"{where} [files]")
        patterns[split] = pattern.replace("{split}", split)
    return patterns


def _languages(table: Mapping[str, Any], where: str, key: str = "languages") -> dict[str, str]:
    """Return the languages as files spell them, by tag."""
    value = table.get(key, ())
    codes = {_tag(tag, where): str(code) for tag, code in table.get("codes", {}).items()}
    pairs = (
        [(tag, str(code)) for tag, code in value.items()]
        if isinstance(value, dict)
        else [(word, "") for word in _words(value)]
    )
    languages: dict[str, str] = {}
    for spelling, code in pairs:
        tag = _tag(spelling, where)
        if tag in languages:
            raise DataError(f"{key} has {tag} twice: {languages[tag]} and {spelling}", where=where)
        languages[tag] = code or codes.get(tag, spelling)
    return languages


def _tag(spelling: str, where: str) -> str:
    """Return the tag of a language; keep what the registry does not know, so that other languages can be used."""
    try:
        return language(spelling).code
    except UnknownNameError as error:
        if not _SAFE_TAG.fullmatch(spelling):
            error.where = where
            raise
        warn(f"{where}: {error}; it is kept as it is written", stacklevel=2)
        return spelling


def _found_languages(
    form: TableFormat, patterns: Mapping[str, str], folder: str, table: Mapping[str, Any], where: str
) -> tuple[dict[str, str], dict[str, str]]:
    """Find languages by the files present, or in their language column: those with a test or dev set, and others."""
    from isogloss.tasks.language_search import languages_in_files

    codes = {str(code): _tag(tag, where) for tag, code in table.get("codes", {}).items()}
    by_split = {
        split: languages_in_files(form, pattern, split, folder, codes=codes, where=where)
        for split, pattern in patterns.items()
    }
    tested = by_split.get("test") or by_split.get("dev") or {}
    others = {tag: code for split in by_split.values() for tag, code in split.items() if tag not in tested}
    if not tested:
        pattern = patterns.get("test") or next(iter(patterns.values()))
        what = f"no languages found: no file matches {pattern}"
        if not _PLACEHOLDER.search(pattern):
            what = f"no languages found: {pattern} is missing, or has no column for the language"
        fix = f'Put the files into {folder} or the data folder, or list the languages: languages = ["en", "sw"]'
        raise DataError(what, where=where, fix=fix)
    return tested, others


def _counts(value: Any, languages: Iterable[str], where: str) -> int | dict[str, int]:
    """Return a number of examples, or numbers by tag from a table or from `bm 619 ee 582`."""
    if isinstance(value, int) and not isinstance(value, bool):
        return value
    try:
        counts = counted(value) if isinstance(value, str) else {str(tag): int(count) for tag, count in value.items()}
    except (ValueError, TypeError, AttributeError):
        fix = 'Write test = 400, or test = "en 400 sw 380"'
        raise DataError(f"{value!r:.80} is not a number of examples", where=f"{where} [counts]", fix=fix) from None
    tags = {entry.code if (entry := known_language(tag)) else tag: count for tag, count in counts.items()}
    if wrong := next((tag for tag in tags if tag not in languages), ""):
        raise unknown("language of the task", wrong, languages, where=f"{where} [counts]")
    return tags


def _synonyms(table: Mapping[str, Any], labels: tuple[str, ...], where: str) -> dict[str, str]:
    """Return labels by other names, from lists of names by label."""
    names: dict[str, str] = {}
    for label, others in table.items():
        if label not in labels:
            raise unknown("label", label, labels, where=f"{where} [synonyms]")
        names |= dict.fromkeys([others] if isinstance(others, str) else others, label)
    return names


def _cluster_name(form: TableFormat) -> str:
    column = form.columns.get("cluster", "")
    return column if isinstance(column, str) else "cluster"
