"""The texts of the suite: paragraphs, pairs, tagged sentences, all made by the grammars of the languages."""

import json
import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any
from unicodedata import category

from isogloss.grammar.cases import ChecklistCase, draw, fillers, templates
from isogloss.grammar.file import CODES, Grammar, grammar
from isogloss.grammar.schema import TESTS, concepts
from isogloss.languages import language
from isogloss.tasks.mini.content import tagged_templates

_SEEDS = {"test": 11, "dev": 12, "train": 13}
_QA_TESTS = {
    "xquad": tuple(TESTS),
    "mlqa": ("job_vs_nationality", "animal_vs_vehicle", "animal_vs_vehicle_2"),
    "tydiqa": ("comparisons", "properties", "job_vs_nationality"),
}


@dataclass(frozen=True)
class QuestionItem:
    """A question over a paragraph: the case that answers it between two that do not."""

    case: ChecklistCase
    context: int
    question: int
    around: tuple[ChecklistCase, ChecklistCase]


def blank(code: str) -> str:
    """What separates two sentences."""
    return "" if language(code).script in ("Hans", "Jpan") else " "


def _spoken(speaker: Grammar, case: ChecklistCase, place: int) -> str:
    contexts, _ = templates(case, speaker)
    return speaker.say(contexts[place % len(contexts)], fillers(case, speaker))


def _paragraph(code: str, item: QuestionItem) -> tuple[list[str], str, str]:
    """Three sentences, a question about the middle one, and its answer."""
    speaker = grammar(code)
    words = fillers(item.case, speaker)
    _, questions = templates(item.case, speaker)
    asked = questions[item.question % len(questions)]
    parts = [
        _spoken(speaker, item.around[0], 0),
        _spoken(speaker, item.case, item.context),
        _spoken(speaker, item.around[1], 0),
    ]
    return parts, speaker.say(asked.question, words), speaker.answer(asked.answer, words)


@cache
def _items(name: str, split: str, count: int) -> tuple[QuestionItem, ...]:
    """Questions whose answer stands once in its paragraph, in every language the split has."""
    languages = CODES if split == "test" else ("en",)
    rng = random.Random(f"mini/{name}/{split}")  # noqa: S311 - reproducible, not secret
    tests = _QA_TESTS[name]
    cases = {test: draw(test, 2 * count, _SEEDS[split]) for test in TESTS}
    found: list[QuestionItem] = []
    number = 0
    while len(found) < count:
        test = tests[number % len(tests)]
        case = cases[test][number % (2 * count)]
        others = rng.sample([other for other in TESTS if other != test], 2)
        around = (rng.choice(cases[others[0]]), rng.choice(cases[others[1]]))
        item = QuestionItem(case, rng.randrange(6), rng.randrange(2), around)
        if all(_answered_once(code, item) for code in languages):
            found.append(item)
        number += 1
    return tuple(found)


def _answered_once(code: str, item: QuestionItem) -> bool:
    parts, _, answer = _paragraph(code, item)
    return blank(code).join(parts).count(answer) == 1


def squad(name: str, code: str, split: str, count: int, *, sentence_breaks: bool = False) -> dict[str, Any]:
    """A SQuAD file of one language, an article a question; ids are shared by all."""
    articles: list[dict[str, Any]] = []
    for number, item in enumerate(_items(name, split, count)):
        parts, question, answer = _paragraph(code, item)
        context = blank(code).join(parts)
        answers = [{"text": answer, "answer_start": context.index(answer)}]
        identifier = f"{name}-{split}-{number}"
        paragraph: dict[str, Any] = {
            "context": context,
            "qas": [{"id": identifier, "question": question, "answers": answers}],
        }
        if sentence_breaks:
            paragraph["sentence_breaks"] = _breaks(parts, blank(code))
            paragraph["sentences"] = parts
        articles.append({"title": identifier, "paragraphs": [paragraph]})
    return {"version": "mini", "data": articles}


def _breaks(parts: Sequence[str], between: str) -> list[tuple[int, int]]:
    breaks: list[tuple[int, int]] = []
    start = 0
    for part in parts:
        breaks.append((start, start + len(part)))
        start += len(part) + len(between)
    return breaks


def inference(code: str, split: str, count: int) -> Iterator[str]:
    """Two comparisons as premise; as hypothesis one of them, its reverse, or a third that does not follow."""
    speaker = grammar(code)
    [template], _ = templates(draw("comparisons", 1)[0], speaker)
    adjectives = list(concepts()["adjective"])
    rng = random.Random(f"mini/xnli/{split}")  # noqa: S311
    for number, case in enumerate(draw("comparisons", count, _SEEDS[split])):
        people = {slot: word for slot, word in fillers(case, speaker).items() if slot != "adjective"}
        swapped = {"a": people["b"], "b": people["a"]}
        first, second, third = (speaker.word("adjective", key) for key in rng.sample(adjectives, 3))
        premise = blank(code).join(speaker.say(template, {**people, "adjective": word}) for word in (first, second))
        label = ("entailment", "neutral", "contradiction")[number % 3]
        adjective = {"entailment": second, "contradiction": first, "neutral": third}[label]
        who = swapped if label == "contradiction" else people
        yield f"{premise}\t{speaker.say(template, {**who, 'adjective': adjective})}\t{label}"


def _tokens(text: str, code: str) -> list[tuple[int, int]]:
    """Spans of tokens: words with their punctuation apart, or characters where the script has no blanks."""
    if not language(code).segmented:
        return [(place, place + 1) for place, letter in enumerate(text) if not letter.isspace()]
    spans: list[tuple[int, int]] = []
    start = 0
    for chunk in text.split(" "):
        end = start + len(chunk)
        inner = end
        while inner > start and not _in_words(chunk[inner - start - 1]):
            inner -= 1
        if inner > start:
            spans.append((start, inner))
        spans += [(place, place + 1) for place in range(inner, end)]
        start = end + 1
    return spans


def _in_words(letter: str) -> bool:
    return letter.isalnum() or category(letter)[0] == "M"


def named(code: str, split: str, count: int) -> Iterator[str]:
    """People in sentences, as `word<TAB>tag` lines; the names of the slots are the entities."""
    speaker = grammar(code)
    tests = ("job_vs_nationality", "animal_vs_vehicle", "animal_vs_vehicle_2", "comparisons")
    drawn = {test: draw(test, count, _SEEDS[split]) for test in tests}
    for number in range(count):
        case = drawn[tests[number % 4]][number]
        text = _spoken(speaker, case, number)
        people = [word.base for slot, word in fillers(case, speaker).items() if slot in ("a", "b")]
        spans = [(text.index(name), text.index(name) + len(name)) for name in people if name in text]
        inside = -1
        for start, end in _tokens(text, code):
            entity = next((place for place, (a, b) in enumerate(spans) if start < b and a < end), -1)
            tag = "O" if entity < 0 else "I-PER" if entity == inside else "B-PER"
            inside = entity
            yield f"{text[start:end]}\t{tag}"
        yield ""


def tagged(code: str, split: str, count: int) -> Iterator[str]:
    """Hand-tagged sentences with other words in their slots; words of two parts, which need two tags, are left out."""
    speaker = grammar(code)
    rng = random.Random(f"mini/udpos/{split}/{code}")  # noqa: S311
    sentences = tagged_templates(code)
    seen: set[str] = set()
    while len(seen) < count:
        template = sentences[len(seen) % len(sentences)]
        words = _any_words(speaker, rng)
        tokens = [(speaker.answer(word, words) if "{" in word else word, tag) for word, tag in template]
        text = " ".join(token for token, _ in tokens)
        if text in seen or any(" " in token or not token for token, _ in tokens):
            continue
        seen.add(text)
        first = speaker.polish(tokens[0][0])
        yield from (f"{token}\t{tag}" for token, tag in [(first, tokens[0][1]), *tokens[1:]])
        yield ""


def _any_words(speaker: Grammar, rng: random.Random) -> dict[str, Any]:
    words: dict[str, Any] = {name: rng.choice(list(lexicon.values())) for name, lexicon in speaker.lexicons.items()}
    gender = rng.choice("mf")
    words["a"], words["b"] = rng.sample(speaker.names[gender], 2)
    return words


def bitext(code: str, count: int) -> tuple[list[str], list[str]]:
    """English sentences and their counterparts, aligned by line."""
    tests = list(TESTS)
    drawn = {test: draw(test, count, _SEEDS["test"]) for test in tests}
    cases = [drawn[tests[number % len(tests)]][number] for number in range(count)]
    english, other = grammar("en"), grammar(code)
    first, second = ([_spoken(side, case, n) for n, case in enumerate(cases)] for side in (english, other))
    return first, second


def _entity(number: int) -> tuple[ChecklistCase, str]:
    """The thing an entity is, and the language it is described in."""
    rng = random.Random(f"mini/entity/{number}")  # noqa: S311
    kinds = rng.sample(("colour", "size", "age", "shape", "material"), 2)
    drawn = {slot: f"{kind}/{rng.choice(list(concepts()[kind]))}" for slot, kind in zip("pq", kinds, strict=True)}
    slots = (("object", rng.choice(list(concepts()["object"]))), *drawn.items())
    return ChecklistCase("properties", number, slots), rng.choice(CODES)


def entities(pool: int) -> Iterator[dict[str, Any]]:
    """Descriptions of things, each in a language drawn at random; any number of them."""
    for number in range(pool):
        case, code = _entity(number)
        speaker = grammar(code)
        text = f"{_spoken(speaker, case, 0)} [{number}]"
        yield {
            "entity_id": f"Q{number}",
            "title": fillers(case, speaker)["object"].base,
            "description": text,
            "description_language": code,
            "description_url": "",
            "sentence_spans": [{"start": 0, "end": len(text)}],
        }


def mentions(code: str, pool: int, count: int) -> Iterator[dict[str, Any]]:
    """News of things: each mention is the object in a sentence that describes it."""
    speaker = grammar(code)
    rng = random.Random(f"mini/mewslix/{code}")  # noqa: S311
    for number in rng.sample(range(pool), min(count, pool)):
        case, _ = _entity(number)
        text = f"{_spoken(speaker, case, 0)} [{number}]"
        span = {"start": len(text) - len(f"[{number}]"), "end": len(text), "text": f"[{number}]"}
        yield {
            "context": {
                "document_id": f"{code}-{number}",
                "language": code,
                "text": text,
                "sentence_spans": [{"start": 0, "end": len(text)}],
            },
            "mentions": [{"example_id": f"{code}-{number}", "entity_id": f"Q{number}", "mention_span": span}],
        }


def plausible_pairs(pairs: Sequence[tuple[str, str]], count: int, rng: random.Random) -> Iterator[str]:
    """Causes with their effects against effects of other causes, as COPA lines."""
    for number in range(count):
        (cause, effect), (other_cause, other_effect) = rng.sample(pairs, 2)
        asks_effect, label = rng.randrange(2), rng.randrange(2)
        premise, right, wrong = (cause, effect, other_effect) if asks_effect else (effect, cause, other_cause)
        choices = (right, wrong) if label == 0 else (wrong, right)
        question = "effect" if asks_effect else "cause"
        row = {"premise": premise, "choice1": choices[0], "choice2": choices[1], "question": question}
        yield json.dumps({**row, "label": label, "idx": number})
