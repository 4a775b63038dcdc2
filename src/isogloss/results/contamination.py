"""Records of contamination probes, which test if a language model knows the examples of a dataset by heart.

A record lies beside the runs of its system, in `contamination.json`. It is shown beside scores and never changes them.
"""

from pathlib import Path
from typing import Annotated, Any, Literal

import msgspec
from msgspec import Meta

from isogloss.data.files import read_bytes
from isogloss.decoding import decode_json
from isogloss.errors import DataError
from isogloss.escaping import NAME_LENGTH, printable
from isogloss.figures import difference_interval_text, difference_text
from isogloss.grouping import group_by
from isogloss.predictions.run_folders import FACTORS
from isogloss.reply_outcomes import Usage
from isogloss.version import __version__

CONTAMINATION_FILE = "contamination.json"
CONTAMINATION_SCHEMA = 1
# Smallest difference of overlaps that is called memory.
MARGIN = 0.05
LIMITS = (
    "a model that knows the examples in translation or paraphrase, or does not recite them, is not detected",
    "parallel test sets share sources: memory of one language may help in all of them",
)

Verdict = Literal["memorised", "no sign", "undecided"]
_Share = Annotated[float, Meta(ge=0, le=1)]
_Difference = Annotated[float, Meta(ge=-1, le=1)]
_Count = Annotated[int, Meta(ge=0, le=10**9)]
_Name = Annotated[str, Meta(max_length=NAME_LENGTH)]


class ContaminationFinding(msgspec.Struct, frozen=True, kw_only=True):
    """Result of a probe of one task in one language.

    Attributes:
        n: completions that were compared.
        sources: clusters of examples among them.
        skipped: examples passed over because they are too short, or because their cluster has most of the others.
        withheld: examples without a completion, because a content filter withheld it or it is empty.
        exact: completions that begin with the whole rest of the example.
        exact_control: completions that begin with the whole rest of another example.
        overlap: mean share of the rest's n-grams in the completion.
        control: the same with the rest of another example.
        difference: overlap less control.
        low, high: its 95 % interval, None with too few sources.
        verdict: `memorised` if the interval lies above the margin, `no sign` if below it, else `undecided`.
        usage: tokens of the replies and their cost, None if unknown.
    """

    task: _Name
    language: _Name
    split: _Name
    n: _Count
    sources: _Count
    skipped: _Count
    withheld: _Count
    exact: _Count
    exact_control: _Count
    overlap: _Share
    control: _Share
    difference: _Difference
    low: _Difference | None
    high: _Difference | None
    verdict: Verdict
    usage: Usage | None = None

    @property
    def difference_words(self) -> str:
        """Difference with its interval, in points."""
        if self.low is None or self.high is None:
            return difference_text(100 * self.difference)
        interval = difference_interval_text(100 * self.low, 100 * self.high)
        return f"{difference_text(100 * self.difference)} ({interval})"


class ContaminationRecord(msgspec.Struct, frozen=True, kw_only=True):
    """Results of the probes of one model, with everything that decides them."""

    model: str
    settings: dict[str, Any]
    findings: list[ContaminationFinding]
    margin: float = MARGIN
    isogloss: str = __version__
    schema_version: int = CONTAMINATION_SCHEMA

    @classmethod
    def read(cls, path: Path) -> "ContaminationRecord":
        """Read a record; raise a DataError if it is invalid or of a later version."""
        record: ContaminationRecord = decode_json(
            read_bytes(path), str(path), cls, what="a record of isogloss llm contamination"
        )
        if record.schema_version > CONTAMINATION_SCHEMA:
            what = f"schema version {record.schema_version}, this isogloss reads up to {CONTAMINATION_SCHEMA}"
            raise DataError(what, where=str(path), fix="Update isogloss")
        return record


def contamination_beside(path: Path) -> tuple[ContaminationFinding, ...]:
    """Return the findings recorded in a folder of runs, or in the one that a run's folder lies in; () without any."""
    while not (file := path / CONTAMINATION_FILE).is_file():
        if path.absolute().name.partition("-")[0] not in FACTORS:
            return ()
        path = path.absolute().parent
    return tuple(ContaminationRecord.read(file).findings)


def contamination_footnotes(findings: tuple[ContaminationFinding, ...]) -> tuple[tuple[str, str], ...]:
    """Return a note for every task with findings: the languages by verdict, those with signs of memory with figures."""
    notes = []
    for name, of_task in group_by(findings, lambda each: each.task).items():
        parts = []
        for verdict, same in sorted(group_by(of_task, lambda each: each.verdict).items()):
            languages = (
                f"{each.language} {each.difference_words}" if verdict == "memorised" else each.language for each in same
            )
            parts.append(f"{verdict} in {', '.join(languages)}")
        notes.append((printable(name), printable(f"test for memorised examples: {'; '.join(parts)}")))
    return tuple(notes)
