"""Language models as translators: requests, readings, and requests that stay open."""

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

pytest.importorskip("httpx")

from e2e.command import isogloss
from endpoints.hostile_server import text_of
from isogloss.errors import IsoglossError
from isogloss.languages import language
from isogloss.translation.cached_translator import CachedTranslator
from isogloss.translation.endpoint_translator import read_translation
from isogloss.translation.translators import Translator, UntranslatedError, open_translator
from systems.llm.model_server import ModelServer, model_server

SPANISH = language("es")
PROMPT = "Translate the following text from English into Spanish. Write only the translation.\n\n{}"
ANSWERS = {"One dog.": "Un perro.", "A dog.": "<think>Easy.</think>\nTranslation: “Un perro.”", "No.": "No."}


def prompted(answers: dict[str, str]) -> dict[str, str]:
    return {PROMPT.format(text): answer for text, answer in answers.items()}


@pytest.mark.parametrize(
    ("reply", "text", "translation"),
    [
        ("Un perro.", "A dog.", "Un perro."),
        ('"Un perro."', "A dog.", "Un perro."),
        ("«Un perro.»", "A dog.", "Un perro."),
        ('"Un perro."', '"A dog."', '"Un perro."'),
        ('"Un perro" y "un gato"', "A dog and a cat", '"Un perro" y "un gato"'),
        ("Translation: Un perro.", "A dog.", "Un perro."),
        ("**Spanish translation:** Un perro.", "A dog.", "Un perro."),
        ("Español: Un perro.", "A dog.", "Un perro."),
        ("Sure! Here is the translation:\n\nUn perro.", "A dog.", "Un perro."),
        ("Traducción: Un perro.", "Translation: a dog.", "Traducción: Un perro."),
        ("Translation: Un perro.", "Translation: a dog.", "Translation: Un perro."),
        ("Respuesta: no.", "Answer: no.", "Respuesta: no."),
        ("1. Un perro.", "1. A dog.", "1. Un perro."),
        ("```\nUn perro.\n```", "A dog.", "Un perro."),
        ("<think>Well: a dog.</think>Un perro.", "A dog.", "Un perro."),
        ("Un perro.\n\nNote: literal translation.", "A dog.", "Un perro."),
        ("Un\nperro.", "A dog.", "Un perro."),
        ("Uno\ndos", "One\ntwo", "Uno\ndos"),
    ],
)
def test_reading(reply: str, text: str, translation: str) -> None:
    assert read_translation(reply, text, SPANISH) == translation


@given(st.text(max_size=60), st.text(min_size=1, max_size=60))
def test_reading_only_removes(reply: str, text: str) -> None:
    words = read_translation(reply, text, SPANISH).split()
    rest = iter(reply)
    assert all(character in rest for word in words for character in word)


@pytest.fixture
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("ISOGLOSS_CACHE", str(tmp_path / "cache"))
    monkeypatch.delenv("ISOGLOSS_TRANSLATIONS", raising=False)
    return tmp_path / "cache"


def translator_of(server: ModelServer, **settings: object) -> Translator:
    given_settings = {"endpoint": server.url, "token_limit": "max_tokens", **settings}
    return open_translator("llm:small", "en", "es", given_settings)


def test_requests_and_translations(cache: Path) -> None:
    with model_server(prompted(ANSWERS)) as server:
        translator = CachedTranslator(translator_of(server))
        assert translator.translate([*ANSWERS, "No."]) == ["Un perro.", "Un perro.", "No.", "No."]
        assert sorted(map(text_of, server.bodies)) == sorted(prompted(ANSWERS))
        assert {(body["model"], body["temperature"]) for body in server.bodies} == {("small", 0)}
        assert {body["max_tokens"] for body in server.bodies} == {256 + 3 * len(text) for text in ANSWERS}
        # Neither a cached translation nor a stored response is requested again.
        assert CachedTranslator(translator_of(server)).translate(list(ANSWERS))[0] == "Un perro."
        assert CachedTranslator(translator_of(server), cache / "other").translate(list(ANSWERS))[0] == "Un perro."
        assert server.asked.total() == len(ANSWERS)
        revised = translator_of(server, revision="2")
        assert revised.version != translator.version
        assert revised.translate(["No."]) == ["No."]
        assert server.asked.total() == len(ANSWERS) + 1


def test_token_limit_is_probed(cache: Path) -> None:
    with model_server(prompted(ANSWERS), default="yes") as server:
        server.refuses = {"max_tokens"}
        translator = open_translator("llm:small", "en", "es", {"endpoint": server.url})
        assert translator.translate(["No."]) == ["No."]
        assert server.bodies[-1]["max_completion_tokens"] == 256 + 3 * 3


def test_refused_and_empty_replies_stay_untranslated(cache: Path) -> None:
    answers = {**ANSWERS, "Empty": "<think>hm"}

    def script(content: str, attempt: int) -> str:
        return "filter" if content.endswith("No.") else ""

    with model_server(prompted(answers), script=script) as server:
        translator = translator_of(server, batch=2)
        with pytest.raises(UntranslatedError) as caught:
            translator.translate(list(answers))
        assert caught.value.reasons == {"No.": "withheld by the content filter", "Empty": "an empty reply"}


def test_open_requests_make_the_command_incomplete(cache: Path, tmp_path: Path) -> None:
    (tmp_path / "xnli").mkdir()
    (tmp_path / "xnli/train-en.tsv").write_text("One dog.\tA dog.\tneutral\nNo.\tA dog.\tneutral\n")
    path = tmp_path / "translations/xnli/translate-train/es.jsonl"
    rejected = {"on": True}

    def script(content: str, attempt: int) -> str:
        return "rejected" if rejected["on"] and content.endswith("No.") else ""

    with model_server(prompted(ANSWERS), script=script) as server:
        words = ("translate", "xnli", "--languages", "es", "--with", "llm:small#token_limit=max_tokens")
        words = (*words, "--endpoint", server.url, "--data", tmp_path, "--untranslated", tmp_path / "open.tsv")
        done = isogloss(*words)
        assert done.code == 1
        assert "1 of 3 texts have no translation" in done.err
        assert (tmp_path / "open.tsv").read_text().startswith("es\tNo.\t")
        assert not path.exists()
        rejected["on"] = False
        done = isogloss(*words)
        assert done.code == 0, done.err
        assert "3 distinct texts, 2 from the cache, 1 translated" in done.err
        assert [json.loads(line)["text_a"] for line in path.read_text().splitlines()] == ["Un perro.", "No."]
        assert server.answered.total() == 3


def test_settings_of_costs_need_prices(cache: Path) -> None:
    with pytest.raises(IsoglossError, match="a maximum cost needs prices"):
        open_translator("llm:small", "en", "es", {"max_cost": 1})
    with pytest.raises(IsoglossError, match="no model"):
        open_translator("llm:", "en", "es")
