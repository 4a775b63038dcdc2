"""Metadata of a system: one definition for system.toml, submissions, pages and the documented table."""

import json
import tomllib
from datetime import date
from pathlib import Path

import jsonschema
import msgspec
import pytest

from board.server.made_board import METADATA
from isogloss.board.facts import system_facts
from isogloss.board.model import KINDS
from isogloss.results.metadata import known_facts, metadata_schema, read_metadata
from isogloss.results.system import SystemResult
from isogloss.training.regimes import REGIMES, regime

DOCS = Path(__file__).parents[2] / "docs"


def shown(**metadata: object) -> dict[str, object]:
    """Return the facts that a page shows for these metadata."""
    facts_shown = system_facts(SystemResult(name="m", metadata=metadata), "m", "m", complete=False, provenance=None)
    facts = msgspec.structs.asdict(facts_shown)
    hidden = ("id", "name", "regime")
    return {name: value for name, value in facts.items() if name not in hidden and value not in (None, "")}


def test_documented_examples_are_valid() -> None:
    """The documented submission is accepted, and every line of the documented system.toml is understood."""
    blocks = (DOCS / "board-server.md").read_text(encoding="utf-8").split("```toml\n")[1:]
    _, problems = read_metadata(tomllib.loads(blocks[0].split("```")[0]))
    assert problems == []
    example = tomllib.loads((DOCS / "board.md").read_text(encoding="utf-8").split("```toml\n")[1].split("```")[0])
    assert set(example) - {"contamination"} <= set(known_facts(example))


def test_a_submission_and_a_system_toml_give_the_same_facts() -> None:
    metadata = METADATA | {"date": "2020-04-08", "notes": ["n"], "open_weights": True, "pretraining_data": "2.5 TB"}
    read, problems = read_metadata(metadata)
    assert problems == []
    assert shown(**metadata) == shown(**msgspec.to_builtins(read))
    assert shown(**metadata)["parameters"] == 270_000_000
    assert shown(**metadata)["pretraining_data"] == "6,000,000,000 tokens; 2.5 TB"
    assert "parameters_active" not in shown(**metadata)
    assert "contact" not in known_facts(metadata)


@pytest.mark.parametrize(
    ("name", "written", "read"),
    [
        ("parameters", 559, 559_000_000),
        ("parameters", 559.9, 559_900_000),
        ("parameters", 559_890_432, None),
        ("date", date(2020, 4, 8), "2020-04-08"),
        ("date", "2020-04-08T10:00:00Z", "2020-04-08"),
        ("date", "April", None),
        ("notes", "one", ["one"]),
        ("notes", ["one", 2, None], ["one", "2"]),
        ("parallel_data", False, False),
        ("parallel_data", "no", False),
        ("parallel_data", "none", False),
        ("parallel_data", True, True),
        ("parallel_data", "69 GB", "69 GB"),
        ("parallel_tokens", 0, None),
        ("translated_data", "yes", True),
        ("translated_data", "not disclosed", None),
        ("contamination", "none", None),
        ("contamination", "saw XNLI", "saw XNLI"),
        ("year", 2020.0, 2020),
        ("year", "soon", None),
        ("license", "MIT", None),
        ("unparsed", 1.5, None),
        ("cost", float("nan"), None),
    ],
)
def test_files_of_older_versions_are_read_as_before(name: str, written: object, read: object) -> None:
    assert shown(**{name: written}).get(name) == read


def test_other_spellings() -> None:
    assert shown(license="MIT")["licence"] == "MIT"
    assert shown(parallel_tokens=0)["parallel_data"] is False
    assert shown(parallel_tokens=5_000, parallel_data=True)["parallel_data"] == "5,000 tokens"


def test_a_count_of_parameters_is_refused_with_the_millions_to_write() -> None:
    _, [problem] = read_metadata(METADATA | {"parameters": 559_890_432})
    assert problem.what == "is in millions: write 559.89"


def test_whole_numbers_may_be_written_as_fractions() -> None:
    metadata, problems = read_metadata(METADATA | {"pretraining_tokens": 20.0})
    assert metadata is not None
    assert (repr(metadata["pretraining_tokens"]), problems) == ("20", [])


@pytest.mark.parametrize("digits", [400, 5000])
def test_huge_numbers_are_refused(digits: int) -> None:
    _, [problem] = read_metadata(METADATA | {"parameters": 10**digits})
    assert problem.what == "cannot be so large a number"


def test_every_problem_is_listed() -> None:
    metadata = {
        **METADATA,
        "name": " ",
        "year": -3,
        "notes": [""],
        "parallel_data": 3,
        "size": 1,
        "decoding": "x" * 700,
    }
    del metadata["paper"]
    _, problems = read_metadata(metadata)
    assert {problem.where: problem.what for problem in problems} == {
        "metadata.size": "is not a field of a submission",
        "metadata.name": "is blank: enter the name to show on the board",
        "metadata.year": "cannot be -3",
        "metadata.notes": 'is blank: write "not disclosed" if unknown',
        "metadata.parallel_data": "cannot be 3",
        "metadata.paper": "is missing",
        "metadata.decoding": "cannot be a text of 700 characters",
    }
    assert read_metadata([1])[1][0].where == "metadata"


def test_the_schema_is_the_definition() -> None:
    schema = metadata_schema()
    jsonschema.validate(METADATA, schema)
    for name, value in {"year": 3, "size": 1, "url": "javascript:x", "parameters": True, "notes": "x"}.items():
        _, problems = read_metadata(METADATA | {name: value})
        assert len(problems) == 1
        with pytest.raises(jsonschema.ValidationError):
            jsonschema.validate(METADATA | {name: value}, schema)
    assert tuple(schema["properties"]["kind"]["enum"]) == tuple(sorted(KINDS))
    json.dumps(schema)


def test_the_regimes_of_runs_can_be_submitted() -> None:
    for name in [*REGIMES, regime("in-language-500").name, regime("multi-source:en,de").name]:
        assert read_metadata(METADATA | {"regime": name})[1] == []
