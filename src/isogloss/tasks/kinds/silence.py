"""Outcomes of replies without an answer: a refusal, none of the options, or neither."""

from collections.abc import Callable

from isogloss.answer_shapes import sentence_units, silence_phrases
from isogloss.reply_outcomes import Outcome

# Longer replies are not searched for phrases.
_LONGEST = 1 << 14


class Silence:
    """What a reply says about not answering.

    Args:
        text: the reply.
        language: language of the task, whose phrases count beside the English ones.
        denied: returns True if a sentence denies the options one by one.
    """

    def __init__(self, text: str, language: str, denied: Callable[[str], bool]) -> None:
        known = silence_phrases(language)
        units = sentence_units(text[:_LONGEST], language)
        sentences = [unit.text.casefold().replace("’", "'") for unit in units]
        refuses = [known.refusals.search(sentence) is not None for sentence in sentences]
        self.refuses = any(refuses)
        self.denies_all = any(
            not refused and (known.none_of_these.search(sentence) is not None or denied(sentence))
            for sentence, refused in zip(sentences, refuses, strict=True)
        )
        signs = (known.apologies, known.declines)
        self._declines = any(sign.search(sentence) for sentence in sentences for sign in signs)

    @property
    def outcome(self) -> Outcome:
        """Outcome of the reply if it gives no answer: that no option fits counts before doubts about the text."""
        if self.denies_all:
            return Outcome.NONE
        return Outcome.REFUSAL if self.refuses or self._declines else Outcome.UNPARSED


def opens_with_refusal(text: str, language: str) -> bool:
    """Return True if a reply begins with an apology for not answering."""
    start = text.lstrip(" \t\n\"'“*").casefold().replace("’", "'")
    return silence_phrases(language).apologies.match(start) is not None
