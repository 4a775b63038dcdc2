"""Signs that a submission probes the labels, for the administrator: near-constant answers and the like.

The checks see the answers but never the labels, so that their outcome tells nothing about the labels either. They are
alarms, not barriers: a careful attacker avoids them, and only the budgets limit what can be learned.
"""

import base64
import hashlib
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field

import msgspec
import numpy as np
import numpy.typing as npt

from isogloss.scoring.cells import Answered
from isogloss.tasks.kinds import kind_of

# Share of one label in a cell above which answers are near-constant, and the smallest cell that is checked.
_CONSTANT = 0.95
_FEWEST = 20
# Answers of a language are unrelated to those of the others below this agreement beyond chance (Cohen's kappa), and
# suspicious if so in this share of at least five languages.
_UNRELATED = 0.1
_MOST_UNRELATED = 0.5
_LANGUAGES = 5
# Share of answers below which a change to a task is small.
_FEW = 0.03
# Answers per cell in a sketch.
_SAMPLED = 64


class ProbeFlag(msgspec.Struct, frozen=True):
    """Reason to suspect a probe."""

    code: str
    detail: str


@dataclass
class AnswerTrace:
    """Traces of the answers of a submission, collected while it is judged.

    Attributes:
        digests: digest of all answers by cell, `task/language`.
        sketches: digest and a sample of hashed answers by cell, to compare submissions.
        labels: answer by unit of each language, by task; only for tasks with labels or options.
    """

    digests: dict[str, str] = field(default_factory=dict)
    sketches: dict[str, str] = field(default_factory=dict)
    labels: dict[str, dict[str, list[tuple[str, str]]]] = field(default_factory=dict)

    def observe(self, answered: Answered) -> None:
        """Add a judged cell."""
        cell, values = answered.cell, answered.values
        name = f"{cell.task}/{cell.language}"
        hashes = [
            hashlib.blake2b(f"{identifier}\0{value!r}".encode("utf-8", "surrogatepass"), digest_size=8).digest()
            for identifier, value in zip(answered.examples.ids, values, strict=True)
        ]
        digest = hashlib.blake2b(b"".join(hashes), digest_size=16).hexdigest()
        step = max(1, -(-len(hashes) // _SAMPLED))
        sample = bytes(each[0] for each in hashes[::step])
        self.digests[name] = digest
        self.sketches[name] = f"{digest}:{base64.b64encode(sample).decode()}"
        if kind_of(answered.task).form in ("label", "option"):
            units = cell.units or [f"{cell.language}/{row}" for row in range(cell.n)]
            pairs = [(unit, str(value)) for unit, value in zip(units, values, strict=True)]
            self.labels.setdefault(cell.task, {})[cell.language] = pairs

    def flags(self, earlier: Mapping[str, Mapping[str, str]]) -> list[ProbeFlag]:
        """Return the signs of a probe; `earlier` has the sketches of the team's other submissions by key."""
        flags = [
            flag
            for task, by_language in self.labels.items()
            for flag in (*_constant(task, by_language), *_unrelated(task, by_language))
        ]
        return [*flags, *(flag for key, sketches in earlier.items() for flag in self._few_changes(key, sketches))]

    def _few_changes(self, key: str, sketches: Mapping[str, str]) -> list[ProbeFlag]:
        by_task: dict[str, list[str]] = {}
        for name in self.sketches.keys() & sketches.keys():
            by_task.setdefault(name.rpartition("/")[0], []).append(name)
        flags = []
        for task, names in sorted(by_task.items()):
            pairs = [(self.sketches[name], sketches[name]) for name in names]
            if all(one == other for one, other in pairs):
                continue
            samples = [[base64.b64decode(text.partition(":")[2]) for text in pair] for pair in pairs]
            differ = sum(first != second for one, other in samples for first, second in zip(one, other, strict=False))
            share = differ / max(1, sum(len(one) for one, _ in samples))
            if share < _FEW:
                detail = f"{task}: about {share:.1%} of the answers differ from submission {key}"
                flags.append(ProbeFlag("few-changes", detail))
        return flags


def _constant(task: str, by_language: Mapping[str, list[tuple[str, str]]]) -> list[ProbeFlag]:
    flags = []
    for language, pairs in by_language.items():
        [(label, count)] = Counter(label for _, label in pairs).most_common(1)
        if len(pairs) >= _FEWEST and count > _CONSTANT * len(pairs):
            detail = f"{task}/{language}: {count / len(pairs):.1%} of the answers are {label}"
            flags.append(ProbeFlag("near-constant", detail))
    return flags


def _unrelated(task: str, by_language: Mapping[str, list[tuple[str, str]]]) -> list[ProbeFlag]:
    """Flag tasks in which the answers of many languages are unrelated to the most frequent answer of the others."""
    if len(by_language) < _LANGUAGES:
        return []
    pairs_in_all = [pair for pairs in by_language.values() for pair in pairs]
    labels = {label: code for code, label in enumerate(dict.fromkeys(label for _, label in pairs_in_all))}
    units = {unit: row for row, unit in enumerate(dict.fromkeys(unit for unit, _ in pairs_in_all))}
    codes = np.full((len(units), len(by_language)), -1)
    for column, pairs in enumerate(by_language.values()):
        for unit, label in pairs:
            codes[units[unit], column] = labels[label]
    votes = np.stack([(codes == code).sum(axis=1) for code in range(len(labels))], axis=1)
    unrelated = []
    for column, language in enumerate(by_language):
        own = codes[:, column]
        others = votes - (own[:, None] == np.arange(len(labels)))
        shared = (own >= 0) & (others.sum(axis=1) >= _LANGUAGES - 1)
        if shared.sum() >= _FEWEST and _kappa(own[shared], others[shared].argmax(axis=1), len(labels)) < _UNRELATED:
            unrelated.append(language)
    if len(unrelated) < _MOST_UNRELATED * len(by_language):
        return []
    detail = f"{task}: answers unrelated to those of other languages in {', '.join(unrelated)}"
    return [ProbeFlag("unrelated-languages", detail)]


def _kappa(one: npt.NDArray[np.int64], other: npt.NDArray[np.int64], count: int) -> float:
    """Return Cohen's kappa: agreement beyond chance; 1 if chance alone gives full agreement."""
    shares = [np.bincount(codes, minlength=count) / len(codes) for codes in (one, other)]
    chance = float(shares[0] @ shares[1])
    return (float((one == other).mean()) - chance) / (1 - chance) if chance < 1 else 1.0
