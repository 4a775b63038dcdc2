"""Correctness of an answer: by the paper's rule, and by a fair one.

`paper` is the released scorer: articles of the language become a blank, some end characters are stripped, the rest must
be identical. `fair` accepts what a reader of the language would: any form of the answer word ("stone" for "made of
stone"), Unicode-normalised and case-folded, without articles, classifiers and end marks, with attached affixes; and a
sentence with one of them and no other word of its kind ("The key is made of stone."). A sentence may repeat the
question, contain function words of the language, and repeat what the context says about the correct answer. It may not
negate the answer, nor answer the opposite question.
"""

from collections.abc import Iterator, Sequence
from contextlib import suppress
from functools import cache, cached_property, lru_cache
from itertools import chain

from isogloss.answer_shapes import Unit, answer_units, sentences
from isogloss.checklist.answer_text import AnswerText, Tokens
from isogloss.checklist.paper_rule import cleaned
from isogloss.checklist.right_answer import RightAnswer, sentences_of
from isogloss.checklist.sentence_frame import CaseWords, SentenceFrame, places
from isogloss.errors import unknown
from isogloss.grammar.file import CODES, Grammar, grammar
from isogloss.grammar.templates import GrammarError
from isogloss.grouping import group_by

MODES = ("paper", "fair")

# Maximum length of an answer in letters; longer texts do not answer any question of the checklist.
LONGEST = 400
_MOST_UNITS = 12
# Results for a case are needed again only by its next examples and answers.
_REMEMBERED_CASES = 1 << 6
_PUNCTUATION = ".,;:!?。、！？।۔။؟\"'«»“”„()"


class FairRule:
    """The fair rule in one language, as written or as typed in one of its spelling classes."""

    def __init__(self, speaker: Grammar, spelling: str = "") -> None:
        file = speaker.file
        self.spelling = spelling
        self._speaker = speaker
        self.text = AnswerText(file, file.spelling_classes.get(spelling))
        self._forms = speaker.answer_forms
        self.negations = tuple(map(self.text.tokens, file.negations))
        always = (*file.articles, *file.classifiers, *file.prefixes, *file.particles, *file.sentence_words)
        tokens = map(self.text.tokens, always)
        self.always = frozenset(
            token for words in tokens for token in (words if self.text.segmented else ["".join(words)]) if token
        )
        self.always_by_letter = group_by(self.always, lambda word: word[0])
        self.own_words = {word: word for word in self.always}
        self.articles = frozenset(
            token for word in (*file.articles, *file.classifiers) for token in self.text.tokens(word)
        )
        self._bare_forms = lru_cache(1 << 14)(lambda forms: frozenset(map(self.text.bare, forms)))
        self._frames = lru_cache(_REMEMBERED_CASES)(self._frame)
        self.own_sentence = lru_cache(_REMEMBERED_CASES)(self._own_sentence)
        self.stems = lru_cache(1 << 12)(lambda token: tuple(self.text.stems(token)))
        self._forms_of_repeated = lru_cache(1 << 13)(self._repeated_word)
        self._mentions = lru_cache(_REMEMBERED_CASES)(self._answers_of)
        self._first_words = lru_cache(1 << 12)(self._first_words_of)
        self._vocabulary = lru_cache(_REMEMBERED_CASES)(self._words_in)
        self._changed_words = lru_cache(_REMEMBERED_CASES)(self._words_changed_from)
        self._rejected = lru_cache(1 << 12)(self._rejections_of)
        self._quotes = lru_cache(_REMEMBERED_CASES)(self._quotes_of)
        self._accepts_anywhere = lru_cache(_REMEMBERED_CASES)(self._all_hold)
        self.case_words = lru_cache(_REMEMBERED_CASES)(self._case_words)

    def is_one_of(self, text: str, accepted: tuple[str, ...]) -> bool:
        """Return True if the text itself is an accepted answer."""
        if len(text) > LONGEST:
            return False
        bare = self.text.bare(text)
        right = self._bare_forms(accepted)
        return bool(bare) and (bare in right or any(self.text.has_attached(bare, form) for form in right))

    def is_right(self, text: str, right: RightAnswer) -> bool:
        """Return True if the text is a correct answer in any shape and spelling."""
        return self.accepted_as(text, right) is not None

    def accepted_as(self, text: str, right: RightAnswer) -> str | None:
        """Return the spelling class of a correct answer, "" as written; None for a wrong answer."""
        plain = text.rstrip(".") if len(text) <= LONGEST else ""
        if plain in right.accepted:
            return ""
        if plain in right.wrong:
            return None
        units = tuple(answer_units(text, self._speaker.code))
        if not units or len(units) > _MOST_UNITS or any(len(unit.text) > LONGEST for unit in units):
            return None
        if self.accepts(units, right):
            return ""
        typed = (rule for rule in self._typed if rule._may_accept(units, right, self) and rule.accepts(units, right))
        return next((rule.spelling for rule in typed), None)

    @cached_property
    def _typed(self) -> list["FairRule"]:
        """The rule in each spelling class of the language."""
        return [FairRule(self._speaker, spelling) for spelling in self._speaker.file.spelling_classes]

    def _may_accept(self, units: Sequence[Unit], right: RightAnswer, plain: "FairRule") -> bool:
        """Return True if this spelling class changes the answer, or a word that the answer has."""
        text = "\n".join([self.text.folded(unit.text) for unit in units])
        if not self.text.segmented or text != "\n".join([plain.text.folded(unit.text) for unit in units]):
            return True
        return any(word in text for word in self._changed_words(right, plain))

    def _words_changed_from(self, right: RightAnswer, plain: "FairRule") -> frozenset[str]:
        answers = (*right.accepted, *(form for other in right.wrong for form in plain.all_forms(other)))
        others = (right.context, right.question, right.sentence, right.opposite, *right.also, *right.true, *right.than)
        changed = (self._vocabulary(known) - plain._vocabulary(known) for known in (*answers, *others))
        return (self._own_vocabulary - plain._own_vocabulary).union(*changed)

    @cached_property
    def _own_vocabulary(self) -> frozenset[str]:
        return self.always.union(*map(self.text.tokens, self._speaker.file.rejections))

    def _words_in(self, text: str) -> frozenset[str]:
        return frozenset((*self.text.tokens(text), *(form for form, _ in self.repeated_forms(text))))

    def accepts(self, units: tuple[Unit, ...], right: RightAnswer) -> bool:
        """Return True if the units are a correct answer.

        Most are in any context, so the contexts of a case share this verdict, except on quotes. What the context says
        adds to it only for answers that name the right one.
        """
        text = "\n".join([self.text.folded(unit.text) for unit in units])
        text = text if self.text.segmented else "".join(text.split())
        if not any(answer in text for answer in self._mentions(right.accepted, right.wrong)):
            return False
        is_named = any(word in text for word in self._first_words(right.accepted))
        anywhere = right._replace(context="")
        if not is_named and not (right.also and self.case_words(anywhere).contrasts):
            return False
        if self.spelling and self._is_ambiguous(right):
            return False
        quotes = self._quotes(right.context)
        quoted = any(self.text.tokens(part) in quotes for unit in units for part in (unit.text, *sentences(unit.text)))
        if not quoted and self._accepts_anywhere(units, anywhere):
            return True
        return is_named and self._all_hold(units, right)

    def _all_hold(self, units: tuple[Unit, ...], right: RightAnswer) -> bool:
        """Return True if some unit is right, and every other one right, true, or quoted from the context.

        What is quoted decides only alone: the sentence about the answer does, both sentences do not.
        """
        frame = self._frames(right)
        verdicts: list[str] = []
        for unit in units:
            if any(self._names_another(span, frame) for span in unit.strong):
                return False
            verdicts += self._verdicts(unit.text, frame)
        if "wrong" in verdicts:
            return False
        return "right" in verdicts or set(verdicts) == {"answering quote"}

    def _answers_of(self, accepted: tuple[str, ...], wrong: tuple[str, ...]) -> list[str]:
        """Return the first words of the right and wrong answers: a text without any of them answers nothing."""
        return self._first_words((*accepted, *(form for other in wrong for form in self.all_forms(other))))

    def _first_words_of(self, forms: tuple[str, ...]) -> list[str]:
        tokens = [self.text.tokens(form) for form in forms]
        words = (form[0] if self.text.segmented else "".join(form) for form in tokens if form)
        return list(dict.fromkeys(words))

    def _case_words(self, right: RightAnswer) -> CaseWords:
        others = [self.text.tokens(form) for other in right.wrong for form in self.all_forms(other)]
        named = {text: self.text.tokens(text) for text in right.also}
        alone = [text for text, tokens in named.items() if not any(self.has(tokens, other) for other in others)]
        people = (*others, *map(self.text.tokens, right.accepted))
        compared = [phrase for phrase in map(self.text.tokens, right.than) if phrase not in people]
        return CaseWords(others, alone, [text for text in right.also if text not in alone], compared)

    def _is_ambiguous(self, right: RightAnswer) -> bool:
        """Return True if this spelling class does not distinguish the answer from another word or person."""
        plain = fair_rule(self._speaker.code)
        forms = self._bare_forms(right.accepted)
        if forms & self._bare_forms(right.wrong):
            return True
        shared = {pair for form in forms for pair in self.words.get(form, ())}
        known = {pair for form in right.accepted for pair in plain.words.get(plain.text.bare(form), ())}
        lexicons = {lexicon for lexicon, _ in known} - {"name"}
        return any(lexicon in lexicons for lexicon, _ in shared - known)

    def _names_another(self, text: str, frame: SentenceFrame) -> bool:
        """Return True if a text in bold names another answer and not the right one."""
        if len(text) > LONGEST or self._is_right_alone(text, frame):
            return False
        tokens = self.text.tokens(text)
        return any(self.has(tokens, other) for other in frame.others)

    def _verdicts(self, text: str, frame: SentenceFrame) -> list[str]:
        """Return the verdict on a unit, or on each of its sentences."""
        verdict = self._verdict(text, frame)
        parts = sentences(text)
        if verdict != "wrong" or len(parts) < 2:
            return [verdict]
        return [self._verdict(part, frame) for part in parts]

    def _verdict(self, text: str, frame: SentenceFrame) -> str:
        """Return "right", "quote", "answering quote", "true" or "wrong"."""
        tokens, right = self.text.tokens(text), frame.right
        if right.asks(text):
            return "true" if tokens == self.text.tokens(right.question) else "wrong"
        is_right = self._is_right_alone(text, frame) or self._rejects_another(text, frame)
        if tokens and tokens in self._quotes(right.context):
            return "answering quote" if is_right else "quote"
        if is_right or self._follows(tokens, frame):
            return "right"
        is_another = any(self.is_one_of(text, self.all_forms(other)) for other in right.wrong)
        return "true" if not is_another and frame.says_any(tokens, right.true) else "wrong"

    def _is_right_alone(self, text: str, frame: SentenceFrame) -> bool:
        """Return True if a text is the answer, or a sentence with it."""
        tokens = self.text.tokens(text)
        if self.is_one_of(text, frame.right.accepted):
            return not frame.compared_in(tokens, 0, len(tokens))
        if frame.names_answer(tokens) and self._is_framed(tokens, frame):
            return True
        return frame.says_any(tokens, frame.contrasts)

    def _is_framed(self, tokens: Tokens, frame: SentenceFrame) -> bool:
        """Return True if the tokens are a right sentence that names nothing else of the kind."""
        for form in frame.forms:
            for start, end in self.text.spans(tokens, form):
                if frame.compared_in(tokens, start, end) or not frame.allows(tokens, start, end):
                    continue
                others = self._others_in(" ".join(tokens), frame)
                spans = (span for other in others for span in self.text.spans(tokens, other))
                if all(start <= begins and ends <= end for begins, ends in spans):
                    return True
        return False

    def _follows(self, tokens: Tokens, frame: SentenceFrame, clauses: int = 2) -> bool:
        """Return True if true sentences, or those of the context, precede or follow the answer in one sentence."""
        if not frame.names_answer(tokens):
            return False
        words = frame.canonical(tokens)
        kept = [at for at, word in enumerate(words) if not self.text.segmented or word not in frame.ignored]
        spoken_words = tuple([words[at] for at in kept])
        for wanted, compared in chain.from_iterable(map(frame.wanted, frame.true)):
            for begins, ends in places(spoken_words, wanted) if 1 < len(wanted) < len(spoken_words) else ():
                start, end = kept[begins], kept[ends - 1] + 1
                rest = tokens[:start] + tokens[end:]
                if frame.compared_in(words, start, end) == compared and (
                    self._is_framed(rest, frame) or (clauses > 1 and self._follows(rest, frame, 1))
                ):
                    return True
        return False

    def _rejects_another(self, text: str, frame: SentenceFrame) -> bool:
        """Return True if a text is right without a rejected answer: "not Bea but Ann"."""
        tokens, blank = self.text.tokens(text), " " if self.text.segmented else ""
        if not self._speaker.file.rejections or not frame.names_answer(tokens):
            return False
        joined = blank.join(tokens)
        for other in dict.fromkeys((*self._others_in(" ".join(tokens), frame), *frame.others)):
            for template, rejected in self._rejected(other) if blank.join(other) in joined else ():
                for start, end in places(tokens, rejected):
                    answers = (span for form in frame.forms for span in self.text.spans(tokens, form))
                    is_answer = any(begins < end and ends > start for begins, ends in answers)
                    if not is_answer and self._is_framed(tokens[:start] + tokens[end:], frame):
                        # "Ann. No, Bea." corrects itself.
                        return not self.text.pauses_before(template, blank.join(other), text)
        return False

    def _rejections_of(self, other: Tokens) -> list[tuple[str, Tokens]]:
        """Return the templates that reject an answer, each with its words for this answer."""
        word = (" " if self.text.segmented else "").join(other)
        templates = self._speaker.file.rejections
        return [(template, self.text.tokens(template.replace("{x}", word))) for template in templates]

    def _frame(self, right: RightAnswer) -> SentenceFrame:
        first_words = self._first_words(right.accepted)
        return SentenceFrame(self, right, [self.text.tokens(answer) for answer in right.accepted], first_words)

    def _quotes_of(self, context: str) -> frozenset[Tokens]:
        """Return the words of a context, and of each of its sentences."""
        texts = (context, *sentences_of(context, self.text.segmented))
        return frozenset(self.text.tokens(text) for text in texts if text)

    def _own_sentence(self, right: RightAnswer) -> str:
        """Return the sentence of the context with the answer and without other answers, or ""."""
        for sentence in right.sentences(self.text.segmented):
            tokens = self.text.tokens(sentence)
            others = map(self.text.tokens, right.wrong)
            if self.has(tokens, self.text.tokens(right.accepted[0])) and not any(self.has(tokens, it) for it in others):
                return sentence
        return ""

    def has(self, tokens: Tokens, wanted: Tokens) -> bool:
        """Return True if the tokens contain the wanted ones, possibly with attached affixes."""
        return any(True for _ in self.text.spans(tokens, wanted))

    def repeated_forms(self, text: str) -> Iterator[tuple[str, str]]:
        """Yield further forms of the words of a text, with the words, by the rules for repeated words."""
        for word in text.split() if self._speaker.file.repeated else ():
            yield from self._forms_of_repeated(word)

    def _repeated_word(self, word: str) -> list[tuple[str, str]]:
        tokens = self.text.tokens(word)
        if len(tokens) != 1:
            return []
        derived = (self._derived(name, word.strip(_PUNCTUATION)) for name in self._speaker.file.repeated)
        forms = (self.text.tokens(form) for form in derived if form)
        return [(form[0], tokens[0]) for form in forms if len(form) == 1]

    def derived_texts(self, text: str) -> Iterator[str]:
        """Yield the text as changed by each of these rules, for scripts without word boundaries."""
        for name in self._speaker.file.repeated:
            if form := self._derived(name, text):
                yield form

    def _derived(self, name: str, text: str) -> str | None:
        with suppress(GrammarError):
            return self._speaker.rules[name](text)
        return None

    @cached_property
    def words(self) -> dict[str, list[tuple[str, str]]]:
        """Words as (lexicon, concept), by bare form."""
        index: dict[str, list[tuple[str, str]]] = {}
        for lexicon, words in self._forms.items():
            for concept, forms in words.items():
                for form in self._bare_forms(forms):
                    index.setdefault(form, []).append((lexicon, concept))
        return index

    def all_forms(self, answer: str) -> tuple[str, ...]:
        """Return the answer and all other forms of its word, if it is in the language file."""
        words = self.words.get(self.text.bare(answer), ())
        return (answer, *(form for lexicon, concept in words for form in self._forms[lexicon][concept]))

    @cached_property
    def _tokens_of(self) -> dict[str, list[tuple[str, str, Tokens]]]:
        """Forms of each lexicon with concept, text and tokens."""
        return {
            lexicon: [
                (concept, " ".join(tokens), tokens)
                for concept, forms in words.items()
                for tokens in dict.fromkeys(map(self.text.tokens, forms))
            ]
            for lexicon, words in self._forms.items()
        }

    def _others_in(self, text: str, frame: SentenceFrame) -> Iterator[Tokens]:
        """Yield forms of other words of the answer's lexicon in a text; for people, those of the case."""
        for lexicon, concept in self.words.get(self.text.bare(frame.right.accepted[0]), ()):
            if lexicon == "name":
                yield from frame.others
                continue
            for other, form, tokens in self._tokens_of[lexicon]:
                if form in text and other != concept:
                    yield tokens


@cache
def fair_rule(language: str) -> FairRule:
    """Return the fair rule of a language."""
    return FairRule(grammar(language))


def matches(prediction: str, answer: str, *, language: str, mode: str) -> bool:
    """Return True if a prediction is correct.

    Args:
        prediction: a system's answer.
        answer: gold answer; the fair rule also accepts any other form of that word.
        language: language code of both.
        mode: rule, "paper" or "fair".

    Raises:
        UnknownNameError: unknown mode, or a language without a checklist.
    """
    if mode not in MODES:
        raise unknown("mode", mode, MODES)
    if mode == "paper":
        return cleaned(prediction, language) == cleaned(answer, language)
    if language not in CODES:
        raise unknown("language of the checklist", language, CODES)
    rule = fair_rule(language)
    return rule.is_one_of(prediction, rule.all_forms(answer))
