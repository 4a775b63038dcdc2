"""A full-size XTREME-R of random words: every task, language and count, with gold labels and a system's predictions.

Run it: `python benchmarks/synthetic.py OUT`. It writes `OUT/data`, a data folder in the layouts of the official
releases, and `OUT/predictions`, the predictions of a synthetic system that is right about seven times in ten. The
output is always the same. Sizes follow the real files: 20 tokens per sentence in UD, 11 in WikiANN, 760 characters
per paragraph in XQuAD, 735 in MLQA, 490 in TyDiQA. Only the candidates of Mewsli-X are shorter than the real ones
(all 1,003,893 of them, but 0.2 GB instead of 0.5): real descriptions would only slow down parsing.
"""

import sys
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import accumulate
from pathlib import Path
from random import Random
from typing import Any

import msgspec

from isogloss.languages import all_languages, language
from isogloss.tasks.readers.split_files import SplitFiles, corpus_iso3
from isogloss.tasks.registry import task

CANDIDATES = 1_003_893
SKILL = 0.7

# First and last letter of the scripts; unassigned code points between them are skipped.
LETTERS = {
    "Arab": "ءي", "Beng": "কহ", "Cyrl": "ая", "Deva": "कह", "Geor": "აჰ", "Grek": "αω", "Gujr": "કહ", "Guru": "ਕਹ",
    "Hans": "一房", "Hebr": "את", "Jpan": "一房", "Kore": "가힣", "Latn": "az", "Mlym": "കഹ", "Mymr": "ကအ",
    "Taml": "கஹ", "Telu": "కహ", "Thai": "กฮ",
}  # fmt: skip
XNLI_COLUMNS = (
    "language gold_label sentence1_binary_parse sentence2_binary_parse sentence1_parse sentence2_parse sentence1 "
    "sentence2 promptID pairID genre label1 label2 label3 label4 label5 sentence1_tokenized sentence2_tokenized match"
)
FEATURES = ("Case=Nom|Number=Sing", "Number=Plur|Person=3|Tense=Pres|VerbForm=Fin", "_", "Degree=Pos", "_")


class Words:
    """Random words in the script of a language; the same for the same language and purpose."""

    def __init__(self, code: str, purpose: str) -> None:
        self.rng = Random(f"{purpose}/{code}")
        self.vocabulary = _vocabulary(code)
        self.space = " " if language(code).segmented else ""

    def some(self, count: int) -> list[str]:
        """Return some words."""
        return self.rng.choices(self.vocabulary, k=count)

    def text(self, count: int) -> str:
        """Return about `count` words, within a third, joined."""
        return self.space.join(self.some(self.rng.randint(2 * count // 3, 4 * count // 3)))


@cache
def _vocabulary(code: str) -> list[str]:
    rng = Random(code)
    first, last = LETTERS[language(code).script]
    letters = [chr(point) for point in range(ord(first), ord(last) + 1) if chr(point).isalpha()]
    longest = {"Hans": 2, "Jpan": 2, "Kore": 4}.get(language(code).script, 9)
    return ["".join(rng.choices(letters, k=rng.randint(1, longest))) for _ in range(3000)]


@dataclass(frozen=True)
class Folders:
    """Writer of gold labels and predictions."""

    data: Path
    predictions: Path

    def gold(self, name: str, code: str, content: bytes | str, *, suffix: str = "") -> None:
        """Write a data file of a task under the path of its first layout for the language."""
        pattern = task(name).layouts[0].test
        relative = SplitFiles(task=task(name), language=code, split="test", root=self.data, pattern=pattern).relative(
            pattern
        )
        self.at(relative.replace("*", "synthetic") + suffix, content)

    def at(self, relative: str, content: bytes | str) -> None:
        """Write a data file."""
        path = self.data / relative
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content.encode() if isinstance(content, str) else content)

    def answers(self, name: str, code: str, answers: Iterable[tuple[str, Any]]) -> None:
        """Write `<task>/<language>.jsonl`."""
        path = self.predictions / name / f"{code}.jsonl"
        path.parent.mkdir(parents=True, exist_ok=True)
        lines = [{"id": identifier, "prediction": value} for identifier, value in answers]
        path.write_bytes(msgspec.json.Encoder().encode_lines(lines))


def write(out: Path, candidates: int = CANDIDATES) -> Folders:
    """Write both folders; `candidates` is the size of Mewsli-X's pool."""
    folders = Folders(out / "data", out / "predictions")
    for make in (xnli, xcopa, udpos, wikiann, xquad_and_lareqa, mlqa, tydiqa, tatoeba):
        make(folders)
    mewslix(folders, candidates)
    (folders.predictions / "system.toml").write_text('name = "synthetic"\n', encoding="utf-8")
    return folders


def _count(name: str, code: str) -> int:
    count = task(name).expected(code, "test")
    if count is None:
        raise ValueError(f"{name}/{code} has no expected count")
    return count


def xnli(folders: Folders) -> None:
    """Write the release's one file for all languages: 19 columns, parses empty, text also as tokens."""
    of = task("xnli")
    labels = Random("xnli").choices(of.labels, k=_count("xnli", "en"))
    empty = "\t" * 4
    lines = ["\t".join(XNLI_COLUMNS.split())]
    for code in sorted(of.languages):
        words = Words(code, "xnli")
        for row, label in enumerate(labels):
            a, b = words.text(17), words.text(9)
            votes = "\t".join([label] * 5)
            lines.append(f"{code}\t{label}\t{empty}{a}\t{b}\t{row // 3}\t{row}\tfiction\t{votes}\t{a}\t{b}\tTrue")
        guesses = words.rng.choices(of.labels, k=len(labels))
        folders.answers("xnli", code, _answered(words.rng, "test-", labels, guesses))
    folders.gold("xnli", "en", "\n".join(lines) + "\n")


def _answered(rng: Random, prefix: str, gold: Sequence[Any], wrong: Sequence[Any]) -> Iterator[tuple[str, Any]]:
    """Return numbered answers: the gold label as often as the system is right, else the wrong one."""
    for row, (right, other) in enumerate(zip(gold, wrong, strict=True)):
        yield f"{prefix}{row}", right if rng.random() < SKILL else other


def xcopa(folders: Folders) -> None:
    """Return JSON lines."""
    for code in task("xcopa").languages:
        words = Words(code, "xcopa")
        labels = Random("xcopa").choices((0, 1), k=_count("xcopa", code))
        records = [
            {
                "premise": words.text(7),
                "choice1": words.text(6),
                "choice2": words.text(6),
                "question": ("cause", "effect")[row % 2],
                "label": label,
                "idx": row,
                "changed": False,
            }
            for row, label in enumerate(labels)
        ]
        folders.gold("xcopa", code, msgspec.json.Encoder().encode_lines(records))
        folders.answers("xcopa", code, _answered(words.rng, "", labels, [1 - label for label in labels]))


def udpos(folders: Folders) -> None:
    """Write CoNLL-U with 5 to 35 words per sentence, every tenth with a fused token."""
    of = task("udpos")
    tags = of.labels[:-1]
    for code in of.languages:
        words = Words(code, "udpos")
        rng = words.rng
        tag_of = {word: rng.choice(tags) for word in words.vocabulary}
        middle = {w: f"{w}\t{w.lower()}\t{tag}\t{tag[:2]}\t{rng.choice(FEATURES)}\t" for w, tag in tag_of.items()}
        lines: list[str] = []
        answers: list[tuple[str, list[str]]] = []
        for row in range(_count("udpos", code)):
            sentence = words.some(rng.randint(5, 35))
            tagged = [tag_of[word] for word in sentence]
            lines += (f"# sent_id = synthetic-{row}", f"# text = {' '.join(sentence)}")
            table = [f"{place}\t{middle[word]}{place - 1}\tdep\t_\t_" for place, word in enumerate(sentence, 1)]
            if row % 10 == 0:  # words 2 and 3 are fused; word 2, nearer to the root, determines the tag
                table.insert(1, f"2-3\t{sentence[1]}{sentence[2]}" + "\t_" * 8)
                del tagged[2]
            lines += (*table, "")
            answers.append((f"test-{row}", [tag if rng.random() < 0.9 else rng.choice(tags) for tag in tagged]))
        folders.gold("udpos", code, "\n".join(lines) + "\n")
        folders.answers("udpos", code, answers)


def wikiann(folders: Folders) -> None:
    """Write `xx:word<TAB>tag`; Chinese, Japanese and Thai have one character per token, as in the release."""
    of = task("wikiann")
    for code in of.languages:
        words = Words(code, "wikiann")
        rng = words.rng
        short, long = (10, 30) if code in ("ja", "th", "zh") else (4, 14)
        entries = [f"{code}:{word[0] if long == 30 else word}\t" for word in words.vocabulary]
        lines: list[str] = []
        answers: list[tuple[str, list[str]]] = []
        for row in range(_count("wikiann", code)):
            tags = _entities(rng, rng.randint(short, long))
            chosen = rng.choices(entries, k=len(tags))
            lines += [entry + tag for entry, tag in zip(chosen, tags, strict=True)]
            lines.append("")
            answers.append((f"test-{row}", tags if rng.random() < SKILL else _entities(rng, len(tags))))
        folders.gold("wikiann", code, "\n".join(lines) + "\n")
        folders.answers("wikiann", code, answers)


def _entities(rng: Random, length: int) -> list[str]:
    """Return one or two entities of one to four tokens among O."""
    tags = ["O"] * length
    for _ in range(rng.randint(1, 2)):
        kind, start, size = rng.choice(("PER", "ORG", "LOC")), rng.randrange(length), rng.randint(1, 4)
        entity = [f"B-{kind}", *[f"I-{kind}"] * (size - 1)]
        tags[start : start + size] = entity[: length - start]
    return tags


@dataclass(frozen=True)
class Passage:
    """Return joined sentences, with the start and end of each."""

    words: Words
    sentences: list[list[str]]

    @property
    def texts(self) -> list[str]:
        return [self.words.space.join(sentence) for sentence in self.sentences]

    @property
    def breaks(self) -> list[tuple[int, int]]:
        ends = accumulate(len(text) + 1 for text in self.texts)
        return [(end - 1 - len(text), end - 1) for end, text in zip(ends, self.texts, strict=True)]

    def record(self, *, sentence_breaks: bool = False) -> dict[str, Any]:
        """Return the paragraph in SQuAD's format, optionally with XQuAD-R's fields, without questions."""
        extra = {"sentences": self.texts, "sentence_breaks": self.breaks} if sentence_breaks else {}
        return {"context": " ".join(self.texts), "qas": [], **extra}

    def question(self, identifier: str, answers: int = 1) -> tuple[dict[str, Any], int, str]:
        """Return a question in SQuAD's format, the sentence that answers it, and the system's answer."""
        rng, space = self.words.rng, self.words.space
        place = rng.randrange(len(self.sentences))
        sentence = self.sentences[place]
        first = rng.randrange(len(sentence))
        start = self.breaks[place][0] + sum(len(word) + len(space) for word in sentence[:first])
        ends = [first + rng.randint(1, 5) for _ in range(answers)]
        golds = [space.join(sentence[first:end]) for end in ends]
        guess = golds[0] if rng.random() < SKILL else space.join(sentence[first : first + 3])
        record = {
            "id": identifier,
            "question": self.words.text(9) + "?",
            "answers": [{"text": gold, "answer_start": start} for gold in golds],
        }
        return record, place, guess


def _passage(words: Words, characters: int, sentences: int) -> Passage:
    """Return a passage of about `characters` characters."""
    per_word = sum(map(len, words.vocabulary)) / len(words.vocabulary) + len(words.space)
    size = max(4, round(characters / sentences / per_word))
    return Passage(words, [words.some(words.rng.randint(size // 2, 3 * size // 2)) for _ in range(sentences)])


def _ids(purpose: str, count: int) -> list[str]:
    rng = Random(purpose)
    return [f"{rng.getrandbits(96):024x}" for _ in range(count)]


def _shares(total: int, parts: int) -> list[int]:
    """Split a total into nearly equal parts."""
    return [total * (part + 1) // parts - total * part // parts for part in range(parts)]


def xquad_and_lareqa(folders: Folders, paragraphs: int = 240) -> None:
    """Write XQuAD and XQuAD-R: the same questions with sentence breaks, as many sentences as LAReQA has candidates."""
    of = task("lareqa")
    ids = _ids("xquad", _count("xquad", "en"))
    targets: dict[str, list[str]] = {identifier: [] for identifier in ids}
    pool: list[str] = []
    for code in of.languages:
        words = Words(code, "xquad")
        files: dict[str, list[dict[str, Any]]] = {"xquad": [], "lareqa": []}
        answers: list[tuple[str, str]] = []
        waiting = iter(ids)
        sizes = _shares(of.expected(code, "candidates") or 0, paragraphs)
        for number, (size, questions) in enumerate(zip(sizes, _shares(len(ids), paragraphs), strict=True), 1):
            passage = _passage(words, 760, size)
            records = {"xquad": passage.record(), "lareqa": passage.record(sentence_breaks=True)}
            pool += [f"{code}_{number}_{place}" for place in range(size)]
            for identifier in (next(waiting) for _ in range(questions)):
                question, place, guess = passage.question(identifier)
                targets[identifier].append(f"{code}_{number}_{place}")
                answers.append((identifier, guess))
                for record in records.values():
                    record["qas"].append(question)
            for name, record in records.items():
                files[name].append(record)
        for name, content in files.items():
            folders.gold(name, code, _squad(content))
        folders.answers("xquad", code, answers)
    for code in of.languages:
        rng = Random(f"lareqa/{code}")
        ranked = ((f"{identifier}_{code}", _ranking(rng, targets[identifier], pool, 30)) for identifier in ids)
        folders.answers("lareqa", code, ranked)


def _squad(paragraphs: list[dict[str, Any]]) -> bytes:
    return msgspec.json.encode({"version": "1.1", "data": [{"title": "Synthetic", "paragraphs": paragraphs}]})


def _ranking(rng: Random, targets: Sequence[str], pool: Sequence[str], depth: int) -> list[str]:
    """Return distinct candidates: most targets near the top, random others around and below them."""
    ranks = {target: rng.expovariate(0.3) for target in targets if rng.random() < SKILL}
    for place, other in enumerate(rng.choices(pool, k=2 * depth)):
        ranks.setdefault(other, place)
    return sorted(ranks, key=ranks.__getitem__)[:depth]


def mlqa(folders: Folders) -> None:
    """Write one file per language; the ids of the others are a subset of English's."""
    of = task("mlqa")
    ids = _ids("mlqa", max(_count("mlqa", code) for code in of.languages))
    for code in of.languages:
        words = Words(code, "mlqa")
        records, answers = _questions(words, words.rng.sample(ids, _count("mlqa", code)), 735)
        folders.gold("mlqa", code, _squad(records))
        folders.answers("mlqa", code, answers)


def tydiqa(folders: Folders) -> None:
    """Write the release's one file for all languages; ids start with the language's name."""
    records: list[dict[str, Any]] = []
    for code in task("tydiqa").languages:
        name = language(code).name.lower()
        ids = [f"{name}-{identifier}" for identifier in _ids(f"tydiqa/{code}", _count("tydiqa", code))]
        questions, answers = _questions(Words(code, "tydiqa"), ids, 490, answers=(1, 2, 2))
        records += questions
        folders.answers("tydiqa", code, answers)
    folders.gold("tydiqa", "en", _squad(records))


def _questions(
    words: Words, ids: Sequence[str], characters: int, answers: Sequence[int] = (1,)
) -> tuple[list[dict[str, Any]], list[tuple[str, str]]]:
    """Write a paragraph for each question, and the system's answer."""
    records, guesses = [], []
    for identifier in ids:
        passage = _passage(words, characters, 5)
        question, _, guess = passage.question(identifier, words.rng.choice(answers))
        records.append({**passage.record(), "qas": [question]})
        guesses.append((identifier, guess))
    return records, guesses


def tatoeba(folders: Folders) -> None:
    """Write two files per language, aligned line by line."""
    for code in task("tatoeba").languages:
        words, english = Words(code, "tatoeba"), Words("en", f"tatoeba/{code}")
        rows = range(_count("tatoeba", code))
        iso3 = corpus_iso3(code)
        folders.gold("tatoeba", code, "".join(f"{english.text(6)}\n" for _ in rows), suffix=".eng")
        folders.gold("tatoeba", code, "".join(f"{words.text(6)}\n" for _ in rows), suffix=f".{iso3}")
        gold = [str(row) for row in rows]
        folders.answers("tatoeba", code, _answered(words.rng, "", gold, words.rng.choices(gold, k=len(gold))))


def mewslix(folders: Folders, candidates: int = CANDIDATES) -> None:
    """Write documents with two mentions each, and a pool in all languages."""
    ids = [f"Q{37 * row + 11}" for row in range(candidates)]
    documents: list[dict[str, Any]] = []
    for code in task("mewslix").languages:
        words = Words(code, "mewslix")
        names = _ids(f"mewslix/{code}", _count("mewslix", code))
        answers: list[tuple[str, list[str]]] = []
        for number in range(0, len(names), 2):
            passage = _passage(words, 1100, 7)
            mentions = []
            for name in names[number : number + 2]:
                place = words.rng.randrange(7)
                start, text = passage.breaks[place][0], passage.sentences[place][0]
                target = words.rng.choice(ids)
                mentions.append(
                    {
                        "example_id": name,
                        "mention_span": {"start": start, "end": start + len(text), "text": text},
                        "entity_id": target,
                        "metadata": {"curid": str(number), "bin_name": "bin04_1000-inf"},
                    }
                )
                answers.append((name, _ranking(words.rng, [target], ids, 20)))
            spans = [{"start": start, "end": end} for start, end in passage.breaks]
            context = {
                "document_title": words.text(5),
                "document_id": f"{code}-{number}",
                "language": code,
                "text": passage.record()["context"],
                "sentence_spans": spans,
            }
            documents.append({"context": context, "mentions": mentions})
        folders.answers("mewslix", code, answers)
    folders.gold("mewslix", "en", msgspec.json.Encoder().encode_lines(documents))
    folders.at("mewslix/candidate_set_entities.jsonl", "".join(_entity_lines(ids)))


def _entity_lines(ids: Sequence[str]) -> Iterator[str]:
    """Write one line per candidate; the descriptions are drawn from a few thousand."""
    described: list[str] = []
    for entry in all_languages():
        words = Words(entry.code, "entities")
        for _ in range(60):
            text = words.text(12)
            record = {
                "title": words.text(2),
                "description_language": entry.code,
                "description": text,
                "sentence_spans": [{"start": 0, "end": len(text)}],
            }
            described.append(msgspec.json.encode(record).decode().removeprefix("{"))
    rng = Random("entities")
    for identifier, rest in zip(ids, rng.choices(described, k=len(ids)), strict=True):
        yield f'{{"entity_id":"{identifier}",{rest}\n'


if __name__ == "__main__":
    if len(sys.argv) != 2:
        raise SystemExit("usage: python benchmarks/synthetic.py OUT")
    write(Path(sys.argv[1]))
