"""The generated page of prompts has those that a language model gets."""

import pytest

import prompt_page
from isogloss.languages import language
from isogloss.prompts.recipes import prompt_recipe, wording_names
from isogloss.prompts.render import Prompts
from isogloss.prompts.settings import PromptSettings
from isogloss.tasks.kinds import kind_of
from isogloss.tasks.registry import task


@pytest.fixture(scope="module")
def sections() -> dict[str, str]:
    """Text below each heading."""
    _, *parts = prompt_page.page().split("\n### ")
    return dict(part.split("\n", 1) for part in parts)


def test_page_has_every_task_in_every_language(sections: dict[str, str]) -> None:
    headings = [
        f"{heading} in {language(code).name}"
        for heading, _ in prompt_page.SAMPLES.values()
        for code in prompt_page.LANGUAGES
    ]
    assert list(sections) == headings
    for section in sections.values():
        assert all(f"── {wording} ─" in section for wording in wording_names("isogloss"))


@pytest.mark.parametrize("name", prompt_page.SAMPLES)
def test_prompts_are_those_of_a_request(sections: dict[str, str], name: str) -> None:
    heading, samples = prompt_page.SAMPLES[name]
    for code, sample in samples.items():
        settings = PromptSettings(model="", prompt_language="native", wording="question")
        asked = Prompts(task(name), code, settings, reranking=kind_of(task(name)).form == "ranking")
        section = sections[f"{heading} in {language(code).name}"]
        for message in asked.request(sample.row).body["messages"]:
            assert f"[{message['role']}]\n{message['content']}\n" in section


def test_page_has_the_words_of_the_recipe() -> None:
    text = prompt_page.page()
    shots = prompt_recipe("isogloss", "label").shots
    assert f"`xnli`; {shots} examples in regimes with examples." in text
    assert "Decide whether the hypothesis follows from the premise" in text
