"""Whether right answers are scored right, and wrong ones wrong: each question is answered in every natural way.

A right answer is minimal (the shortest form of the word asked for, and what is left of the span when the words that the
question says already are taken off), full (the span of the context), or a whole sentence. Wrong are the same answers of
the other person or thing of the case, and the sentence about another one of its kind.
"""

from collections.abc import Iterator, Mapping
from itertools import islice

from isogloss.checklist.fair_answers import fair_reader, is_right
from isogloss.grammar.cases import PEOPLE, AskedQuestion, ChecklistCase, ChecklistExample, examples, fillers, templates
from isogloss.grammar.file import Grammar
from isogloss.grammar.words import Word

# The ways in which a perfect reader answers.
WAYS = ("minimal", "full", "sentence")


def right_answers(example: ChecklistExample, language: str) -> dict[str, str]:
    """What a perfect reader says, by the way it is said; "repeated" is the span without what the question says."""
    said = {
        "minimal": min(example.accepted, key=len),
        "full": example.answer,
        "sentence": example.sentence,
    }
    rest = _without_repetition(example.answer, example.question, language)
    return said | ({"repeated": rest} if rest else {})


def _without_repetition(answer: str, question: str, language: str) -> str:
    """The answer without the words at its edges that are in the question; empty where none is, or nothing is left."""
    reader = fair_reader(language)
    if not reader.segmented:
        return ""
    words, asked = answer.split(), set(reader.tokens(question))

    def is_repeated(word: str) -> bool:
        return asked.issuperset(reader.tokens(word))

    while words and is_repeated(words[0]):
        words.pop(0)
    while words and is_repeated(words[-1]):
        words.pop()
    shorter = " ".join(words)
    return shorter if shorter != answer else ""


def answer_defects(case: ChecklistCase, speaker: Grammar) -> Iterator[tuple[str, str, str]]:
    """Answers to the case that are scored wrongly, as (id of the example, kind of finding, detail)."""
    _, questions = templates(case, speaker)
    asked = list(islice(examples(case, speaker), len(questions)))  # the first context is enough: answers do not look at it
    words = fillers(case, speaker)
    for number, example in enumerate(asked):
        for way, said in right_answers(example, speaker.code).items():
            if not _accepts(example, said, speaker.code):
                yield example.id, "refused", f"{way} answer {said!r} to {example.question!r}"
        others = [each for place, each in enumerate(asked) if place != number]
        wrong = [said for other in others for said in (*other.accepted, other.sentence)]
        wrong += _others_in_sentence(questions[number], case, words, speaker)
        for said in wrong:
            if _accepts(example, said, speaker.code):
                yield example.id, "taken", f"wrong answer {said!r} to {example.question!r}"


def _accepts(example: ChecklistExample, said: str, language: str) -> bool:
    return is_right(said, example.accepted, language, example.question, example.sentence)


def _others_in_sentence(
    asked: AskedQuestion, case: ChecklistCase, words: Mapping[str, Word], speaker: Grammar
) -> Iterator[str]:
    """The whole sentence about everybody or everything else of the kind that is asked for."""
    lexicon = case.lexicon(asked.slot)
    if asked.slot in PEOPLE:
        swapped = {"a": words.get("b", words["a"]), "b": words["a"]}
        if "b" in words:
            yield speaker.say(asked.sentence, {**words, **swapped})
        return
    for other in speaker.lexicons[lexicon].values():
        if other is not words[asked.slot]:
            yield speaker.say(asked.sentence, {**words, asked.slot: other, lexicon: other})
