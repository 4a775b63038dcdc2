"""Metadata of a system: one definition for `system.toml`, submissions and the pages of a board.

A submission must set every field without a default, to "not disclosed" instead of a blank if unknown. In
`system.toml` all fields are optional, other keys are allowed, and invalid values count as not disclosed.
"""

from collections.abc import Iterator, Mapping
from datetime import date
from functools import cache
from pathlib import Path
from typing import Annotated, Any, Final, Literal

import msgspec
from msgspec import Meta

from isogloss.errors import DataError
from isogloss.escaping import FACT_LENGTH, NAME_LENGTH, printable
from isogloss.predictions.problems import Problem, ProblemCode

NOT_DISCLOSED: Final = "not disclosed"
# Shown only to the team.
PRIVATE = frozenset({"contact"})

# Synonyms of an empty field, and alternative spellings.
_UNKNOWN = frozenset({"", "unknown", NOT_DISCLOSED, "undisclosed", "none given", "n/a", "-", "?"})
_TRUTHS = {"yes": True, "true": True, "no": False, "false": False, "none": False}
_OTHER_NAMES = {"license": "licence"}
_MOST_NOTES = 20
# A larger value was probably not given in millions.
_TOO_MANY_MILLIONS = 10**7
# At least one visible character, for readers of the schema.
_VISIBLE = r"[^\s\x00-\x20\x7f-\xa0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000\ufeff]"
_HTTP = r"https?://[!#$%&()*+,\-./0-9:;=?@A-Z\[\]^_a-z{|}~]+"
_DATE = r"[0-9]{4}-(0[1-9]|1[0-2])-(0[1-9]|[12][0-9]|3[01])"
_REGIMES = (
    *("zero-shot", "translate-train", "translate-train-all", "translate-test", "translate-test-xtreme"),
    *("in-language", "in-language-all"),
)
_PROMPTED_REGIMES = (
    *("none", "none-native", "none-translate-test"),
    *("english", "english-native", "english-translate-test", "in-language-native"),
)
_OTHER_REGIMES = (*_PROMPTED_REGIMES, "prompted", "embedding", "other")
_REGIME = rf"^({'|'.join(_REGIMES + _OTHER_REGIMES)}|in-language-[1-9][0-9]{{0,8}}|multi-source(-[a-z]{{2,3}})+)$"


def _takes(words: str, **schema: Any) -> Meta:
    """Describe the accepted values, for the guide, the form and messages."""
    return Meta(extra_json_schema={"x-takes": words, **schema})


def _or_unknown(kind: Any, words: str) -> Any:
    return Annotated[kind | Literal["not disclosed"], _takes(f'{words}, or "{NOT_DISCLOSED}"')]


_WORDS = Annotated[str, Meta(max_length=FACT_LENGTH), _takes("text", pattern=_VISIBLE)]
_ADDRESS = Meta(pattern=rf"^({_HTTP}|{NOT_DISCLOSED})$", max_length=FACT_LENGTH)
_TYPES: dict[str, Any] = {
    "Name": Annotated[str, Meta(max_length=NAME_LENGTH), _takes(f"text, {NAME_LENGTH} characters", pattern=_VISIBLE)],
    "Words": _WORDS,
    "SystemKind": Annotated[
        Literal["encoder", "encoder-decoder", "llm", "retrieval", "floor", "other"],
        _takes("encoder, encoder-decoder, llm, retrieval, floor or other"),
    ],
    "RegimeName": Annotated[
        str,
        Meta(pattern=_REGIME),
        _takes(
            f"{', '.join(_REGIMES)}, in-language-<examples>, multi-source-<codes>, {', '.join(_OTHER_REGIMES)}",
            examples=[*_REGIMES, *_OTHER_REGIMES],
        ),
    ],
    "Millions": _or_unknown(Annotated[float, Meta(ge=0, lt=_TOO_MANY_MILLIONS)], "millions, e.g. 559.9"),
    "Count": _or_unknown(Annotated[int, Meta(ge=0, le=10**15)], "a whole number"),
    "Amount": _or_unknown(Annotated[float, Meta(ge=0, le=1e15)], "a number"),
    "Share": _or_unknown(Annotated[float, Meta(ge=0, le=1)], "a number from 0 to 1"),
    "Year": _or_unknown(Annotated[int, Meta(ge=1950, le=2200)], "a year from 1950 to 2200"),
    "Day": Annotated[
        str, Meta(pattern=rf"^({_DATE}|{NOT_DISCLOSED})$"), _takes(f'a date, 2026-11-16, or "{NOT_DISCLOSED}"')
    ],
    "Address": Annotated[str, _ADDRESS, _takes(f'https://…, or "{NOT_DISCLOSED}"')],
    "Truth": _or_unknown(bool, "true, false"),
    "TruthOrWords": Annotated[bool | _WORDS, _takes("false for none, true, or which and how much")],
    "Notes": Annotated[list[_WORDS], Meta(max_length=_MOST_NOTES), _takes(f"a list of texts, {_MOST_NOTES} at most")],
}


def _definition() -> type[msgspec.Struct]:
    """Return the metadata of a system as a type with the fields of `metadata.tsv`."""
    fields: list[Any] = []
    for line in Path(__file__).with_suffix(".tsv").read_text(encoding="utf-8").splitlines()[1:]:
        name, kind, required, description = line.split("\t")
        field = name, Annotated[_TYPES[kind], Meta(description=description)]
        default = [] if name == "notes" else NOT_DISCLOSED
        fields.append(field if required == "yes" else (*field, default))
    doc = {"__doc__": "Metadata of a system."}
    return msgspec.defstruct("SystemMetadata", fields, namespace=doc, frozen=True, kw_only=True)


_DEFINITION = _definition()
FIELDS = {field.name: field for field in msgspec.structs.fields(_DEFINITION)}


@cache
def metadata_schema() -> dict[str, Any]:
    """Return the definition as a JSON schema."""
    _, components = msgspec.json.schema_components([_DEFINITION])
    return {**components["SystemMetadata"], "additionalProperties": False}


def read_metadata(table: object) -> tuple[dict[str, Any] | None, list[Problem]]:
    """Read the metadata of a submission from a table in TOML or JSON; return None and all problems if invalid."""
    if not isinstance(table, Mapping):
        what, fix = "expected a table of names and values", "Send the metadata as one JSON object"
        return None, [Problem(code=ProblemCode.INVALID_METADATA, file="metadata", detail=what, advice=fix)]
    problems = [
        _problem(str(name), "is not a field of a submission", f"Fields: {', '.join(FIELDS)}")
        for name in table
        if name not in FIELDS
    ]
    values = {}
    for name, field in FIELDS.items():
        try:
            if name in table:
                value = table[name]
                values[name] = _checked(name, value.isoformat() if isinstance(value, date) else value)
            elif field.required:
                raise DataError("is missing")
        except DataError as error:
            schema = metadata_schema()["properties"][name]
            problems.append(_problem(name, error.what, f"{schema['description']} ({schema['x-takes']})"))
    return (None, problems) if problems else (msgspec.structs.asdict(_DEFINITION(**values)), [])


def _problem(name: str, what: str, fix: str) -> Problem:
    file = printable(f"metadata.{name}", NAME_LENGTH)
    return Problem(code=ProblemCode.INVALID_METADATA, file=file, detail=what, advice=fix)


def _checked(name: str, value: object) -> Any:
    """Return a valid value with cleaned text; raise DataError if it is invalid or blank."""
    # JSON does not tell 20.0 from 20.
    whole = int(value) if isinstance(value, float) and value.is_integer() else value
    try:
        converted = msgspec.convert(whole, FIELDS[name].type)
    except (msgspec.ValidationError, UnicodeEncodeError, RecursionError, OverflowError):
        raise DataError(_refusal(name, value)) from None
    items = converted if isinstance(converted, list) else [converted]
    cleaned = [printable(item).strip() if isinstance(item, str) else item for item in items]
    if "" in cleaned:
        words = f'write "{NOT_DISCLOSED}" if unknown'
        raise DataError(f"is blank: {'enter the name to show on the board' if name == 'name' else words}")
    return cleaned if isinstance(converted, list) else cleaned[0]


def _refusal(name: str, value: object) -> str:
    if isinstance(value, str) and not value.strip():
        return "is blank"
    if isinstance(value, str) and len(value) > NAME_LENGTH:
        return f"cannot be a text of {len(value):,} characters"
    if isinstance(value, int) and abs(value) > 10**18:
        return "cannot be so large a number"
    if name.startswith("parameters") and isinstance(value, int) and value >= _TOO_MANY_MILLIONS:
        return f"is in millions: write {value / 1e6:g}"
    shown = value if isinstance(value, str | int | float) else type(value).__name__
    return f"cannot be {printable(str(shown), NAME_LENGTH)}"


def known_facts(metadata: Mapping[str, Any]) -> dict[str, Any]:
    """Return the valid fields of any metadata, without private or undisclosed ones."""
    facts = {}
    for name, value in public_metadata(metadata).items():
        field = _OTHER_NAMES.get(name, name)
        for read in _readings(field, value) if field in FIELDS else ():
            try:
                facts[field] = _checked(field, read)
                break
            except DataError:
                continue
    return {name: value for name, value in facts.items() if str(value).lower() not in _UNKNOWN and value != []}


def _readings(name: str, value: object) -> Iterator[object]:
    """Yield a value and its common variants: yes and no, numbers as text, one note as a list."""
    text = printable(str(value), FACT_LENGTH).strip()
    types = str(FIELDS[name].type)
    if "bool" in types and text.lower() in _TRUTHS:
        yield _TRUTHS[text.lower()]
    if name == "notes":
        items = value if isinstance(value, list) else [value]
        yield [words for item in items[:_MOST_NOTES] if (words := _in_words(item))]
    elif name == "date":
        yield text[:10]
    else:
        yield value
        yield _in_words(value)


def _in_words(value: object) -> str:
    if not isinstance(value, str | int | float) or isinstance(value, bool):
        return ""
    text = printable(str(value), FACT_LENGTH).strip()
    return "" if text.lower() in _UNKNOWN else text


def unparsed_share(metadata: Mapping[str, Any], task: str, code: str) -> float | None:
    """Return the share of unparsed answers that metadata give for a cell (`task/language`) or its task, or None."""
    shares = metadata.get("unparsed")
    share = shares.get(f"{task}/{code}", shares.get(task)) if isinstance(shares, Mapping) else None
    valid: float | None = known_facts({"unparsed": share}).get("unparsed")
    return valid


def public_metadata(metadata: Mapping[str, Any]) -> dict[str, Any]:
    """Return the public part of metadata."""
    return {name: value for name, value in metadata.items() if name not in PRIVATE}
