"""Labels named in the sentences of a reply, and what the sentences say of them.

A label counts where a sentence asserts it: after a frame such as "related to" or "falls under the category of", at the
beginning of a clause, or as the whole sentence. A label that only occurs ("as it mentions travel between countries",
"travel restrictions") is not an answer. Words that deny or doubt a label apply within their clause. Sentences in other
languages than English have no frames here: a label counts in them by its place.
"""

import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from enum import Enum, auto
from functools import cache
from typing import NamedTuple

from isogloss.grammar.file import CODES, grammar

# Scripts without blanks between words: each character is a word.
_UNSPACED = r"\u0e01-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u9fff"
# A word has no blanks and no punctuation but apostrophes and hyphens within; vowel signs belong to it.
_LETTER = rf"[^\s{_UNSPACED}!-/:-@\[-^`{{-~¡-¿‐-‧‹-⁞\u3000-\u303f。！？，：；（）।۔،؛؟\u0f0b-\u0f0d]"
_WORD = re.compile(rf"[{_UNSPACED}]|{_LETTER}+(?:['’‑-]{_LETTER}+)*|[/&+,;:()=—–]")
_QUOTED = re.compile(r"[\"“”„«'‘]([^\"“”„«»'‘’\n]{2,60})[\"“”»'’]")
_ONLY = re.compile(r"\bnot (?=(?:only|just|merely|simply|solely)\b)", re.I)
# Longer sentences in other languages than English are not read.
_LONGEST_FOREIGN = 150
# Labels named together by a reply that has this many recite the options.
RECITAL = 4
# Words between a frame and a label, at most, and between a frame and "… or" before a label.
_GAP = 6


class Says(Enum):
    """Verdict of a sentence on a label."""

    YES = auto()
    NO = auto()
    MAYBE = auto()  # possibly, or as one of two


class Mention(NamedTuple):
    """A label in a sentence; `main` is False in an explanation ("as it discusses …")."""

    label: str
    says: Says
    main: bool


class _Clause(NamedTuple):
    words: list[str]
    main: bool  # not an explanation
    begins: bool  # the sentence, or a contrast: a label alone may stand there


class _Frame(NamedTuple):
    """Words that assert the label after them."""

    tells: bool  # they tell the contents: "talks about travel"
    sorts: bool  # they name the category, even in an explanation: "which falls under travel"
    joined: str  # the word between something else and the label: "and" of "media and technology"


def _set(words: str) -> frozenset[str]:
    return frozenset(words.split())


_CONTRASTS = _set("but however although though yet nevertheless ; — –")
_EXPLAINS = _set(
    "because since considering specifically namely particularly especially which where given due based who ("
)
_CONCLUSIONS = _set("so therefore thus hence then")
_SUBJECTS = _set("it it's this that the i i'm i'd they there") | _CONCLUSIONS
_VERBS = _set(
    "seems appears is it's falls can could may might would relates pertains belongs looks deals discusses mentions"
    " talks"
)
_DETERMINERS = _set(
    "it it's its the this that these those they there he she we i a an both evidenced indicated mentioned"
)
_DENIALS = _set(
    "not no none neither nor never cannot without unable impossible difficult unclear unlikely hard challenging"
    " rather instead insufficient unrelated"
)
_DENY_BEFORE = _set("not cannot neither never unlikely impossible")  # deny a label that stands before them
_HEDGES = _set("possibly potentially perhaps maybe might could may either guess assume assuming unless loosely if")
_CONDITIONS = _set("if depending assuming unless")
_GUESSES = _HEDGES - {"could"}
_SORTED = _set("categorized categorised classified considered categorize classify")
_EITHER = _set("or / vs versus")
_JOINED = _set("and & + plus , or / vs versus")
# Words that may stand between a frame and its label.
_FILLERS = _set(
    "the a an category categories of topic topics field fields area areas subject subjects realm domain domains theme"
    " case both either mainly primarily mostly likely probably possibly potentially perhaps maybe more most general"
    " broad broader one news section also closely directly specifically clearly strongly best"
)
# Words that may follow a label without turning it into a part of another noun: "sports as it …", not "travel agencies".
_FOLLOWS = _set(
    "as and or & / because since based due in on at with given considering rather but if which that for from by to of"
    " about while when where who is was would will can could may might also too here overall then however"
    " although though category categories topic topics section sections field domain area industry sector news article"
    " issues matters related specifically particularly especially possibly potentially perhaps more instead not per"
    " according depending without within between best most well only alone than nor whether sentiment tone label class"
    " option answer"
)
_FRAMES = _set(
    "regarding regards concerning concerns about under as is are was be being it's that's : = discussing describing"
    " covers involves involve fit fits match matches choose chose pick select say than"
    " expresses conveys"
)
# Frames of two words: the second one, by the beginning of the first.
_PREPOSITIONS = {
    "to": ("relat", "pertain", "belong", "refer", "connect", "link", "tie", "devot", "assign"),
    "in": ("fall", "fit", "categor", "classif", "belong", "plac", "best"),
    "into": ("fall", "fit", "categor", "classif", "plac", "go"),
    "within": ("fall", "fit", "categor", "classif", "belong"),
    "with": ("deal", "associat", "concern", "go", "align"),
    "of": ("instead",),
    "on": ("focus", "center", "centre", "touch"),
    "for": ("label", "answer"),
    "discuss": ("to",),
}
# "Talks about travel" tells the contents, not the category.
_TELLS = _set("talks talking talk information statement sentence details mention mentions question speaks speaking")
_NEVER = ("\0",)
# Words before a label that stands alone in its clause: "…, so health", "…, not travel".
_ALONE = _CONCLUSIONS | {",", "and", "not"}
# Words that begin another statement, by the word before.
_OPENED_BY = {
    ",": _SUBJECTS | {"not"},
    "and": _SUBJECTS | _VERBS | {"not"},
    "rather": {"than"},
    "instead": {"of"},
}
_REQUESTS = (("please",), ("could", "you"), ("can", "you"), ("would", "you"), ("if", "you"), ("let", "me"), ("kindly",))
_ENGLISH = _set("the this it it's that they there and not seems appears related regarding i i'm article")


def words_of(text: str) -> list[str]:
    """Return the words of a text in lower case, with the punctuation that separates clauses and items."""
    return [word.replace("’", "'") for word in _WORD.findall(text.casefold())]


class LabelNames:
    """Names of a task's labels, to find in sentences.

    Args:
        spellings: labels by spelling, in lower case.
        language: language of the task, for its negations.
    """

    def __init__(self, spellings: Mapping[str, str], language: str) -> None:
        spoken = {tuple(words_of(spelling)): label for spelling, label in spellings.items()}
        # A digit or letter in a sentence may mean anything.
        self._named = {words: label for words, label in spoken.items() if len("".join(words)) > 1}
        self._sizes = sorted({len(words) for words in self._named}, reverse=True)
        self._negations = _negations(language)
        self._knows_negations = language in CODES and language != "en"

    def mentions(self, sentence: str, *, doubtful: bool, short: bool) -> list[Mention]:
        """Return the labels that a sentence asserts, denies or doubts.

        Args:
            sentence: a sentence; a request names no answer.
            doubtful: True if the reply doubts its own answer, so that "could be categorized as" is a guess.
            short: True if the reply has few sentences, so that a label at the edge of one is not an item of a list.
        """
        words = words_of(_ONLY.sub(" ", sentence))
        if any(tuple(words[: len(request)]) == request for request in _REQUESTS):
            return []
        if _ENGLISH.isdisjoint(words):
            return self._foreign(words) if short and len(sentence) <= _LONGEST_FOREIGN else []
        conditional = words[0] in _CONDITIONS  # "If it reports a match, it is about sports."
        mentions: list[Mention] = []
        for clause in _clauses(words):
            for mention in self._in_clause(clause, doubtful=doubtful):
                guessed = conditional and mention.says is Says.YES
                mentions.append(mention._replace(says=Says.MAYBE) if guessed else mention)
        return [] if _recites(mentions) else mentions

    def quoted(self, text: str) -> set[str]:
        """Return the labels that stand in quotes, as names of categories do."""
        inside = (tuple(words_of(match[1])) for match in _QUOTED.finditer(text))
        return {self._named[words] for words in inside if words in self._named}

    def denied(self, sentence: str) -> bool:
        """Return True if a sentence denies labels one after the other, as many as are not an answer."""
        words = words_of(sentence)
        labels = {self._named[tuple(words[start:end])] for start, end in self._places(words)}
        return len(labels) >= RECITAL and any(map(self._is_denial, words))

    def _places(self, words: Sequence[str]) -> Iterator[tuple[int, int]]:
        """Yield the places of labels, the longest first."""
        taken = 0
        for start in range(len(words)):
            for end in (start + size for size in self._sizes if start >= taken):
                if end <= len(words) and tuple(words[start:end]) in self._named:
                    yield start, end
                    taken = end
                    break

    def _is_denial(self, word: str) -> bool:
        return _denies(word) or word in self._negations

    def _in_clause(self, clause: _Clause, *, doubtful: bool) -> Iterator[Mention]:
        words, places = clause.words, list(self._places(clause.words))
        label_at = {start: self._named[tuple(words[start:end])] for start, end in places}
        ends = {end: start for start, end in places}
        denied = hedged = False
        read_to = 0
        frames: dict[int, _Frame] = {}
        for start, end in places:
            if "whether" in words[read_to:start]:
                break  # a question within the sentence
            denied = denied or any(map(_denies, words[read_to:start]))
            hedged = hedged or _is_hedged(words[read_to:start], doubtful=doubtful)
            read_to = end
            beside = _joint(words, start, ends)
            frame = frames.get(beside) if beside is not None else _frame(clause, start)
            if frame is None and frames and words[start - 1] in _JOINED:  # an item of a list that has begun
                frame = next(reversed(frames.values()))
            if frame is None or not _ends_well(words, end, label_at):
                continue
            frames[start] = frame
            if denied or _denies_before(words, end):
                says = Says.NO
            else:
                # "And" asserts both, but not in a reply that calls its own answer uncertain.
                mixed = doubtful and (frame.joined or words[end : end + 1] == ["and"]) and beside is None
                conditional = not _CONDITIONS.isdisjoint(words[end : end + 2])
                is_open = hedged or mixed or conditional or _either(words, start, end, label_at, ends)
                says = Says.MAYBE if is_open else Says.YES
            is_main = clause.main or "also" in words[max(0, start - _GAP) : start]
            yield Mention(label_at[start], says, frame.sorts or (is_main and not frame.tells))

    def _foreign(self, words: list[str]) -> list[Mention]:
        """Return the labels of a sentence in another language if one is at an edge or its negations are known."""
        places = list(self._places(words))
        if not self._knows_negations and all(start > 0 and end < len(words) for start, end in places):
            return []
        denied = any(map(self._is_denial, words)) or any(
            tuple(words[at : at + len(negation)]) == negation
            for negation in map(tuple, map(words_of, self._negations))
            for at in range(len(words))
            if len(negation) > 1
        )
        hedged = not _HEDGES.isdisjoint(words)
        mentions: list[Mention] = []
        for start, end in places:
            is_open = hedged or not _EITHER.isdisjoint((*words[max(0, start - 1) : start], *words[end : end + 1]))
            says = Says.NO if denied else Says.MAYBE if is_open else Says.YES
            mentions.append(Mention(self._named[tuple(words[start:end])], says, main=True))
        return [] if _recites(mentions) else mentions


def _denies(word: str) -> bool:
    """Return True for a word that denies in English; "hindi" denies only in Tagalog."""
    return word in _DENIALS or word.endswith("n't")


def _recites(mentions: Collection[Mention]) -> bool:
    """Return True if a sentence names so many labels that it repeats the options."""
    return len({mention.label for mention in mentions if mention.says is not Says.NO}) >= RECITAL


def _clauses(words: list[str]) -> Iterator[_Clause]:
    """Split a sentence where another statement or an explanation begins."""
    start, main, begins = 0, True, True
    for at, word in enumerate(words):
        following = words[at + 1] if at + 1 < len(words) else ""
        before = words[at - 1] if at else ""
        opens: bool | None = None
        if word in _CONTRASTS or word == ")":
            opens = True
        elif word in _EXPLAINS or (word == "as" and (before == "," or following in _DETERMINERS)):
            opens = False
        elif following in _OPENED_BY.get(word, ()):
            opens = True
        if opens is not None:
            yield _Clause(words[start:at], main, begins)
            start = at + (word in _CONTRASTS or word in ("(", ")"))
            main, begins = opens, word in _CONTRASTS or (word in _OPENED_BY and following in _ALONE)
    yield _Clause(words[start:], main, begins)


def _is_hedged(before: Sequence[str], *, doubtful: bool) -> bool:
    """Return True if the words before a label make it a guess; "could be categorized under" is a way of asserting."""
    if not _GUESSES.isdisjoint(before):
        return True
    return "could" in before and (doubtful or _SORTED.isdisjoint(before))


def _frame(clause: _Clause, start: int) -> _Frame | None:
    """Return the frame before a label, None without one; the beginning of a statement is one."""
    words = clause.words
    if clause.begins and start <= _GAP and all(word in _FILLERS or word in _ALONE for word in words[:start]):
        return _Frame(tells=False, sorts=False, joined="")
    at, joined = start - 1, ""
    lowest = max(-1, start - 1 - _GAP)
    while at > lowest:
        word, before = words[at], words[at - 1] if at else ""
        if (word in _FRAMES and before != "such") or before.startswith(_PREPOSITIONS.get(word, _NEVER)):
            return _Frame(tells=before in _TELLS, sorts=word == "under" or before.startswith("categor"), joined=joined)
        if word in _JOINED and word != "," and not joined:
            joined = word
        elif word in _JOINED or (word not in _FILLERS and not joined):
            return None
        at -= 1
    return None


def _joint(words: Sequence[str], start: int, ends: Mapping[int, int]) -> int | None:
    """Return the start of the label that "and", "or" or a comma joins with this one."""
    at = start - 1
    joined = False
    while at >= 0 and at >= start - _GAP:
        if at + 1 in ends:
            return ends[at + 1] if joined else None
        if words[at] in _JOINED or words[at] in ("well", "as"):
            joined = True
        elif words[at] not in _FILLERS and words[at] not in ("even", "to", "related", "about"):
            return None
        at -= 1
    return None


def _ends_well(words: Sequence[str], end: int, starts: Collection[int]) -> bool:
    """Return True if a label is not the first part of another noun."""
    return end >= len(words) or words[end] in _FOLLOWS or words[end] in ",;:)(=—–&+" or end in starts


def _either(words: Sequence[str], start: int, end: int, label_at: Mapping[int, str], ends: Mapping[int, int]) -> bool:
    """Return True if a label stands beside an "or" with something else on the other side."""
    label = label_at[start]
    if end < len(words) and words[end] in _EITHER and label_at.get(end + 1) != label:
        return True
    before = start - 1
    while before >= max(0, start - _GAP) and words[before] in _FILLERS:
        before -= 1
    if before < 0 or words[before] not in _EITHER:
        return False
    other = ends.get(before)
    return other is None or label_at[other] != label


def _denies_before(words: Sequence[str], end: int) -> bool:
    """Return True if the words after a label deny it: "sports is not the topic"."""
    return any(word in _DENY_BEFORE or word.endswith("n't") for word in words[end : end + 3])


@cache
def denials(language: str) -> frozenset[str]:
    """Return the words that deny or doubt an answer, in English and in a language."""
    return _DENIALS | _negations(language)


@cache
def _negations(language: str) -> frozenset[str]:
    own = grammar(language).file.negations if language in CODES else ()
    return frozenset(word.casefold() for word in own)
