"""What a submission must say of its system: typed, and "not disclosed" where nothing is said, never a blank."""

import re
from typing import Annotated, Any, Final, Literal

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, StringConstraints, ValidationError

from isogloss.escaping import FACT_LENGTH, NAME_LENGTH, printable
from isogloss.predictions.problems import Problem

NOT_DISCLOSED: Final = "not disclosed"

# Shown on no page and in no answer but to the team itself.
PRIVATE = frozenset({"contact"})

_LARGEST = 10**15
_HTTP = r"^https?://[!#$%&()*+,\-./0-9:;=?@A-Z\[\]^_a-z{|}~]+$"


def _clean(text: str) -> str:
    cleaned = printable(text).strip()
    if not cleaned:
        raise ValueError(f'is blank: say "{NOT_DISCLOSED}" where you cannot tell')
    return cleaned


def _web_address(text: str) -> str:
    if not re.search(_HTTP, text):
        raise ValueError("is no web address: https://…")
    return text


NotDisclosed = Literal["not disclosed"]
# For those who read the schema, what the functions see to.
_VISIBLE = r"[^\s\x00-\x20\x7f-\xa0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000\ufeff]"
_NOT_BLANK = Field(json_schema_extra={"pattern": _VISIBLE})
Fact = Annotated[str, StringConstraints(max_length=FACT_LENGTH), AfterValidator(_clean), _NOT_BLANK]
WebAddress = Annotated[Fact, AfterValidator(_web_address), Field(json_schema_extra={"pattern": _HTTP})]
Count = Annotated[int, Field(ge=0, le=_LARGEST)]


class SystemMetadata(BaseModel):
    """What is known of a submitted system. Fields without a default must be given."""

    model_config = ConfigDict(extra="forbid", strict=True)

    name: Annotated[str, StringConstraints(max_length=NAME_LENGTH), AfterValidator(_clean), _NOT_BLANK] = Field(
        description="The system's name, as it should stand on the board"
    )
    kind: Literal["encoder", "llm", "retrieval", "floor", "other"] = Field(description="What sort of system it is")
    regime: Literal[
        "zero-shot",
        "translate-train",
        "translate-train-all",
        "translate-test",
        "in-language",
        "in-language-all",
        "prompted",
        "embedding",
        "other",
    ] = Field(description="The transfer setting")
    parameters: Count | NotDisclosed = Field(description="Number of parameters, in all")
    parameters_active: Count | NotDisclosed = Field(description="Number of parameters active for a token")
    pretraining_data: Count | NotDisclosed = Field(description="Monolingual pre-training data, in tokens seen")
    parallel_data: Count | NotDisclosed = Field(description="Parallel pre-training data, in tokens seen; 0 for none")
    fine_tuning_data: Fact = Field(description="Fine-tuning data: datasets, examples, languages")
    translated_data: Literal["none", "translate-train", "translate-test", "both", "not disclosed"] = Field(
        description="Machine-translated data used"
    )
    paper: WebAddress | NotDisclosed = Field(description="Link to the paper")
    year: Annotated[int, Field(ge=1950, le=2200)] | NotDisclosed = Field(description="Year of the system")
    authors: Fact = Field(description='Authors, or "anonymous"')
    contact: Fact = Field(description="How to reach you; not shown")

    pretraining_data_reported: Fact = Field(NOT_DISCLOSED, description="Pre-training data as you report it: pairs, GB")
    parallel_data_reported: Fact = Field(NOT_DISCLOSED, description="Parallel data as you report it: pairs, GB")
    translated_data_source: Fact = Field(NOT_DISCLOSED, description="Source and size of the translated data")
    base_model: Fact = Field(NOT_DISCLOSED, description="What it was adapted from")
    pretraining_languages: Annotated[int, Field(ge=0, le=10_000)] | NotDisclosed = Field(
        NOT_DISCLOSED, description="Number of pre-training languages"
    )
    pretraining_language_list: Fact = Field(NOT_DISCLOSED, description="Codes of the pre-training languages")
    tokenizer: Fact = Field(NOT_DISCLOSED, description="Type of tokenizer")
    vocabulary_size: Count | NotDisclosed = Field(NOT_DISCLOSED, description="Size of the vocabulary")
    max_length: Count | NotDisclosed = Field(NOT_DISCLOSED, description="Maximum length, in tokens")
    licence: Fact = Field(NOT_DISCLOSED, description="Licence of the weights")
    open_weights: bool | NotDisclosed = Field(NOT_DISCLOSED, description="Whether the weights are open")
    url: WebAddress | NotDisclosed = Field(NOT_DISCLOSED, description="Link to weights or a home page")
    code: WebAddress | NotDisclosed = Field(NOT_DISCLOSED, description="Link to code")
    hardware: Fact = Field(NOT_DISCLOSED, description="Hardware, and hours on it")
    contamination: Fact = Field(
        NOT_DISCLOSED, description='Use of evaluation data in training: "none", or which of it and how'
    )
    seeds: Annotated[int, Field(ge=1, le=10_000)] | NotDisclosed = Field(
        NOT_DISCLOSED, description="Number of seeds behind the answers"
    )
    decoding: Fact = Field(NOT_DISCLOSED, description="Notes on prompts and decoding")
    revision: Fact = Field(NOT_DISCLOSED, description="Commit or checkpoint hash")


def read_metadata(raw: bytes | str) -> tuple[SystemMetadata | None, list[Problem]]:
    """The metadata in a JSON text; None, with every problem, where they cannot be used."""
    try:
        return SystemMetadata.model_validate_json(raw), []
    except ValidationError as error:
        return None, _problems(error)


def _problems(error: ValidationError) -> list[Problem]:
    """One problem a field, in words that do not depend on how many types it could have had."""
    first: dict[str, Any] = {}
    for each in error.errors(include_url=False, include_context=False, include_input=False):
        first.setdefault(str(each["loc"][0]) if each["loc"] else "", each)
    return [_problem(name, each) for name, each in first.items()]


def _problem(name: str, error: Any) -> Problem:
    where = printable(f"metadata.{name}" if name else "metadata", NAME_LENGTH)
    field = SystemMetadata.model_fields.get(name)
    if error["type"] == "missing":
        what = "is missing"
    elif error["type"] == "extra_forbidden":
        return Problem(where, "is no field of a submission", f"Fields: {', '.join(SystemMetadata.model_fields)}")
    else:
        what = printable(str(error["msg"]).removeprefix("Value error, "), FACT_LENGTH)
    if field is None:
        return Problem(where, what, "Metadata are one JSON object")
    return Problem(where, what, f'{field.description}; "{NOT_DISCLOSED}" where the field takes it')


def public_metadata(metadata: dict[str, Any]) -> dict[str, Any]:
    """The part of the metadata that everybody may see."""
    return {name: value for name, value in metadata.items() if name not in PRIVATE}


def page_facts(metadata: dict[str, Any]) -> dict[str, Any]:
    """Public metadata in the words of the board's pages: what was not disclosed is left out, sizes are in millions."""
    known = {name: value for name, value in public_metadata(metadata).items() if value != NOT_DISCLOSED}
    for name in ("parameters", "parameters_active"):
        if name in known:
            known[name] /= 1_000_000
    for name in ("pretraining_data", "parallel_data"):
        parts = [f"{known[name]:,} tokens"] if name in known else []
        parts += [known[f"{name}_reported"]] if f"{name}_reported" in known else []
        if parts:
            known[name] = False if known.get(name) == 0 else "; ".join(parts)
    for name in ("translated_data", "contamination"):
        if str(known.get(name)).lower() == "none":
            known[name] = False if name == "translated_data" else ""
    return known
