"""Reference page of the prompts for language models, in the recipes' current wording.

python scripts/docs/prompt_page.py    prints the page
"""

import sys
from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

from isogloss.checklist.shipped import suite_cases
from isogloss.grammar.cases import examples
from isogloss.grammar.file import grammar
from isogloss.languages import language
from isogloss.prompts.recipes import prompt_recipe, wording_names
from isogloss.prompts.render import Prompts
from isogloss.prompts.settings import PromptSettings
from isogloss.tasks.kinds import kind_of
from isogloss.tasks.registry import task

LANGUAGES = ("en", "sw", "ja")
# Further formats of answers, which are asked for in other words.
FORMATS = {
    "xnli": [("labels", "schema")],
    "wikiann": [("tags", "schema"), ("tags", "entities")],
    "xquad": [("answers", "schema")],
    "lareqa": [("tags", "schema")],
}

INTRODUCTION = """# Prompts

What [language models](../llm.md) are asked for every kind of task, in three languages, with made-up texts.
`isogloss llm show TASK LANGUAGE` prints the prompt of a real example.

Instructions are English by default, around a text in any language; the regimes that end with `-native` ask in the
language of the text, as in the sections below. `[system]` and `[user]` are the roles of a chat, and → is the right
answer. In regimes with examples, pairs of `[user]` and `[assistant]` come before the last `[user]`. Base models get the
same parts as one text that ends with *Answer:*.

| wording | |
|---|---|
| *instruction* | says before the example what to do |
| *question* | asks after the example |
| *careful* | adds advice |
| *mega* | our rendering of the format that MEGA (Ahuja et al., 2023) describes; always in English |

Answers are asked for in the default format, and in further ones where their wording differs (`labels = "schema"`).
Tasks do not have test sets in all of these languages. An English prompt for a text in Swahili:"""


class Sample(NamedTuple):
    """A made-up example in one language, with its answer."""

    row: Mapping[str, Any]
    answer: Any


def _pairs(answer: str, **texts: tuple[str, str]) -> dict[str, Sample]:
    return {code: Sample({"text_a": one, "text_b": two}, answer) for code, (one, two) in texts.items()}


def _tagged(**sentences: tuple[str, str]) -> dict[str, Sample]:
    return {code: Sample({"tokens": words.split()}, tags.split()) for code, (words, tags) in sentences.items()}


def _choices(**texts: tuple[str, str, str]) -> dict[str, Sample]:
    return {
        code: Sample({"premise": premise, "question": "cause", "choices": list(choices)}, 0)
        for code, (premise, *choices) in texts.items()
    }


def _questions(**texts: tuple[str, str, str]) -> dict[str, Sample]:
    return {code: Sample({"context": text, "question": asked}, [right]) for code, (text, asked, right) in texts.items()}


def _checklist() -> dict[str, Sample]:
    [case] = suite_cases("comparisons", 1)
    first = {code: next(examples(case, grammar(code))) for code in LANGUAGES}
    return {
        code: Sample({"context": one.context, "question": one.question}, [one.answer]) for code, one in first.items()
    }


def _candidates(**texts: tuple[str, ...]) -> dict[str, Sample]:
    return {code: Sample({"text": query, "candidates": found}, [1, 0]) for code, (query, *found) in texts.items()}


SAMPLES: dict[str, tuple[str, dict[str, Sample]]] = {
    "xnli": (
        "Inference",
        _pairs(
            "entailment",
            en=("The market opens at six in the morning.", "The market opens before noon."),
            sw=("Soko linafunguliwa saa kumi na mbili asubuhi.", "Soko linafunguliwa kabla ya saa sita mchana."),
            ja=("市場は朝六時に開きます。", "市場は正午より前に開きます。"),
        ),
    ),
    "pawsx": (
        "Paraphrases",
        _pairs(
            "1",
            en=("Amina gave Juma the book.", "Juma got the book from Amina."),
            sw=("Amina alimpa Juma kitabu.", "Juma alipewa kitabu na Amina."),
            ja=("アミナはジュマに本をあげた。", "ジュマはアミナから本をもらった。"),
        ),
    ),
    "sib200": (
        "Topics",
        {
            "en": Sample({"text": "The team won the final after extra time."}, "sports"),
            "sw": Sample({"text": "Timu hiyo ilishinda fainali baada ya muda wa ziada."}, "sports"),
            "ja": Sample({"text": "そのチームは延長戦の末に決勝で勝った。"}, "sports"),
        },
    ),
    "xcopa": (
        "Multiple choice",
        _choices(
            en=("The boy stayed in bed all day.", "He had a fever.", "He had a new bicycle."),
            sw=("Mvulana alikaa kitandani siku nzima.", "Alikuwa na homa.", "Alikuwa na baiskeli mpya."),
            ja=("少年は一日中ベッドにいた。", "彼は熱があった。", "彼は新しい自転車を持っていた。"),
        ),
    ),
    "udpos": (
        "Parts of speech",
        _tagged(
            en=("The cat sleeps .", "DET NOUN VERB PUNCT"),
            sw=("Paka analala .", "NOUN VERB PUNCT"),
            ja=("猫 が 眠る 。", "NOUN ADP VERB PUNCT"),
        ),
    ),
    "wikiann": (
        "Names",
        _tagged(
            en=("Amina lives in Mombasa .", "B-PER O O B-LOC O"),
            sw=("Amina anaishi Mombasa .", "B-PER O B-LOC O"),
            ja=("アミナ は モンバサ に 住む 。", "B-PER O B-LOC O O O"),
        ),
    ),
    "xquad": (
        "Questions about a passage",
        _questions(
            en=("The bridge was opened in 1931. It is 300 metres long.", "How long is the bridge?", "300 metres"),
            sw=("Daraja lilifunguliwa mwaka 1931. Lina urefu wa mita 300.", "Daraja lina urefu gani?", "mita 300"),
            ja=("その橋は1931年に開通した。長さは300メートルである。", "橋の長さはどのくらいですか。", "300メートル"),
        ),
    ),
    "checklist-comparisons": ("Checklist", _checklist()),
    "lareqa": (
        "Reranking",
        _candidates(
            en=("How long is the bridge?", "The market opens at six.", "It is 300 metres long."),
            sw=("Daraja lina urefu gani?", "The market opens at six.", "Lina urefu wa mita 300."),
            ja=("橋の長さはどのくらいですか。", "The market opens at six.", "長さは300メートルである。"),
        ),
    ),
}


def prompt(name: str, code: str, sample: Sample, **settings: Any) -> str:
    """Return the messages of a prompt and the right answer."""
    target = task(name)
    prompts = Prompts(target, code, PromptSettings(model="", **settings), reranking=kind_of(target).form == "ranking")
    messages = prompts.request(sample.row).body["messages"]
    spoken = [f"[{message['role']}]\n{message['content']}" for message in messages]
    return "\n".join([*spoken, f"→ {prompts.format.write(sample.row, sample.answer)}"])


def variants(name: str) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield the titles and settings of all prompts of a task."""
    for wording in wording_names("isogloss"):
        yield wording, {"wording": wording}
    for setting, style in FORMATS.get(name, ()):
        yield f'instruction, {setting} = "{style}"', {setting: style}
    if kind_of(task(name)).form != "ranking":
        yield "mega", {"recipe": "mega"}


def document() -> Iterator[str]:
    """Yield the lines of the page."""
    yield INTRODUCTION
    yield f"\n```text\n{prompt('xnli', 'sw', SAMPLES['xnli'][1]['sw'])}\n```"
    for name, (heading, samples) in SAMPLES.items():
        shots = prompt_recipe("isogloss", kind_of(task(name)).form).shots
        yield f"\n## {heading}\n\n`{name}`; {shots} examples in regimes with examples." if shots else f"\n## {heading}"
        for code, sample in samples.items():
            yield f"\n### {heading} in {language(code).name}\n\n```text"
            for title, settings in variants(name):
                yield f"── {title} {'─' * (60 - len(title))}"
                yield prompt(name, code, sample, prompt_language="native", **settings)
            yield "```"


def page() -> str:
    """Return the page."""
    return "\n".join(document()) + "\n"


if __name__ == "__main__":
    sys.stdout.write(page())
