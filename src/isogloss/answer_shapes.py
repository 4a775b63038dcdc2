r"""Answers in the shape language models give them: unwrap the answer, and split the rest into units.

Models wrap an answer in reasoning (`<think>…</think>`), tags (`<answer>…</answer>`), LaTeX (`\boxed{…}`), JSON, code
fences, lists and bold type, and introduce it ("Answer:", "Based on the passage, …"). The wrappings are the same in
every language; labels and introductions are a closed list per language (`answer_shapes.toml`), plus the English ones,
which models also write in other languages. Nothing is guessed: two different answers stay two units.

Every step passes over the text once, whatever the text is.
"""

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from importlib.resources import files
from typing import Any

from isogloss.grouping import group_by

# Strong spans that a unit keeps, and their maximum length; a decoded JSON text is read up to this length.
_MOST_SPANS, _LONGEST_SPAN, _LONGEST_JSON = 16, 400, 1 << 16
# Letters between the parts of a phrase, at most.
_LONGEST_GAP = 80
_THOUGHTS = re.compile(r"<(/?)(?:think|thinking|thought|reasoning|analysis)>", re.I)
_TAGS = re.compile(r"<(/?)(?:final[_ ]?)?answer>", re.I)
_FENCE = re.compile(r"^[ \t]*(?:```|~~~)[\w+-]*[ \t]*$", re.M)
_BOXED = re.compile(r"\\(?:boxed|fbox)\s*\{")
_LATEX = re.compile(r"\\(?:text|textbf|textit|mathrm|mathbf|emph)\s*\{([^{}\\]*)\}")
_MATHS = re.compile(r"\$\$?|\\[()\[\]]")
_BREAK = re.compile(r"<br\s*/?>", re.I)
_MARK = re.compile(r"\*{1,3}|(?<!\w)_{1,3}(?=\S)|(?<=\S)_{1,3}(?!\w)|`+|~~|</?(?:b|strong|i|em|u|code|mark)>", re.I)
_LIST = re.compile(r"(?:[-*•·–—+]|#{1,6}|>+|\(?\d{1,3}[.)、．]|\(?[A-Za-z]\))(?:\s+|(?<=、)|(?<=．))")
_END = re.compile(r"(?<=[.!?。！？؟।۔။…;；])(?:[\"'”’»)」』]*)(?:\s+|(?<=[。！？]))")
_COLON = re.compile(r"\s*(?:[:：=]|[-–—](?=\s))\s*")
_EDGE = " \t\r\n\f\v\u200b\u200e\u200f\u2068\u2069\ufeff"
_KEYS = "answer label prediction response result output choice option category class answers"
_UNSPACED = frozenset({"zh", "ja", "th", "my"})


@dataclass(frozen=True)
class Unit:
    """A line of an answer, without marks, labels and introductions.

    Attributes:
        text: the text.
        explicit: True if the model marked it as its final answer: by a tag, a box, JSON, a label.
        strong: parts of the text in bold, italics or code.
    """

    text: str
    explicit: bool = False
    strong: tuple[str, ...] = ()


# Phrases by their first letter, the longest first.
_ByLetter = Mapping[str, Sequence[str]]


@dataclass(frozen=True, eq=False)
class _Phrases:
    """Phrases of one language: labels (before a colon), `answer_is` (before the answer), introductions; JSON keys."""

    labels: _ByLetter
    answer_is: _ByLetter
    introductions: _ByLetter
    keys: frozenset[str]
    spaced: bool


def answer_units(text: str, language: str) -> list[Unit]:
    """Return the units of a reply, in order; none if the reply has no answer.

    Args:
        text: a model's reply.
        language: two-letter code of the task's language; unknown ones use English phrases only.
    """
    text = without_thoughts(text)
    phrases = _phrases(language)
    wrapped, text = _tagged(text)
    units = [replace(unit, explicit=True) for inner in wrapped for unit in _text_units(inner, phrases)]
    return [*units, *_text_units(text, phrases)]


def sentence_units(text: str, language: str) -> list[Unit]:
    """Return the units of a reply as sentences, each without its label and introductions.

    What follows the first sentence of an explicit unit explains it, and is not explicit.
    """
    phrases = _phrases(language)
    units: list[Unit] = []
    for unit in answer_units(text, language):
        for number, sentence in enumerate(sentences(unit.text)):
            rest, explicit = _without_phrases(sentence, phrases)
            units.append(Unit(rest, explicit or (unit.explicit and number == 0), unit.strong))
    return units


def sentences(text: str) -> list[str]:
    """Split a unit into sentences."""
    return [sentence for sentence in map(str.strip, _END.split(text)) if sentence]


def without_thoughts(text: str) -> str:
    """Drop reasoning between tags; without the opening tag, drop all before the closing one; unclosed, the rest."""
    kept: list[str] = []
    depth, start = 0, 0
    for match in _THOUGHTS.finditer(text):
        if match[1]:
            if depth == 0:
                kept = []
            depth, start = max(0, depth - 1), match.end()
        else:
            if depth == 0:
                kept.append(text[start : match.start()])
            depth += 1
    return "" if depth else "".join([*kept, text[start:]])


def _tagged(text: str) -> tuple[list[str], str]:
    """Return the contents of answer tags, and the text outside them."""
    inside: list[str] = []
    outside: list[str] = []
    start, is_open = 0, False
    for match in _TAGS.finditer(text):
        (inside if is_open else outside).append(text[start : match.start()])
        start, is_open = match.end(), not match[1]
    (inside if is_open else outside).append(text[start:])
    return [inner for inner in inside if inner.strip()], "\n".join(outside)


def _text_units(text: str, phrases: _Phrases) -> Iterator[Unit]:
    text = _FENCE.sub("", text)
    decoded, text = _decoded(text, phrases)
    if decoded is not None:
        yield from (Unit(answer, explicit=True) for answer in decoded)
    boxed, text = _unboxed(text)
    yield from (replace(unit, explicit=True) for inner in boxed for unit in _lines(inner, phrases))
    yield from _lines(text, phrases)


def _decoded(text: str, phrases: _Phrases) -> tuple[list[str] | None, str]:
    """Return the answers of a JSON text, and the text before and after it."""
    stripped = text.strip(_EDGE)
    ends = {"{": "}", "[": "]", '"': '"'}
    first = min((at for at in map(stripped.find, "{[") if at >= 0), default=-1)
    first = 0 if stripped.startswith('"') and stripped.endswith('"') else first
    last = stripped.rfind(ends[stripped[first]]) if first >= 0 else -1
    if last <= first or last - first > _LONGEST_JSON:
        return None, text
    try:
        value = json.loads(stripped[first : last + 1])
    except (ValueError, RecursionError):
        return None, text
    answers = _answers_in(value, phrases)
    whole = first == 0 and last == len(stripped) - 1
    if answers is None or not (whole or isinstance(value, dict)):
        return None, text
    return answers, f"{stripped[:first]}\n{stripped[last + 1 :]}"


def _answers_in(value: Any, phrases: _Phrases) -> list[str] | None:
    """Return the answers of a decoded value: an object's answer-like key, or its only one; items of a list; a text."""
    if isinstance(value, dict):
        named = [each for key, each in value.items() if _key(key) in phrases.keys]
        values = named or (list(value.values()) if len(value) == 1 else [])
        lists = [_answers_in(each, phrases) for each in values]
        return [answer for answers in lists for answer in answers or ()] or None
    if isinstance(value, list):
        plain = [_answers_in(each, phrases) for each in value if not isinstance(each, list)]
        return [answer for answers in plain for answer in answers or ()] or None
    if isinstance(value, bool) or value is None:
        return None
    return [str(value)]


def _key(key: str) -> str:
    return key.lower().replace("_", " ").replace("-", " ").strip()


def _unboxed(text: str) -> tuple[list[str], str]:
    """Return the contents of LaTeX boxes, and the text with each box replaced by its content."""
    if "\\" not in text:
        return [], text
    boxed: list[str] = []
    parts: list[str] = []
    end = 0
    for match in _BOXED.finditer(text):
        if match.start() < end:
            continue  # inside the last box
        close = _closing(text, match.end())
        if close < 0:
            break
        parts += [text[end : match.start()], text[match.end() : close]]
        boxed.append(_plain_latex(text[match.end() : close]))
        end = close + 1
    plain = _plain_latex("".join([*parts, text[end:]]))
    return boxed, _MATHS.sub("", plain) if boxed else plain


def _closing(text: str, start: int) -> int:
    """Return the position of the brace that closes the one before `start`, or -1."""
    depth = 1
    for match in re.compile(r"[{}]").finditer(text, start):
        depth += 1 if match[0] == "{" else -1
        if not depth:
            return match.start()
    return -1


def _plain_latex(text: str) -> str:
    return _MATHS.sub("", _BOXED.sub("{", _LATEX.sub(r"\1", text))) if "\\" in text else text


def _lines(text: str, phrases: _Phrases) -> Iterator[Unit]:
    """Yield the lines without list marks, emphasis, labels and introductions."""
    labelled = False  # a label alone on its line belongs to the next one
    for line in _BREAK.sub("\n", text).splitlines():
        if not line or line.isspace():
            continue
        plain, strong = _unmarked(line)
        rest, explicit = _without_phrases(plain, phrases)
        if not rest.strip(_EDGE + ":：,，、"):
            labelled = labelled or explicit
            continue
        kept = tuple(span for span in strong if _without_phrases(span, phrases)[0].strip(_EDGE + ":："))
        yield Unit(rest, explicit or labelled, kept)
        labelled = False


def _unmarked(line: str) -> tuple[str, tuple[str, ...]]:
    """Return a line without list marks and emphasis, and its emphasised parts."""
    line = _without_list_marks(line.strip(_EDGE))
    if not _MARK.search(line):
        return line, ()
    pieces: list[str] = []
    strong: list[str] = []
    opened: dict[str, int] = {}
    end = 0
    for match in _MARK.finditer(line):
        pieces.append(line[end : match.start()])
        end, mark = match.end(), match[0].casefold().replace("/", "")
        since = opened.pop(mark, None)
        if since is None:
            opened[mark] = len(pieces)
        elif len(strong) < _MOST_SPANS:
            strong.append("".join(pieces[since:])[:_LONGEST_SPAN])
    pieces.append(line[end:])
    plain = _without_list_marks("".join(pieces).strip(_EDGE))
    return plain, tuple(span for span in strong if span.strip(_EDGE))


def _without_list_marks(line: str) -> str:
    for _ in range(3):  # a quoted list item, at most
        match = _LIST.match(line)
        if match is None:
            break
        line = line[match.end() :]
    return line


def _without_phrases(text: str, phrases: _Phrases) -> tuple[str, bool]:
    """Return a text without its label and introductions, and True if they say that it is the answer."""
    explicit = False
    for _ in range(3):  # "Based on the passage, the answer is: X"
        text = text.strip(_EDGE)
        bare = text.lstrip("\"'“«„「*")
        if label := _prefix(bare, phrases.labels, phrases.spaced):
            after = bare[label:]
            colon = _COLON.match(after)
            if colon or not after.strip(_EDGE):
                text, explicit = after[colon.end() :] if colon else "", True
                continue
        if phrase := _prefix(bare, phrases.answer_is, phrases.spaced):
            text, explicit = bare[phrase:].lstrip(_EDGE + ":：,，"), True
        elif phrase := _prefix(bare, phrases.introductions, phrases.spaced):
            text = bare[phrase:].lstrip(_EDGE + ":：,，、")
        else:
            break
    return text, explicit


def _prefix(text: str, known: _ByLetter, spaced: bool) -> int:
    """Return the length of the longest known phrase at the start of a text, 0 without one."""
    for phrase in known.get(text[:1].lower(), ()):  # not case-folded: that makes "ß" longer
        size = len(phrase)
        if text[:size].lower() == phrase and not (spaced and text[size : size + 1].isalpha()):
            return size
    return 0


@dataclass(frozen=True, eq=False)
class SilencePhrases:
    """Phrases by which a model says that it does not answer, compiled; they match texts in lower case.

    Attributes:
        refusals: it cannot answer, or does not understand.
        none_of_these: no option fits.
        apologies: beginnings of refusals.
        declines: signs of a refusal in a reply that says nothing else: a request for another text, an apology in any
            language.
    """

    refusals: re.Pattern[str]
    none_of_these: re.Pattern[str]
    apologies: re.Pattern[str]
    declines: re.Pattern[str]


@cache
def silence_phrases(language: str) -> SilencePhrases:
    """Return the phrases of a language and the English ones."""
    own = {name: _listed(name, language) for name in ("refusals", "none_of_these", "apologies", "declines")}
    # A model may apologise in a language that is neither the task's nor English.
    apologies = {phrase.lower() for table in _shipped().values() for phrase in table.get("apologies", ())}
    own["declines"] = sorted(apologies.union(own["declines"]), key=len, reverse=True)
    return SilencePhrases(*map(_pattern, own.values()))


def _pattern(phrases: Sequence[str]) -> re.Pattern[str]:
    """Compile phrases; "…" stands for a few words within a sentence."""
    # A phrase begins with a word, except in scripts without blanks and for endings: "n't". Alternatives that begin with
    # a letter are compared fast.
    inside = [phrase for phrase in phrases if phrase.startswith("n't") or not phrase[0].isascii()]
    words = [phrase for phrase in phrases if phrase not in inside]
    groups = [(r"\b", words), ("", inside)]
    alternatives = [before + f"(?:{'|'.join(map(_parts, some))})" for before, some in groups if some]
    return re.compile("|".join(alternatives) or r"(?!)")  # without phrases, nothing matches


def _parts(phrase: str) -> str:
    gap = rf"\b[^.!?]{{0,{_LONGEST_GAP}}}?\b"
    return gap.join(re.escape(part.strip()) for part in phrase.split("…")) + (r"\b" if phrase[-1].isascii() else "")


@cache
def _shipped() -> dict[str, dict[str, list[str]]]:
    import tomllib

    return tomllib.loads((files("isogloss") / "answer_shapes.toml").read_text(encoding="utf-8"))


@cache
def _of_prompts(language: str) -> dict[str, list[str]]:
    """Return the phrases written with the prompts of a language; its refusals include apologies, a weaker sign."""
    import tomllib

    file = files("isogloss") / "prompts" / "literals" / f"{language}.toml"
    if language == "en" or not language.isalpha() or not file.is_file():
        return {}
    replies = tomllib.loads(file.read_text(encoding="utf-8")).get("replies", {})
    refusals = replies.get("refusal", [])
    return {"apologies": refusals, "declines": refusals, "none_of_these": replies.get("none", [])}


def _listed(name: str, language: str) -> list[str]:
    """Return the phrases of a language and the English ones, in lower case, the longest first."""
    tables = [_shipped().get("en", {}), _shipped().get(language, {}), _of_prompts(language)]
    return sorted({phrase.lower() for table in tables for phrase in table.get(name, ())}, key=len, reverse=True)


@cache
def _phrases(language: str) -> _Phrases:
    def merged(name: str) -> _ByLetter:
        return group_by(_listed(name, language), lambda phrase: phrase[0])

    labels = merged("labels")
    keys = frozenset(_KEYS.split()).union(*labels.values())
    spaced = language not in _UNSPACED
    return _Phrases(labels, merged("answer_is"), merged("introductions"), keys, spaced=spaced)
