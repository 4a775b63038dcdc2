"""Outcomes of replies without an answer: a refusal, none of the options, or neither."""

from collections.abc import Callable
from functools import cached_property

from isogloss.answer_shapes import answer_units, sentences, silence_phrases
from isogloss.reply_outcomes import Outcome

# Longer replies are not searched for phrases.
_LONGEST = 1 << 14


class Silence:
    """Phrases in a reply about not answering.

    Args:
        text: the reply.
        language: language of the task; its phrases count beside the English ones.
        denied: returns True if a sentence denies the options one by one, where they have names.
    """

    def __init__(self, text: str, language: str, denied: Callable[[str], bool] | None = None) -> None:
        self._phrases = silence_phrases(language)
        # A sentence may go on in the next line.
        joined = " ".join(unit.text for unit in answer_units(text[:_LONGEST], language))
        self._sentences = sentences(joined.casefold().replace("’", "'"))
        self._denied = denied

    @cached_property
    def _certain(self) -> list[str]:
        return [sentence for sentence in self._sentences if not self._phrases.refusals.search(sentence)]

    @property
    def refuses(self) -> bool:
        """True if a sentence says that the model cannot answer, or is not certain."""
        return len(self._certain) < len(self._sentences)

    @cached_property
    def denies_all(self) -> bool:
        """True if a sentence says that no option fits, and not only that the model cannot tell."""
        none = self._phrases.none_of_these
        denied = self._denied or (lambda sentence: False)
        return any(none.search(sentence) is not None or denied(sentence) for sentence in self._certain)

    @property
    def outcome(self) -> Outcome:
        """Outcome of the reply if it gives no answer: that no option fits counts before doubts about the text."""
        if self.denies_all:
            return Outcome.NONE
        declines = self.refuses or any(map(self._phrases.declines.search, self._sentences))
        return Outcome.REFUSAL if declines else Outcome.UNPARSED


def opens_with_refusal(text: str, language: str) -> bool:
    """Return True if a reply begins with an apology for not answering."""
    start = text.lstrip(" \t\n\"'“*").casefold().replace("’", "'")
    return silence_phrases(language).apologies.match(start) is not None
