"""Defects of a task's files, in words."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from isogloss.notebooks import short_repr

# Defects by code: a heading, the sentence of one place, and advice. `{n}` is the number of examples with their share.
_TEXTS: Mapping[str, tuple[str, str, str]] = {
    "no-files": ("No files", "{detail}", "Add the files, or remove the language from the task file"),
    "unreadable-file": ("Unreadable files", "{detail}", ""),
    "wrong-count": (
        "Other counts than declared",
        "{detail}",
        "Complete the files, or correct `counts` in the task file",
    ),
    "no-gold": ("No gold", "the files have no gold", "Such a split can be predicted, but not scored"),
    "placeholder-gold": (
        "Placeholders instead of gold",
        "{detail}",
        "Such a split can be predicted, but not scored",
    ),
    "unseen-label": (
        "Labels that are not in the training set",
        "{n} with {detail}, absent from {other}",
        "No system can learn them from this training set",
    ),
    "missing-label": ("Labels without examples", "no example has {detail}", "Check the spelling of the label"),
    "duplicate": ("Duplicates", "{n} with the inputs of another", "Remove them: they count several times"),
    "conflict": (
        "Equal inputs with different gold",
        "{n} with the inputs of another, but different gold",
        "No system can answer all of them right",
    ),
    "split-overlap": (
        "Overlaps between splits",
        "{n} also in {other}",
        "Remove them from the training set: scores on them are too good",
    ),
    "language-overlap": (
        "Texts shared with another language",
        "{n} also in {other}",
        "Check whether they were left untranslated",
    ),
    "empty-text": ("Empty texts", "{n}", "Remove them: nothing can be answered"),
    "long-text": ("Very long texts", "{n}, up to {detail} characters", "Check for rows that ran together"),
    "replacement-character": (
        "Lost characters",
        "{n} with U+FFFD",
        "Convert the original files again",
    ),
    "mojibake": (
        "Wrongly decoded characters",
        "{n} with UTF-8 read as Latin-1, such as {detail}",
        "Convert the original files again",
    ),
    "control-character": (
        "Control characters",
        "{n} with {detail}",
        "Remove them: tokenizers treat them as words",
    ),
    "byte-order-mark": (
        "Byte-order marks",
        "{n} with U+FEFF within the text",
        "Invisible, but it changes tokens and offsets",
    ),
    "file-byte-order-mark": (
        "Files with a byte-order mark",
        "{detail}",
        "It is skipped here, but other programs read it as text",
    ),
    "mixed-normalization": (
        "Mixed Unicode normalization",
        "{n} not in NFC",
        "Normalize all texts to NFC: equal words look different to systems",
    ),
    "unexpected-script": (
        "Texts in another script than the language's",
        "{n} in {detail}",
        "Check the language of the files, or add the script to the tag, such as sr-Latn",
    ),
    "answer-not-in-context": (
        "Answers that are not in their context",
        "{n}",
        "Extractive systems cannot give them",
    ),
    "answer-offset": (
        "Offsets that do not point at the answer",
        "{n}",
        "Count code points, not bytes",
    ),
    "tag-count": ("Tags and tokens of different number", "{n}", "Give one per token"),
    "empty-token": ("Empty tokens", "{n}", "Remove it with its tag"),
    "invalid-iob": (
        "Entities that begin with I-",
        "{n} with I- after O or another type",
        "Write B- for the first token; the metric's dialect decides how it is scored",
    ),
    "choice-out-of-range": (
        "Gold that is not the index of a choice",
        "{n}",
        "Count the choices from 0",
    ),
    "equal-choices": ("Equal choices", "{n}", "Both are right, but one is scored"),
    "unit-mismatch": (
        "Parallel examples without counterpart",
        "{detail}",
        "Ids must be equal for translations and different otherwise",
    ),
    "gold-mismatch": (
        "Gold that differs between translations",
        "{n}",
        "Check the ids, or set parallel = false",
    ),
    "column-mismatch": (
        "Columns that differ between translations",
        "{n} in the column {detail}",
        "Check the column, which has the same few values in all languages",
    ),
    "small-split": ("Small test sets", "only {total} examples", "Intervals will be wide"),
    "reader-note": ("Notes of the reader", "{detail}", ""),
}


@dataclass(frozen=True, kw_only=True)
class Defect:
    """One defect of one language and split.

    Attributes:
        code: its name, such as "duplicate".
        error: True if the files cannot be scored as they are.
        language: tag, "" for the whole task.
        split: "" for all splits.
        count: number of examples concerned.
        total: number of examples in the split.
        other: split, language or training set that it is compared with.
        ids: some of the examples.
        detail: characters, labels or scripts concerned, or the message.
    """

    code: str
    error: bool = False
    language: str = ""
    split: str = ""
    count: int = 0
    total: int = 0
    other: str = ""
    ids: tuple[str, ...] = ()
    detail: str = ""

    __repr__ = short_repr

    @property
    def title(self) -> str:
        """Heading of the defects of this code; a plugin's kind may have codes of its own."""
        return _TEXTS[self.code][0] if self.code in _TEXTS else self.code.replace("-", " ").capitalize()

    @property
    def fix(self) -> str:
        """Advice, "" if there is none."""
        return _TEXTS[self.code][2] if self.code in _TEXTS else ""

    @property
    def where(self) -> str:
        """Language and split."""
        return " ".join(filter(None, (self.language, self.split)))

    @property
    def what(self) -> str:
        """The defect in words."""
        sentence = _TEXTS[self.code][1] if self.code in _TEXTS else "{n}: {detail}" if self.detail else "{n}"
        count = f"{self.count:,} of {self.total:,}" if self.total else f"{self.count:,}"
        share = f" ({100 * self.count / self.total:.1f} %)" if self.total else ""
        # Not str.format: texts of the data may have braces.
        values = {"{n}": count + share, "{other}": self.other, "{detail}": self.detail, "{total}": f"{self.total:,}"}
        for name, value in values.items():
            sentence = sentence.replace(name, value, 1)
        return sentence + (f": {', '.join(self.ids)}{', …' * (self.count > len(self.ids))}" if self.ids else "")

    def __str__(self) -> str:
        return ": ".join(filter(None, (self.where, f"{self.title[:1].lower()}{self.title[1:]}", self.what)))

    def record(self) -> dict[str, Any]:
        """Return the fields for JSON."""
        return {
            "code": self.code,
            "severity": "error" if self.error else "warning",
            "language": self.language,
            "split": self.split,
            "count": self.count,
            "total": self.total,
            "other": self.other,
            "ids": list(self.ids),
            "text": str(self),
            "fix": self.fix,
        }
