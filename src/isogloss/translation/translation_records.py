"""Records beside translated files: translator, aligner, and the counts of what was projected."""

from collections.abc import Mapping, Sequence
from pathlib import Path

import msgspec

from isogloss.data.files import atomic_write, unpacked_name
from isogloss.decoding import decode_json
from isogloss.translation.projection import LOST, steps_text


class SpanAgreement(msgspec.Struct, frozen=True, kw_only=True):
    """Agreement of projected answers with the spans that a stored translation has for them.

    Attributes:
        spans: number of answers with a stored span.
        equal: those projected to exactly this span.
        overlapping: those that share at least half of their letters with it (F1), the equal ones included.
    """

    spans: int = 0
    equal: int = 0
    overlapping: int = 0


class TranslationRecord(msgspec.Struct, frozen=True, kw_only=True):
    """Record of a translated file.

    Attributes:
        task: id of the task.
        language: the language other than English.
        split: "train", "dev", "test", "pseudo" or "pseudo-dev".
        translator: name of the translator, "" for a function.
        version: its version.
        aligner: name of the aligner, "" if nothing moves with the texts.
        markers: True if texts were translated once more with markers.
        checksum: SHA-256 of the translated file.
        originals: SHA-256 of the ids and texts that were translated.
        examples: number of examples in the file.
        unit: what was projected: "answers", "entities" or "words"; "" if nothing moves with the texts.
        total: number of these units.
        steps: their number by the step that found them.
        lost_share: share of units that were lost.
        dropped: number of examples that lose their gold.
        agreement: agreement with the stored spans by step, if the translation has spans of its own.
    """

    task: str
    language: str
    split: str
    translator: str = ""
    version: str = ""
    aligner: str = ""
    markers: bool = False
    checksum: str = ""
    originals: str = ""
    examples: int = 0
    unit: str = ""
    total: int = 0
    steps: dict[str, int] = {}
    lost_share: float = 0.0
    dropped: int = 0
    agreement: dict[str, SpanAgreement] = {}

    @property
    def notes(self) -> list[str]:
        """Counts of the projection in words, if anything was projected."""
        if not self.total:
            return []
        # A test set keeps all examples: those without translated gold are left out by translate-test-xtreme only.
        effect = "without translated gold" if self.split in ("test", "dev") else "dropped"
        dropped = [f"{self.dropped:,} of {self.examples:,} examples {effect}"] if self.dropped else []
        return [steps_text(self.steps, self.total, self.unit), *dropped, *agreement_notes(self.agreement)]

    def write(self, path: Path) -> None:
        """Write the record beside a translated file."""
        with atomic_write(record_path(path)) as stream:
            stream.write(msgspec.json.format(msgspec.json.encode(self), indent=1).decode() + "\n")


def record_path(path: Path) -> Path:
    """Return the path of the record beside a translated file."""
    return path.with_name(unpacked_name(path)).with_suffix(".record.json")


def read_record(path: Path) -> TranslationRecord | None:
    """Return the record beside a translated file, or None if it has none.

    Raises:
        DataError: the record is damaged.
    """
    beside = record_path(path)
    if not beside.exists():
        return None
    record: TranslationRecord = decode_json(beside.read_bytes(), str(beside), TranslationRecord, what="record")
    return record


def projection_notes(path: Path) -> list[str]:
    """Return the counts in the record beside a translated file in words, if it has any."""
    record = read_record(path)
    return [] if record is None else record.notes


def agreement_notes(agreement: Mapping[str, SpanAgreement]) -> list[str]:
    """Return the agreement with stored spans in words, over all steps."""
    total = sum(each.spans for each in agreement.values())
    if not total:
        return []
    equal, overlapping = (sum(getattr(each, name) for each in agreement.values()) for name in ("equal", "overlapping"))
    return [
        f"of {total:,} stored spans, projection finds {equal / total:.1%} exactly and {overlapping / total:.1%} by half"
    ]


def compared_spans(
    steps: Sequence[str], projected: Sequence[tuple[int, int] | None], stored: Sequence[tuple[int, int] | None]
) -> dict[str, SpanAgreement]:
    """Return the agreement of projected spans with stored ones by step; spans without a stored one do not count."""
    counts: dict[str, list[int]] = {}
    for step, one, other in zip(steps, projected, stored, strict=True):
        if other is None:
            continue
        row = counts.setdefault(step if one is not None else LOST, [0, 0, 0])
        shared = 0 if one is None else max(0, min(one[1], other[1]) - max(one[0], other[0]))
        sizes = other[1] - other[0] + (0 if one is None else one[1] - one[0])
        for index, counted in enumerate((True, one == other, 4 * shared >= sizes)):
            row[index] += counted
    return {step: SpanAgreement(spans=row[0], equal=row[1], overlapping=row[2]) for step, row in counts.items()}
