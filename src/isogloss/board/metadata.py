"""What is said of a system: one definition for `system.toml`, submissions to a server, and the pages of a board.

A submission must give every field without a default, and says "not disclosed" where nothing is said, never a blank. In
`system.toml` all of them may be left out, other keys may stand beside them, and what cannot be read is not disclosed.
"""

from collections.abc import Iterator, Mapping
from datetime import date
from functools import cache
from typing import Annotated, Any, Final, Literal

import msgspec
from msgspec import Meta

from isogloss.errors import DataError
from isogloss.escaping import FACT_LENGTH, NAME_LENGTH, printable
from isogloss.predictions.problems import Problem

NOT_DISCLOSED: Final = "not disclosed"
# Shown on no page and in no answer but to the team itself.
PRIVATE = frozenset({"contact"})

# Words that say no more than an empty field, and words of other spellings.
_UNKNOWN = frozenset({"", "unknown", NOT_DISCLOSED, "undisclosed", "none given", "n/a", "-", "?"})
_TRUTHS = {"yes": True, "true": True, "no": False, "false": False, "none": False}
_OTHER_NAMES = {"license": "licence"}
_MOST_NOTES = 20
# No model has so many millions of parameters: they were counted one by one.
_TOO_MANY_MILLIONS = 10**7
_OR_UNKNOWN = f'or "{NOT_DISCLOSED}"'
# For those who read the schema: something in it can be seen.
_VISIBLE = r"[^\s\x00-\x20\x7f-\xa0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000\ufeff]"
_HTTP = r"https?://[!#$%&()*+,\-./0-9:;=?@A-Z\[\]^_a-z{|}~]+"
_DATE = r"[0-9]{4}-(0[1-9]|1[0-2])-(0[1-9]|[12][0-9]|3[01])"
_REGIMES = ("zero-shot", "translate-train", "translate-train-all", "translate-test", "in-language", "in-language-all")
_OTHER_REGIMES = ("prompted", "embedding", "other")
_REGIME = rf"^({'|'.join(_REGIMES + _OTHER_REGIMES)}|in-language-[1-9][0-9]{{0,8}}|multi-source(-[a-z]{{2,3}})+)$"


def _takes(words: str, **schema: Any) -> Meta:
    """What a type takes, in words that people read in the guide, in the form and in messages."""
    return Meta(extra_json_schema={"x-takes": words, **schema})


def _says(description: str) -> Meta:
    return Meta(description=description)


NotDisclosed = Literal["not disclosed"]
Name = Annotated[str, Meta(max_length=NAME_LENGTH), _takes(f"text, {NAME_LENGTH} characters", pattern=_VISIBLE)]
Words = Annotated[str, Meta(max_length=FACT_LENGTH), _takes("text", pattern=_VISIBLE)]
SystemKind = Annotated[
    Literal["encoder", "llm", "retrieval", "floor", "other"], _takes("encoder, llm, retrieval, floor or other")
]
RegimeName = Annotated[
    str,
    Meta(pattern=_REGIME),
    _takes(
        f"{', '.join(_REGIMES)}, in-language-<examples>, multi-source-<codes>, {', '.join(_OTHER_REGIMES)}",
        examples=[*_REGIMES, *_OTHER_REGIMES],
    ),
]
Millions = Annotated[
    Annotated[float, Meta(ge=0, lt=_TOO_MANY_MILLIONS)] | NotDisclosed, _takes(f"millions, e.g. 559.9, {_OR_UNKNOWN}")
]
Count = Annotated[Annotated[int, Meta(ge=0, le=10**15)] | NotDisclosed, _takes(f"a whole number, {_OR_UNKNOWN}")]
Amount = Annotated[Annotated[float, Meta(ge=0, le=1e15)] | NotDisclosed, _takes(f"a number, {_OR_UNKNOWN}")]
Share = Annotated[Annotated[float, Meta(ge=0, le=1)] | NotDisclosed, _takes(f"a number from 0 to 1, {_OR_UNKNOWN}")]
Year = Annotated[
    Annotated[int, Meta(ge=1950, le=2200)] | NotDisclosed, _takes(f"a year from 1950 to 2200, {_OR_UNKNOWN}")
]
Day = Annotated[str, Meta(pattern=rf"^({_DATE}|{NOT_DISCLOSED})$"), _takes(f"a date, 2026-11-16, {_OR_UNKNOWN}")]
Address = Annotated[
    str,
    Meta(pattern=rf"^({_HTTP}|{NOT_DISCLOSED})$", max_length=FACT_LENGTH),
    _takes(f"https://…, {_OR_UNKNOWN}"),
]
Truth = Annotated[bool | NotDisclosed, _takes(f"true, false, {_OR_UNKNOWN}")]
TruthOrWords = Annotated[bool | Words, _takes("false for none, true, or which and how much in words")]
Notes = Annotated[
    Annotated[list[Words], Meta(max_length=_MOST_NOTES)], _takes(f"a list of texts, {_MOST_NOTES} at most")
]


class SystemMetadata(msgspec.Struct, frozen=True, kw_only=True):
    """What is known of a system."""

    name: Annotated[Name, _says("The system's name, as it should stand on the board")]
    kind: Annotated[SystemKind, _says("What sort of system it is")]
    regime: Annotated[RegimeName, _says("The transfer setting")]
    parameters: Annotated[Millions, _says("Parameters in all")]
    parameters_active: Annotated[Millions, _says("Parameters that one token uses")]
    pretraining_tokens: Annotated[Count, _says("Monolingual pre-training data, in tokens seen")]
    parallel_data: Annotated[TruthOrWords, _says("Parallel pre-training data")]
    translated_data: Annotated[TruthOrWords, _says("Machine-translated data used, in training or for the test")]
    fine_tuning_data: Annotated[Words, _says("Fine-tuning data: datasets, examples, languages")]
    paper: Annotated[Words, _says("The paper: a citation, or a link")]
    year: Annotated[Year, _says("Year of the system")]
    authors: Annotated[Words, _says('Authors, or "anonymous"')]
    contact: Annotated[Words, _says("How to reach you; shown to nobody")]

    date: Annotated[Day, _says("Day of the system")] = NOT_DISCLOSED
    pretraining_data: Annotated[Words, _says("Pre-training data in words: GB, pairs, languages")] = NOT_DISCLOSED
    parallel_tokens: Annotated[Count, _says("Parallel pre-training data, in tokens seen")] = NOT_DISCLOSED
    url: Annotated[Address, _says("Link to weights or a home page")] = NOT_DISCLOSED
    code: Annotated[Address, _says("Link to code")] = NOT_DISCLOSED
    open_weights: Annotated[Truth, _says("Whether the weights are open")] = NOT_DISCLOSED
    licence: Annotated[Words, _says("Licence of the weights")] = NOT_DISCLOSED
    contamination: Annotated[Words, _says('Test data seen in training: "none", or which and how')] = NOT_DISCLOSED
    base_model: Annotated[Words, _says("What it was adapted from")] = NOT_DISCLOSED
    revision: Annotated[Words, _says("Commit or checkpoint hash")] = NOT_DISCLOSED
    pretraining_languages: Annotated[Count, _says("Number of pre-training languages")] = NOT_DISCLOSED
    pretraining_language_list: Annotated[Words, _says("Codes of the pre-training languages")] = NOT_DISCLOSED
    tokenizer: Annotated[Words, _says("Type of tokenizer")] = NOT_DISCLOSED
    vocabulary_size: Annotated[Count, _says("Size of the vocabulary")] = NOT_DISCLOSED
    max_length: Annotated[Count, _says("Maximum length, in tokens")] = NOT_DISCLOSED
    hardware: Annotated[Words, _says("Hardware, and hours on it")] = NOT_DISCLOSED
    seeds: Annotated[Count, _says("Number of seeds behind the answers")] = NOT_DISCLOSED
    decoding: Annotated[Words, _says("Notes on prompts and decoding")] = NOT_DISCLOSED
    unparsed: Annotated[Share, _says("Share of answers that could not be read")] = NOT_DISCLOSED
    tokens: Annotated[Amount, _says("Tokens that the evaluation took")] = NOT_DISCLOSED
    cost: Annotated[Amount, _says("What the evaluation cost, in US dollars")] = NOT_DISCLOSED
    notes: Annotated[Notes, _says("Anything else that readers should know")] = []


FIELDS = {field.name: field for field in msgspec.structs.fields(SystemMetadata)}


@cache
def metadata_schema() -> dict[str, Any]:
    """The definition as a JSON schema."""
    _, components = msgspec.json.schema_components([SystemMetadata])
    return {**components["SystemMetadata"], "additionalProperties": False}


def what_it_takes(name: str) -> str:
    """What a field takes, in words."""
    return str(metadata_schema()["properties"][name]["x-takes"])


def read_metadata(given: object) -> tuple[SystemMetadata | None, list[Problem]]:
    """The metadata of a submission; None, with every problem, where they cannot be used.

    Args:
        given: a table, as a TOML or JSON file has it.
    """
    if not isinstance(given, Mapping):
        return None, [Problem("metadata", "are no table of names and values", "Metadata are one JSON object")]
    problems = [
        _problem(str(name), "is no field of a submission", f"Fields: {', '.join(FIELDS)}")
        for name in given
        if name not in FIELDS
    ]
    values = {}
    for name, field in FIELDS.items():
        try:
            if name in given:
                values[name] = _checked(name, _as_json(given[name]))
            elif field.required:
                raise DataError("is missing")
        except DataError as error:
            problems.append(_problem(name, error.what, f"{_description(name)} ({what_it_takes(name)})"))
    return (None, problems) if problems else (SystemMetadata(**values), [])


def _problem(name: str, what: str, fix: str) -> Problem:
    return Problem(printable(f"metadata.{name}", NAME_LENGTH), what, fix)


def _description(name: str) -> str:
    return str(metadata_schema()["properties"][name]["description"])


def _as_json(value: object) -> object:
    """A value of TOML in the types of JSON: dates are texts."""
    return value.isoformat() if isinstance(value, date) else value


def _checked(name: str, value: object) -> Any:
    """A value of a field, with its texts cleaned.

    Raises:
        DataError: the field does not take it, or it is blank.
    """
    try:
        found = msgspec.convert(value, FIELDS[name].type)
    except (msgspec.ValidationError, UnicodeEncodeError, RecursionError):
        raise DataError(_refusal(name, value)) from None
    items = found if isinstance(found, list) else [found]
    cleaned = [printable(each).strip() if isinstance(each, str) else each for each in items]
    if "" in cleaned:
        words = f'say "{NOT_DISCLOSED}" where you cannot tell'
        raise DataError(f"is blank: {'give the name that the board should show' if name == 'name' else words}")
    return cleaned if isinstance(found, list) else cleaned[0]


def _refusal(name: str, value: object) -> str:
    if isinstance(value, str) and not value.strip():
        return "is blank"
    if isinstance(value, str) and len(value) > NAME_LENGTH:
        return f"cannot be a text of {len(value):,} characters"
    if name.startswith("parameters") and isinstance(value, int) and value >= _TOO_MANY_MILLIONS:
        return f"is in millions: write {value / 1e6:g}"
    shown = value if isinstance(value, str | int | float) else type(value).__name__
    return f"cannot be {printable(str(shown), NAME_LENGTH)}"


def known_facts(given: Mapping[str, Any]) -> dict[str, Any]:
    """What metadata of any origin say in a form that is known, without what is private or was not disclosed."""
    facts = {}
    for name, value in public_metadata(given).items():
        field = _OTHER_NAMES.get(name, name)
        for read in _readings(field, value) if field in FIELDS else ():
            try:
                facts[field] = _checked(field, read)
                break
            except DataError:
                continue
    return {name: value for name, value in facts.items() if str(value).lower() not in _UNKNOWN and value != []}


def _readings(name: str, value: object) -> Iterator[object]:
    """A value as it is, and as people also write it: yes and no, numbers where words are asked, one note for a list."""
    text = printable(str(value), FACT_LENGTH).strip()
    types = str(FIELDS[name].type)
    if "bool" in types and text.lower() in _TRUTHS:
        yield _TRUTHS[text.lower()]
    if isinstance(value, float) and value.is_integer():
        yield int(value)
    if name == "notes":
        items = value if isinstance(value, list) else [value]
        yield [words for each in items[:_MOST_NOTES] if (words := _in_words(each))]
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


def public_metadata(metadata: Mapping[str, Any]) -> dict[str, Any]:
    """The part of the metadata that everybody may see."""
    return {name: value for name, value in metadata.items() if name not in PRIVATE}
