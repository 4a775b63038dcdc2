"""Real gold, corrupted by a fixed rule, and its expected scores by the independent rules."""

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from e2e import independent, rawfiles


@dataclass(frozen=True)
class Answered:
    """The answers for one cell, in both layouts, and their expected scores.

    `n` is the number of examples in the signature; `expected` has each metric's score and its own n.
    """

    n: int
    answers: Mapping[str, Any]
    xtreme: str
    expected: Mapping[str, tuple[float, int]]


@dataclass(frozen=True)
class Case:
    """One task on real files: its cells, and the corruption of their gold."""

    suite: str
    split: str
    languages: tuple[str, ...]
    spoil: Callable[[Path, str], Answered]


def _row_ids(split: str, count: int) -> list[str]:
    return [f"{split}-{row}" for row in range(count)]


def _lines(items: Sequence[object]) -> str:
    return "".join(f"{item}\n" for item in items)


def _labels(gold: list[str], labels: list[str]) -> Answered:
    """Replace every 7th label by the next one of the label set."""
    given = [labels[(labels.index(x) + (i % 7 == 0)) % len(labels)] for i, x in enumerate(gold)]
    answers = dict(zip(_row_ids("test", len(gold)), given, strict=True))
    expected = {"accuracy": (independent.accuracy(gold, given), len(gold))}
    return Answered(len(gold), answers, _lines(given), expected)


def xnli(root: Path, _language: str) -> Answered:
    """Every 7th label becomes the next one."""
    return _labels(rawfiles.xnli_labels(root), ["entailment", "neutral", "contradiction"])


def pawsx(root: Path, language: str) -> Answered:
    """Every 7th label is flipped."""
    return _labels(rawfiles.pawsx_labels(root, language), ["0", "1"])


def xcopa(root: Path, language: str) -> Answered:
    """Every 7th choice is flipped."""
    gold = rawfiles.xcopa_labels(root, language)
    answers = {name: 1 - label if i % 7 == 0 else label for i, (name, label) in enumerate(gold.items())}
    score = independent.accuracy(list(gold.values()), list(answers.values()))
    text = _lines([json.dumps({"label": label}) for label in answers.values()])
    return Answered(len(gold), answers, text, {"accuracy": (score, len(gold))})


def _tags(gold: list[list[str]], changes: Mapping[str, str], split: str) -> Answered:
    """Change every 5th tag of the file by a table."""
    place, given = 0, []
    for sentence in gold:
        given.append([changes.get(t, changes[""]) if (place + i) % 5 == 0 else t for i, t in enumerate(sentence)])
        place += len(sentence)
    answers = dict(zip(_row_ids(split, len(gold)), given, strict=True))
    scores = independent.tagging_scores(gold, given)
    text = "\n".join(_lines(sentence) for sentence in given)
    return Answered(len(gold), answers, text, {name: (score, len(gold)) for name, score in scores.items()})


def udpos(root: Path, language: str) -> Answered:
    """Every 5th tag becomes NOUN; nouns become PROPN, and the two conjunctions are swapped."""
    gold = [sentence.tags for sentence in rawfiles.treebanks(root, language)]
    return _tags(gold, {"NOUN": "PROPN", "CCONJ": "SCONJ", "SCONJ": "CCONJ", "": "NOUN"}, "test")


def wikiann(root: Path, language: str) -> Answered:
    """Every 5th tag changes its prefix, its type, or to and from O."""
    gold = rawfiles.tag_column(root / f"panx/dev-{language}.tsv")
    changes = {"B-PER": "I-PER", "I-PER": "B-PER", "B-ORG": "B-LOC", "I-ORG": "I-LOC", "O": "I-ORG", "": "O"}
    return _tags(gold, changes, "dev")


def _questions(gold: dict[str, list[str]], mlqa_language: str | None = None) -> Answered:
    """By number modulo 6: correct, without the last letter, with punctuation and articles, half, another's, none."""
    names = list(gold)
    answers = {}
    for number, (name, (answer, *_)) in enumerate(gold.items()):
        dressed = f"«The {answer.upper()}», el die của ال。"
        other = gold[names[number - 1]][0]
        given = (answer, answer[:-1], dressed, answer[: len(answer) // 2 + 1], other, None)[number % 6]
        if given is not None:
            answers[name] = given
    scores = independent.qa_scores(gold, answers, mlqa_language)
    text = json.dumps(answers, ensure_ascii=False)
    return Answered(len(gold), answers, text, {name: (score, len(gold)) for name, score in scores.items()})


def xquad(root: Path, language: str) -> Answered:
    """See `_questions`."""
    return _questions(rawfiles.squad(root / f"xquad/xquad.{language}.json"))


def mlqa(root: Path, language: str) -> Answered:
    """See `_questions`; scored with the language-aware rules."""
    path = root / f"mlqa/dev/dev-context-{language}-question-{language}.json"
    return _questions(rawfiles.squad(path), mlqa_language=language)


def tydiqa(root: Path, language: str) -> Answered:
    """See `_questions`."""
    return _questions(rawfiles.squad(root / f"tydiqa_goldp/{rawfiles.TYDIQA_NAMES[language]}_tydiqa_dev.json"))


def tatoeba(root: Path, language: str) -> Answered:
    """Every 7th sentence is answered with the line after the correct one."""
    english = rawfiles.tatoeba_english(root, language)
    count = len(english)
    given = [(row + 1) % count if row % 7 == 0 else row for row in range(count)]
    score = independent.accuracy(list(range(count)), given)
    # XTREME's file follows the sorted English sentences, and its baseline writes the number in brackets.
    order = sorted(range(count), key=lambda row: english[row])
    text = _lines([f"[{given[row]}]" for row in order])
    answers = {str(row): str(answer) for row, answer in enumerate(given)}
    return Answered(count, answers, text, {"accuracy": (score, count)})


def bucc(root: Path, language: str) -> Answered:
    """Every 7th pair gets the previous pair's English sentence, every 5th is missing, and 40 wrong pairs are added."""
    found = rawfiles.bucc(root, language)
    pairs = [
        (source, found.gold[row - 1][1] if row % 7 == 0 else target)
        for row, (source, target) in enumerate(found.gold)
        if row % 5
    ]
    taken = {source for source, _ in found.gold}
    pairs += list(zip([name for name in found.source if name not in taken][:40], found.english, strict=False))
    count = len(found.source)
    expected = {name: (score, count) for name, score in independent.pair_scores(found.gold, pairs).items()}
    return Answered(count, dict(pairs), _lines([f"{a}\t{b}" for a, b in pairs]), expected)


@cache
def lareqa_files(root: Path) -> rawfiles.Lareqa:
    """XQuAD-R, built once for all tests."""
    return rawfiles.lareqa(root)


def spoilt_ranking(built: rawfiles.Lareqa, number: int, name: str, depth: int) -> list[str]:
    """Return the targets rotated by the question's number, each after `number % 4` others, cut at `depth`."""
    targets = built.targets[name]
    first = number * 37 % len(built.candidates)
    pool = built.candidates[first : first + 2 * depth] + built.candidates[: 2 * depth]
    others = iter(dict.fromkeys(candidate for candidate in pool if candidate not in targets))
    ranking: list[str] = []
    for place in range(len(targets)):
        ranking += [next(others) for _ in range(number % 4)]
        ranking.append(targets[(place + number) % len(targets)])
    return [*ranking, *others][:depth]


def lareqa(root: Path, language: str) -> Answered:
    """See `spoilt_ranking`, 30 deep."""
    built = lareqa_files(root)
    names = built.questions[language]
    rankings = [spoilt_ranking(built, number, name, 30) for number, name in enumerate(names)]
    targets = [built.targets[name] for name in names]
    answers = dict(zip(names, rankings, strict=True))
    expected = {
        "map@20": (independent.ranking_scores(rankings, targets)["map@20"], len(names)),
        **independent.one_target_scores(rankings, targets, language),
    }
    return Answered(len(names), answers, json.dumps(answers), expected)


CASES = {
    "xnli": Case("xtreme-r", "test", ("sw", "zh"), xnli),
    "xcopa": Case("xtreme-r", "test", ("et", "th"), xcopa),
    "udpos": Case("xtreme-r", "test", ("he", "ta", "pt"), udpos),
    "wikiann": Case("xtreme-r", "dev", ("jv", "my", "sw"), wikiann),
    "xquad": Case("xtreme-r", "test", ("en", "th", "zh"), xquad),
    "mlqa": Case("xtreme-r", "dev", ("en", "es", "de", "ar", "hi", "vi", "zh"), mlqa),
    "tydiqa": Case("xtreme-r", "test", ("bn", "ko", "sw"), tydiqa),
    "tatoeba": Case("xtreme-r", "test", ("jv", "te"), tatoeba),
    "lareqa": Case("xtreme-r", "test", ("de", "th"), lareqa),
    "pawsx": Case("xtreme", "test", ("de", "zh"), pawsx),
    "bucc": Case("xtreme", "dev", ("zh",), bucc),
}
