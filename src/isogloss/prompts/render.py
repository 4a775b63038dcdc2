"""Turn examples into requests, and replies into answers: two pure functions around the network."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from isogloss.endpoints.replies import ModelReply
from isogloss.endpoints.requests import ApiRequest, make_request
from isogloss.errors import IsoglossError
from isogloss.prompts.formats.answers import ShortAnswers
from isogloss.prompts.formats.base import AnswerFormat, PromptReply, Row, format_sentences
from isogloss.prompts.formats.labels import Choices, Labels
from isogloss.prompts.formats.open_answers import FreeTexts, LabelSets, Numbers
from isogloss.prompts.formats.ranking import Ranking
from isogloss.prompts.formats.tags import JoinedTags, NameList, NumberedLines, TagList, TagSequence
from isogloss.prompts.literals import Literals, prompt_literals
from isogloss.prompts.recipes import PromptRecipe, Wording, filled, prompt_recipe, uses
from isogloss.prompts.settings import PromptSettings
from isogloss.tasks.examples import Examples
from isogloss.tasks.kinds import Kind, Reading, kind_of
from isogloss.tasks.task import Task

# Question of a task that names none, by the form of its answers.
_QUESTIONS = {"label": "label", "option": "choice", "tags": "tag", "answer": "qa", "ranking": "rank"}
_QUESTIONS |= {"text": "text", "labels": "labels", "number": "number"}
# Words of a question that every recipe can use.
_PLAIN = "instruction"


class NotPromptedError(IsoglossError):
    """A task that cannot be put into a prompt."""


@dataclass(frozen=True, eq=False)
class Prompts:
    """Prompts for one task in one language.

    A search finds the candidates of a ranking. With `reranking`, rows have the first of them as `candidates`, to be
    put into order.
    """

    task: Task
    language: str
    settings: PromptSettings
    reranking: bool = False

    def __post_init__(self) -> None:
        if reason := not_prompted(self.task, reranking=self.reranking):
            raise NotPromptedError(reason, where=self.task.id)

    @cached_property
    def recipe(self) -> PromptRecipe:
        """Recipe for the task's form of answer."""
        return prompt_recipe(self.settings.recipe, self.kind.form)

    @property
    def kind(self) -> Kind:
        """Kind of the task."""
        return kind_of(self.task)

    @cached_property
    def literals(self) -> Literals:
        """Words of the prompt."""
        english = self.recipe.english_only or self.settings.prompt_language == "english"
        return prompt_literals(self.language, "english" if english else "native")

    @property
    def note(self) -> str:
        """Remark on a cell that is prompted in English although native prompts are set, "" otherwise."""
        wanted = self.settings.prompt_language == "native" and not self.recipe.english_only
        is_english = self.literals.language == "en" != self.language
        return f"prompted in English: no words of prompts in {self.language}" if wanted and is_english else ""

    @property
    def question(self) -> str:
        """Name of the question that the task asks."""
        return str(self.task.options.get("prompt") or _QUESTIONS[self.kind.form])

    @cached_property
    def wording(self) -> Wording:
        """Wording of the prompt."""
        return self.recipe.wording(self.settings.wording, self.settings.recipe)

    @cached_property
    def format(self) -> AnswerFormat:
        """Format of the answers."""
        settings, recipe, words = self.settings, self.recipe, self.literals
        match self.kind.form:
            case "label":
                made: AnswerFormat = Labels(self.task, self.language, words, settings.labels, self.label_words)
            case "option":
                made = Choices(self.task, self.language, words, settings.labels, recipe.letters)
            case "tags":
                made = self._tag_format
            case "ranking":
                made = Ranking(self.language, words, schema=settings.tags == "schema")  # a list, like tags
            case "text":
                made = FreeTexts(self.task, self.language)
            case "number":
                made = Numbers(self.task, self.language)
            case "labels":
                made = LabelSets(self.task, self.language, words, self.label_words)
            case _:
                schema = settings.answers == "schema"
                made = ShortAnswers(self.task, self.language, schema=schema, cut_to_passage=settings.cut_to_passage)
        return made

    @property
    def _tag_format(self) -> TagSequence:
        style = self.recipe.format or self.settings.tags
        shared = (self.task, self.language, self.literals, self.question)
        if style == "joined":
            return JoinedTags(*shared, delimiter=self.recipe.delimiter)
        if style == "entities" and any("-" in label for label in self.task.labels):
            return NameList(*shared)
        return TagList(*shared) if style == "schema" else NumberedLines(*shared)

    @property
    def label_words(self) -> dict[str, str]:
        """Word of each label: the recipe's, the language's, or else the label itself."""
        own = self.recipe.words.get(self.question, {})
        renamed = self.recipe.label_words.get(self.question, {})
        words: dict[str, str] = {}
        for label in self.task.labels:
            path = f"labels.{self.question}.{renamed.get(label, label)}"
            words[label] = own.get(label) or (self.literals.word(path) if self.literals.has(path) else label)
        return words

    def system_text(self, row: Row) -> str:
        """Return the text that comes once, before all examples."""
        return self._filled(self.wording.system, row)

    def turn(self, row: Row) -> str:
        """Return the text that asks one example."""
        question = row.get("question") if self.kind.form == "option" else self.question
        template = self.wording.turns.get(str(question), self.wording.turn)
        return self._filled(template, row)

    def _filled(self, template: str, row: Row) -> str:
        where = f"recipe {self.settings.recipe}, {self.task.id}"
        return filled(template, self._slots(row, template), where).strip()

    def request(self, row: Row, demonstrations: Sequence[tuple[Row, Any]] = ()) -> ApiRequest:
        """Return the request for one example, after some examples with their answers."""
        return self._request(row, self._turns(demonstrations))

    def _turns(self, demonstrations: Iterable[tuple[Row, Any]]) -> list[tuple[str, str]]:
        """Return examples with their answers as texts."""
        return [(self.turn(row), self.format.write(row, gold)) for row, gold in demonstrations]

    def _request(self, row: Row, turns: Sequence[tuple[str, str]]) -> ApiRequest:
        settings = self.settings
        body: dict[str, Any] = {"model": settings.model}
        if settings.api == "chat":
            body["messages"] = self._messages(row, turns)
        else:
            body["prompt"] = self._text(row, turns)
        body["temperature"] = settings.temperature
        body[settings.token_limit] = self.format.tokens(row) + settings.thoughts
        body |= self._parameters(row) | settings.body
        prefix = f"{self.task.id}-{self.language}"
        return make_request(prefix, settings.url, body, settings.revision)

    def _parameters(self, row: Row) -> dict[str, Any]:
        parameters = self.format.parameters(row)
        if self.settings.api == "chat":
            return parameters
        # A base model goes on with the next example; its log probabilities are asked for by number.
        if "top_logprobs" in parameters:
            parameters = {"logprobs": parameters["top_logprobs"]}
        return parameters | {"stop": ["\n\n"] if self.kind.form in ("tags", "ranking", "text") else ["\n"]}

    def _messages(self, row: Row, turns: Sequence[tuple[str, str]]) -> list[dict[str, str]]:
        system, last = self.system_text(row), self.turn(row)
        messages: list[dict[str, str]] = []
        if system and self.settings.system_role:
            messages.append({"role": "system", "content": system})
        for turn, answer in turns:
            messages += [{"role": "user", "content": turn}, {"role": "assistant", "content": answer}]
        messages.append({"role": "user", "content": last})
        if system and not self.settings.system_role:
            messages[0] = {"role": "user", "content": f"{system}\n\n{messages[0]['content']}"}
        return messages

    def _text(self, row: Row, turns: Sequence[tuple[str, str]]) -> str:
        cue = self.literals.word("fields.answer") + self.literals.word("punctuation.colon").rstrip()
        space = "\n" if self.kind.form == "tags" else " "
        shown = [f"{turn}\n{cue}{space}{answer}" for turn, answer in turns]
        last = f"{self.turn(row)}\n{cue}" + ("\n" if self.kind.form == "tags" else "")
        return "\n\n".join(filter(None, [self.system_text(row), *shown, last]))

    def _slots(self, row: Row, template: str) -> dict[str, str]:
        """Return the contents of a template's slots."""
        slots = {name: value for name, value in row.items() if isinstance(value, str)}
        words = self.literals
        slots["space"] = words.space
        if uses(template, "ask"):
            slots["ask"] = self._ask(row)
        if uses(template, "format"):
            slots["format"] = self.recipe.sentence or format_sentences(words, self.format)
        if uses(template, "options"):
            slots["options"] = self.format.options(row)
        if uses(template, "option_words"):
            slots["option_words"] = words.word("punctuation.comma").join(self.label_words.values())
        if uses(template, "example"):
            parts = [(name, row[column]) for name, column in self._parts(row).items() if row.get(column)]
            slots["example"] = "\n".join(words.field(name, str(text)) for name, text in parts)
        if uses(template, "words"):
            numbered = "\n".join(f"{number}\t{token}" for number, token in enumerate(row["tokens"], 1))
            slots["words"] = f"{words.field('words', '').rstrip()}\n{numbered}"
        if uses(template, "sentence"):
            slots["sentence"] = " ".join(row["tokens"])
        return slots

    def _ask(self, row: Row) -> str:
        """Return the question: of the example itself for multiple choice, of the task otherwise.

        A task may ask in its own words, which `prompt` then has; without any, a recipe may have words for its form.
        """
        question = self.question
        if self.kind.form == "option" and (own := str(row.get("question") or "")):
            if not self.literals.has(f"asks.{own}.{_PLAIN}"):
                return own  # in words, as in Social IQa
            question = own
        style = self.settings.wording or next(iter(self.recipe.wordings))
        if self.recipe.asks and not self.literals.has(f"asks.{question}.{_PLAIN}"):
            asks = self.recipe.asks
            return question if self.task.options.get("prompt") else asks.get(style, next(iter(asks.values())))
        # The wordings of a user's recipe have names of their own.
        has_style = self.literals.has(f"asks.{question}.{style}")
        return self.literals.word(f"asks.{question}.{style if has_style else _PLAIN}")

    def _parts(self, row: Row) -> Mapping[str, str]:
        """Return the fields of an example and their columns."""
        by_question, named = self.recipe.examples, str(self.task.options.get("prompt", ""))
        default = "pair" if "text_b" in row else _QUESTIONS[self.kind.form]
        return by_question.get(named) or by_question.get(default, {})

    def requests(self, examples: Examples, demonstrations: Examples | None = None) -> list[ApiRequest]:
        """Return the request of every example; equal examples have equal requests."""
        shown: Iterable[tuple[Row, Any]] = ()
        if demonstrations is not None:
            shown = zip(self.rows(demonstrations), demonstrations[demonstrations.gold], strict=True)
        turns = self._turns(shown)  # the same in every request
        return [self._request(row, turns) for row in self.rows(examples)]

    def rows(self, examples: Examples) -> list[Row]:
        """Return the input columns of every example."""
        names = [name for name in self.kind.inputs if name in examples.columns]
        columns = [examples.column(name) for name in names]
        return [dict(zip(names, values, strict=True)) for values in zip(*columns, strict=True)]

    def read(self, examples: Examples, replies: Sequence[ModelReply]) -> list[Reading]:
        """Return what the reply to each example answers."""
        return self.read_rows(self.rows(examples), replies)

    def read_rows(self, rows: Sequence[Row], replies: Sequence[ModelReply]) -> list[Reading]:
        """Return what the reply to each row answers."""
        texts = [
            PromptReply(
                reply.text or reply.refusal,
                [(token, logprob) for token, _, logprob in reply.top_logprobs],
                cut=reply.finish_reason == "length",
                filtered=reply.filtered,
            )
            for reply in replies
        ]
        return self.format.read(rows, texts)


def not_prompted(task: Task, *, reranking: bool = False) -> str:
    """Return why a task cannot be put into a prompt, or "" if it can; rankings are for reranking only."""
    form = kind_of(task).form
    possible = form in _QUESTIONS and reranking == (form == "ranking")
    return "" if possible else f"no prompts for the {form} of {task.id}"
