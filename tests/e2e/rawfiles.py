"""Independent readers of the datasets' files, for the gold of the end-to-end tests; they do not import the package."""

import json
import lzma
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

from e2e.independent import Pair

ISO3 = {"jv": "jav", "te": "tel", "sw": "swh", "ta": "tam"}
TYDIQA_NAMES = {"bn": "bengali", "ko": "korean", "sw": "swahili"}
LAREQA_LANGUAGES = ("ar", "de", "el", "en", "es", "hi", "ru", "th", "tr", "vi", "zh")

_PRECEDENCE = "VERB NOUN PROPN PRON ADJ NUM ADV INTJ AUX ADP DET PART CCONJ SCONJ X PUNCT".split()


def text(path: Path) -> str:
    """Return a file's text, packed with xz or not."""
    if path.is_file():
        return path.read_bytes().decode("utf-8")
    with lzma.open(f"{path}.xz") as stream:
        return stream.read().decode("utf-8")


def lines(path: Path) -> list[str]:
    """Return a file's lines, split at line feeds only."""
    return text(path).removesuffix("\n").split("\n")


def xnli_labels(root: Path) -> list[str]:
    """Return the test labels, which are the same in every language."""
    return lines(root / "xnli/test-gold-labels.txt")


def pawsx_labels(root: Path, language: str) -> list[str]:
    """Return the test labels from the labelled files."""
    return [line.split("\t")[3] for line in lines(root / f"pawsx/with_id_and_label/test-{language}.tsv")[1:]]


def xcopa_labels(root: Path, language: str) -> dict[str, int]:
    """Return the test labels by `idx`."""
    records = [json.loads(line) for line in lines(root / f"xcopa/data/{language}/test.{language}.jsonl")]
    return {str(record["idx"]): record["label"] for record in records}


def tag_column(path: Path) -> list[list[str]]:
    """Return the tags of `word<TAB>tag` lines, with a blank line after each sentence."""
    blocks = text(path).split("\n\n")
    return [[line.split("\t")[1] for line in block.split("\n") if line] for block in blocks if block.strip()]


class TaggedSentence(NamedTuple):
    """A converted sentence: surface words, their tags, and the treebank's raw sentence."""

    words: list[str]
    tags: list[str]
    text: str


def treebanks(root: Path, language: str) -> list[TaggedSentence]:
    """Return all test treebanks of a language in name order, with fused tokens instead of their parts."""
    paths = sorted((root / "udpos/conllu").glob(f"{language}_*-ud-test.conllu*"))
    blocks = [
        block for path in paths for block in text(path.with_suffix("") if path.suffix == ".xz" else path).split("\n\n")
    ]
    return [_sentence(block) for block in blocks if block.strip()]


def _sentence(block: str) -> TaggedSentence:
    comments = [line for line in block.split("\n") if line.startswith("# text = ")]
    rows = [line.split("\t") for line in block.split("\n") if line and not line.startswith("#")]
    parts = {int(row[0]): row for row in rows if row[0].isdigit()}
    fused = {int(row[0].split("-")[0]): row for row in rows if "-" in row[0]}
    words, tags, number = [], [], 1
    while number <= len(parts):
        if number in fused:
            first, last = map(int, fused[number][0].split("-"))
            words.append(fused[number][1])
            tags.append(_fused_tag([parts[i] for i in range(first, last + 1)], parts))
            number = last + 1
        else:
            words.append(parts[number][1])
            tags.append(parts[number][3])
            number += 1
    raw = comments[0].removeprefix("# text = ") if comments else ""
    return TaggedSentence([word.replace(" ", "").replace("\u200c", "") for word in words], tags, raw)


def _fused_tag(own: list[list[str]], parts: dict[int, list[str]]) -> str:
    """Return the tag of the part with the fewest ancestors; ties go to the first in the precedence list."""
    depths = [len(_ancestors(int(row[0]), parts)) for row in own]
    tags = [row[3] for row, depth in zip(own, depths, strict=True) if depth == min(depths)]
    return min(tags, key=lambda tag: _PRECEDENCE.index(tag) if tag in _PRECEDENCE else len(_PRECEDENCE))


def _ancestors(number: int, parts: dict[int, list[str]]) -> set[int]:
    """Return every node above a word, by basic and enhanced edges, excluding the word."""
    above: set[int] = set()
    waiting = [number]
    while waiting:
        row = parts.get(waiting.pop())
        edges = [] if row is None else [row[6], *(edge.split(":")[0] for edge in row[8].split("|"))]
        for head in (int(edge) for edge in edges if edge.isdigit()):
            if head not in above:
                above.add(head)
                waiting.append(head)
    return above - {number}


def squad(path: Path) -> dict[str, list[str]]:
    """Return the gold answers by question id, in file order."""
    found: dict[str, list[str]] = {}
    for _, question in _questions(json.loads(text(path))):
        assert question["id"] not in found
        found[question["id"]] = [answer["text"] for answer in question["answers"]]
    return found


def _questions(file: dict[str, Any]) -> Iterator[tuple[dict[str, Any], dict[str, Any]]]:
    for article in file["data"]:
        for paragraph in article["paragraphs"]:
            for question in paragraph["qas"]:
                yield paragraph, question


def tatoeba_english(root: Path, language: str) -> list[str]:
    """Return the English side; line i translates line i of the other."""
    return [line.strip() for line in lines(root / f"tatoeba/tatoeba.{ISO3[language]}-eng.eng")]


class Bitext(NamedTuple):
    """Ids of both sides and gold pairs of BUCC."""

    source: list[str]
    english: list[str]
    gold: list[Pair]


def bucc(root: Path, language: str) -> Bitext:
    """Return the sample set, which is the dev split."""
    stem = root / f"bucc2018/{language}-en.dev"
    sides = [[line.split("\t")[0] for line in lines(Path(f"{stem}.{side}"))] for side in (language, "en")]
    gold = [(first, second) for first, second in (line.split("\t") for line in lines(Path(f"{stem}.gold")))]
    return Bitext(sides[0], sides[1], gold)


class Lareqa(NamedTuple):
    """Question ids by language, candidate ids in pool order, targets by question id."""

    questions: dict[str, list[str]]
    candidates: list[str]
    targets: dict[str, list[str]]


def lareqa(root: Path) -> Lareqa:
    """Return XQuAD-R as a retrieval task: sentences are candidates, those with the answer's start are targets."""
    questions: dict[str, list[str]] = {}
    candidates: list[str] = []
    shared: dict[str, list[str]] = {}
    for language in LAREQA_LANGUAGES:
        file = json.loads(text(root / f"lareqa/xquad-r/{language}.json"))
        questions[language] = []
        paragraphs = [paragraph for article in file["data"] for paragraph in article["paragraphs"]]
        for number, paragraph in enumerate(paragraphs, 1):
            spans = paragraph["sentence_breaks"]
            candidates += [f"{language}_{number}_{place}" for place in range(len(spans))]
            for question in paragraph["qas"]:
                start = question["answers"][0]["answer_start"]
                (place,) = [i for i, (first, end) in enumerate(spans) if first <= start < end]
                questions[language].append(f"{question['id']}_{language}")
                shared.setdefault(question["id"], []).append(f"{language}_{number}_{place}")
    targets = {name: shared[name.rsplit("_", 1)[0]] for names in questions.values() for name in names}
    return Lareqa(questions, candidates, targets)
