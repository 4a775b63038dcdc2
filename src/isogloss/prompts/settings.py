"""Settings of prompts: everything that decides the text of a request, and so its answer."""

from dataclasses import asdict, dataclass, field
from typing import Annotated, Any, Literal

from isogloss.checked_settings import Limits, checked_setting, checked_settings
from isogloss.endpoints.requests import CHAT, COMPLETIONS
from isogloss.errors import IsoglossError

PromptLanguage = Literal["english", "native"]
# How labels and choices are asked for and read: by the probabilities of the first token, JSON by a schema, or text.
LabelFormat = Literal["logprobs", "schema", "text"]
# Tags: a JSON list of exactly one tag per word by a schema, numbered lines, or a list of the names.
TagFormat = Literal["schema", "lines", "entities"]
AnswerStyle = Literal["text", "schema"]
# Parameter that limits an answer, at most servers.
MAX_TOKENS = "max_tokens"
_FROM_ZERO = Limits("of at least 0", lambda number: 0 <= number < 2**31)
# Parameters that the prompts themselves set.
_OWN = ("messages", "model", "prompt")


@dataclass(frozen=True, kw_only=True)
class PromptSettings:
    """Settings of prompts.

    Attributes:
        model: name of the model at its endpoint.
        revision: version of the model, if the name alone does not tell it; answers of another revision are not reused.
        recipe: `isogloss`, `mega` or a folder of recipe files.
        wording: wording of the recipe, "" for its first.
        prompt_language: language of instructions and label words: `english`, or `native` where there are words.
        api: `chat` for chat models, `completions` for base models.
        labels: format of labels and choices.
        tags: format of tags.
        answers: format of answers to questions.
        shots: number of examples in regimes with examples; None for the recipe's.
        system_role: False to put the system text into the first turn, for models without a system role.
        thoughts: tokens that a reasoning model may spend before its answer.
        temperature: sampling temperature.
        token_limit: name of the parameter that limits the answer; newer models take `max_completion_tokens`.
        cut_to_passage: True to cut an answer to the part of it that the passage contains.
        body: further parameters of the request, such as `reasoning_effort`.
    """

    model: str
    revision: str = ""
    recipe: str = "isogloss"
    wording: str = ""
    prompt_language: PromptLanguage = "english"
    api: Literal["chat", "completions"] = "chat"
    labels: LabelFormat = "text"
    tags: TagFormat = "lines"
    answers: AnswerStyle = "text"
    shots: Annotated[int | None, _FROM_ZERO] = None
    system_role: bool = True
    thoughts: Annotated[int, _FROM_ZERO] = 0
    temperature: Annotated[float, _FROM_ZERO] = 0.0
    token_limit: str = MAX_TOKENS
    cut_to_passage: bool = False
    body: dict[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        given = {name: value for name, value in asdict(self).items() if value is not None}
        body = checked_setting("body", given.pop("body"), dict, "llm")
        checked_settings(given, PromptSettings, "setting of prompts", "llm")
        for name in _OWN:
            if name in body:
                what = f"{name} cannot be set in the body of requests"
                raise IsoglossError(what, where="llm", fix="Remove it: the prompts set it")

    @property
    def url(self) -> str:
        """Path of the requests at the endpoint."""
        return CHAT if self.api == "chat" else COMPLETIONS
