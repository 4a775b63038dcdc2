"""`llm:MODEL` on the grid: prompts, responses that are never paid for twice, answers, and what is open."""

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import isogloss
from isogloss.endpoints.store import ApiResponse
from isogloss.errors import IsoglossError
from isogloss.prompts.render import Prompts
from isogloss.prompts.settings import PromptSettings
from isogloss.reply_outcomes import Outcome, Usage
from isogloss.systems import system
from isogloss.systems.base import RepliedPredictions, SystemFailureError
from isogloss.tasks.registry import task
from isogloss.training.regimes import demonstrations, regime
from isogloss.translation.translate import translate
from systems.llm.model_server import model_server, right_answers

FORMATS = {"labels": "text", "tags": "lines"}


@pytest.fixture
def run(tmp_path: Path) -> Callable[..., Any]:
    def run(url: str, tasks: list[str], languages: list[str], settings: Any = None, **options: Any) -> Any:
        own = {"endpoint": url, "store": str(tmp_path / "store"), "quiet": True, **FORMATS, **(settings or {})}
        return isogloss.run(
            "llm:small", out=tmp_path / "runs", suite="mini", tasks=tasks, languages=languages, settings=own, **options
        )

    return run


def test_a_perfect_model_scores_100_in_every_form(run: Callable[..., Any], tmp_path: Path) -> None:
    tasks = ["mini-xnli", "mini-xcopa", "mini-udpos", "mini-wikiann", "mini-xquad"]
    answers: dict[str, str] = {}
    for name in tasks:
        answers |= right_answers(isogloss.load(name, "tr"))
    with model_server(answers) as server:
        summary = run(server.url, tasks, ["tr"])
        assert {name: over.mean for name, over in summary.tasks.items()} == dict.fromkeys(tasks, 100.0)
        sent = server.asked.total()
        assert set(server.asked.values()) == {1}
        # Finished cells are not run again; forced ones take the stored answers.
        run(server.url, tasks, ["tr"], force=True)
        assert server.asked.total() == sent
    results = isogloss.score(tmp_path / "runs/llm-small/none/seed-0", suite="mini", tasks=tasks, languages=["tr"])
    counts = results["mini-xnli", "tr"].replies
    assert counts.outcomes == {Outcome.STRICT: counts.replies}
    assert counts.usage.output == 2 * counts.replies


def test_replies_without_an_answer_are_wrong_and_counted(run: Callable[..., Any], tmp_path: Path) -> None:
    examples = isogloss.load("mini-xnli", "sw")
    answers = right_answers(examples)
    refused, both = list(answers)[:2]
    answers[refused] = "I'm sorry, but I cannot understand the language of this text."
    answers[both] = "true and false"
    with model_server(answers) as server:
        run(server.url, ["mini-xnli"], ["sw"])
    record = json.loads((tmp_path / "runs/llm-small/none/seed-0/results.json").read_text())
    [cell] = record["cells"]
    n = len(examples)
    assert cell["metrics"]["accuracy"]["value"] == pytest.approx(100 * (n - 2) / n)
    assert cell["replies"]["outcomes"] == {"refusal": 1, "several": 1, "strict": n - 2}
    lines = [json.loads(line) for line in (tmp_path / "runs/llm-small/none/seed-0/mini-xnli/sw.jsonl").open()]
    assert [line["prediction"] for line in lines if line["reply"]["outcome"] == "refusal"] == [None]


def test_failed_calls_leave_the_cell_open_and_the_same_command_completes_it(
    run: Callable[..., Any], tmp_path: Path
) -> None:
    answers = right_answers(isogloss.load("mini-xcopa", "et"))
    broken = set(list(answers)[:3])
    down = True

    def script(content: str, attempt: int) -> str:
        return "overflow" if down and content in broken else ""

    with model_server(answers, script=script) as server:
        summary = run(server.url, ["mini-xcopa"], ["et"])
        assert summary.cells["failed"] == 1
        [reason] = summary.failed.values()
        assert f"3 of {len(answers)} requests have no answer yet" in reason
        assert "context" in reason
        assert not (tmp_path / "runs/llm-small/none/seed-0/mini-xcopa/et.jsonl").exists()
        down = False
        assert run(server.url, ["mini-xcopa"], ["et"]).tasks["mini-xcopa"].mean == 100
        assert server.answered.total() == len(answers)


@pytest.mark.parametrize(("regime", "language"), [("english", "tr"), ("in-language", "en")])
def test_examples_in_prompts_are_fixed_and_nested(regime: str, language: str, run: Callable[..., Any]) -> None:
    examples = isogloss.load("mini-udpos", language)
    answers = right_answers(examples)
    shown: dict[int, list[Any]] = {}
    for shots in (2, 4):
        with model_server(answers) as server:
            run(server.url, ["mini-udpos"], [language], {"shots": shots, "label": f"m{shots}"}, regime=regime)
            [shown[shots]] = {
                tuple(json.dumps(message) for message in body["messages"][1:-1]) for body in server.bodies
            }
    assert len(shown[4]) == 8
    assert shown[4][:4] == shown[2]


def test_english_examples_for_other_languages(run: Callable[..., Any]) -> None:
    examples = isogloss.load("mini-xnli", "en", split="train")
    with model_server(right_answers(isogloss.load("mini-xnli", "sw"))) as server:
        run(server.url, ["mini-xnli"], ["sw"], {"shots": 3}, regime="english")
        turns = [message["content"] for message in server.bodies[0]["messages"][1:-1:2]]
    texts = {f"Premise: {a}\nHypothesis: {b}" for a, b in zip(examples.text_a, examples.text_b, strict=True)}
    assert set(turns) <= texts
    answers = [message["content"] for message in server.bodies[0]["messages"][2:-1:2]]
    assert sorted(answers) == ["false", "true", "unclear"]


def test_native_prompts(run: Callable[..., Any], tmp_path: Path) -> None:
    answers = right_answers(isogloss.load("mini-xnli", "sw"), prompt_language="native")
    with model_server(answers) as server:
        summary = run(server.url, ["mini-xnli"], ["sw"], regime="none-native")
    assert summary.tasks["mini-xnli"].mean == 100
    assert (tmp_path / "runs/llm-small/none-native/seed-0").is_dir()


def test_wordings_are_a_factor_of_their_own(run: Callable[..., Any], tmp_path: Path) -> None:
    examples = isogloss.load("mini-xnli", "sw")
    answers = right_answers(examples, wording="instruction") | right_answers(examples, wording="question")
    wrong = right_answers(examples, wording="careful")
    answers |= dict.fromkeys(wrong, "unclear")
    with model_server(answers) as server:
        for prompt in ("instruction", "question", "careful"):
            run(server.url, ["mini-xnli"], ["sw"], prompt=prompt)
        with pytest.raises(IsoglossError, match="has runs with named prompts: prompt-careful"):
            run(server.url, ["mini-xnli"], ["sw"])
    results = isogloss.score(tmp_path / "runs/llm-small/none", suite="mini", tasks=["mini-xnli"], languages=["sw"])
    spread = results["mini-xnli", "sw"].metrics["accuracy"].spread["prompt"]
    neutral = 100 * sum(label == "neutral" for label in examples.label) / len(examples)
    assert dict(zip(spread.levels, spread.values, strict=True)) == pytest.approx(
        {"careful": neutral, "instruction": 100, "question": 100}
    )


def test_subsets_are_nested_and_estimated(run: Callable[..., Any], tmp_path: Path) -> None:
    answers = right_answers(isogloss.load("mini-xquad", "de"))
    with model_server(answers) as server:
        run(server.url, ["mini-xquad"], ["de"], subset=20)
        assert server.asked.total() == 20
        summary = run(server.url, ["mini-xquad"], ["de"], subset=40)
        assert server.asked.total() == 40
        assert set(server.asked.values()) == {1}
    assert summary.tasks["mini-xquad"].mean == 100
    [cell] = json.loads((tmp_path / "runs/llm-small/none/seed-0/results.json").read_text())["cells"]
    assert (cell["subset"]["answered"], cell["subset"]["examples"]) == (40, len(isogloss.load("mini-xquad", "de")))
    # The drawn examples are named beside the predictions, so that the folder can be scored anywhere.
    folder = tmp_path / "runs/llm-small/none/seed-0"
    again = isogloss.score(folder, suite="mini", tasks=["mini-xquad"], languages=["de"])
    assert again["mini-xquad", "de"].subset.answered == 40
    assert not isogloss.validate(folder).errors
    assert again["mini-xquad", "de"].metrics == isogloss.score(folder, suite="mini", subset=folder).cells[0].metrics
    other = tmp_path / "other/seed-0"
    shutil.copytree(folder, other)
    subset = other / "mini-xquad/de-subset.json"
    subset.write_bytes(subset.read_bytes().replace(b"x", b"y", 1))
    with pytest.raises(IsoglossError, match="was edited"):
        isogloss.compare(folder, other, suite="mini")
    with pytest.raises(IsoglossError, match="at least 20"):
        run(server.url, ["mini-xquad"], ["de"], subset=5)


def test_prices_and_budget(run: Callable[..., Any], tmp_path: Path) -> None:
    prices = tmp_path / "prices.toml"
    prices.write_text('date = 2026-11-01\ncurrency = "USD"\n[models.small]\ninput = 0\noutput = 1000000\n')
    answers = right_answers(isogloss.load("mini-xcopa", "et"))
    with model_server(answers) as server:
        paid = run(server.url, ["mini-xcopa"], ["et"], {"prices": str(prices), "max_cost": 70.0, "concurrency": 1})
        assert paid.cells["failed"] == 1
        assert "the budget is spent" in next(iter(paid.failed.values()))
        assert 0 < server.answered.total() < len(answers)
        # Two output tokens at a dollar each.
        assert 2 * server.answered.total() <= 70
        run(server.url, ["mini-xcopa"], ["et"], {"prices": str(prices)})
    [cell] = json.loads((tmp_path / "runs/llm-small/none/seed-0/results.json").read_text())["cells"]
    assert cell["replies"]["usage"]["cost"] == 2 * len(answers)


def test_replayed_responses_need_no_server(tmp_path: Path) -> None:
    examples = isogloss.load("mini-xnli", "sw")
    model = system("llm:small", replay=str(tmp_path / "responses"), **FORMATS).fit(isogloss.task("mini-xnli"), None, 0)
    with pytest.raises(SystemFailureError, match="no response in the folder"):
        model.predict(examples)
    answers = right_answers(examples)
    store = model.store("sw")
    for request in model.requests(examples):
        text = answers[request.body["messages"][-1]["content"]]
        body = {"choices": [{"index": 0, "message": {"role": "assistant", "content": text}, "finish_reason": "stop"}]}
        store.append(ApiResponse(custom_id=request.custom_id, body=body))
    predicted = model.predict(examples)
    assert isinstance(predicted, RepliedPredictions)
    assert list(predicted) == list(examples.label)
    assert predicted.replies[0].usage is None


def test_probe_chooses_the_formats(tmp_path: Path) -> None:
    with model_server({}, default="no") as server:
        server.enforces_schema = True
        model = system("llm:small", endpoint=server.url, store=str(tmp_path))
        assert (model.settings.labels, model.settings.tags) == ("logprobs", "schema")
        thinking = system("llm:small", endpoint=server.url, store=str(tmp_path), thoughts=500)
        assert thinking.settings.labels == "schema"
        asked = server.asked.total()
        # Recorded: the next system asks nothing.
        assert system("llm:small", endpoint=server.url, store=str(tmp_path)).settings.tags == "schema"
        assert server.asked.total() == asked
    with model_server({}, default="no") as server:
        plain = system("llm:small", endpoint=server.url, store=str(tmp_path / "other"))
        assert plain.settings.tags == "lines"
        asked = server.asked.total()
        base = system("llm:small", endpoint=server.url, store=str(tmp_path / "base"), api="completions")
        assert (base.settings.labels, base.settings.tags) == ("text", "lines")
        assert server.asked.total() == asked


def test_transport_settings_do_not_divide_runs(run: Callable[..., Any]) -> None:
    answers = right_answers(isogloss.load("mini-xcopa", "et"))
    with model_server(answers) as server:
        run(server.url, ["mini-xcopa"], ["et"], {"concurrency": 2})
        assert run(server.url, ["mini-xcopa"], ["et"], {"concurrency": 4}).cells["done"] == 1
        with pytest.raises(IsoglossError, match=r"cells of another configuration.*temperature"):
            run(server.url, ["mini-xcopa"], ["et"], {"temperature": 0.5})


def test_regimes_of_trained_and_prompted_systems_do_not_mix(run: Callable[..., Any], tmp_path: Path) -> None:
    with model_server({}) as server:
        skipped = run(server.url, ["mini-xnli"], ["sw"], regime="zero-shot").skipped
        assert "none, english or in-language examples" in next(iter(skipped.values()))
        for regime in ("translate-train", "in-language-1000"):
            assert run(server.url, ["mini-xnli"], ["en"], regime=regime).cells["skipped"] == 1
    summary = isogloss.run("ngram", out=tmp_path, suite="mini", tasks=["mini-xnli"], languages=["sw"], regime="none")
    assert "none is for language models" in next(iter(summary.skipped.values()))


def test_errors_say_what_to_do(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("ISOGLOSS_ENDPOINT", "OPENAI_BASE_URL"):
        monkeypatch.delenv(name, raising=False)
    with pytest.raises(SystemFailureError, match="Name it after the colon"):
        system("llm")
    with pytest.raises(IsoglossError, match="ISOGLOSS_ENDPOINT"):
        _ = system("llm:small", store=str(tmp_path)).settings
    with pytest.raises(IsoglossError, match="a maximum cost needs prices"):
        _ = system("llm:small", endpoint="http://127.0.0.1:9", store=str(tmp_path), max_cost=1.0).sender
    with pytest.raises(IsoglossError, match=r"prices\.toml"):
        system("llm:small", prices=str(tmp_path / "prices.toml"))


def test_languages_without_words_are_marked(tmp_path: Path) -> None:
    prompts = Prompts(task("nusax"), "ace", PromptSettings(model="small", prompt_language="native"))
    assert prompts.literals.language == "en"
    assert prompts.note == "prompted in English: no words of prompts in ace"
    assert not Prompts(task("nusax"), "id", PromptSettings(model="small", prompt_language="native")).note
    assert not Prompts(task("nusax"), "ace", PromptSettings(model="small")).note


def test_translated_tests_are_prompted_in_english(run: Callable[..., Any], tmp_path: Path) -> None:
    translate(task("mini-xnli"), "sw", "test", tmp_path, lambda lines: [f"EN {line}" for line in lines])
    examples = isogloss.load("mini-xnli", "sw")
    with model_server({}, default="true") as server:
        summary = run(server.url, ["mini-xnli"], ["sw"], regime="none-translate-test", data=tmp_path)
        turns = {body["messages"][-1]["content"] for body in server.bodies}
    assert turns == {
        f"Premise: EN {a}\nHypothesis: EN {b}" for a, b in zip(examples.text_a, examples.text_b, strict=True)
    }
    right = sum(label == "entailment" for label in examples.label)
    assert summary.tasks["mini-xnli"].mean == pytest.approx(100 * right / len(examples))


def test_examples_in_the_target_language_come_from_dev_without_a_training_set(data_dir: Path) -> None:
    model = system("llm:small", shots=4, **FORMATS)
    learning = regime("in-language")
    train = demonstrations(learning, task("xcopa"), learning.fits(["ht"])[0], data_dir)
    assert (train.language, train.split) == ("ht", "dev")
    model.fit(task("xcopa"), train, 0)
    with pytest.raises(SystemFailureError, match="the examples of the prompts are from xcopa/ht dev themselves"):
        model.requests(isogloss.load("xcopa", "ht", "dev", data_dir))
    assert len(model.requests(isogloss.load("xcopa", "ht", "test", data_dir))) == 500


def test_an_edited_recipe_is_another_configuration(run: Callable[..., Any], tmp_path: Path) -> None:
    recipe = tmp_path / "recipe"
    recipe.mkdir()
    for text in ("{example}", "{example}?"):
        (recipe / "label.toml").write_text(f'shots = 0\n[wordings.short]\nturn = "{text}"\n', encoding="utf-8")
        with model_server({}, default="entailment") as server:
            if text == "{example}":
                assert run(server.url, ["mini-xnli"], ["sw"], {"recipe": str(recipe)}).cells["done"] == 1
            else:
                with pytest.raises(IsoglossError, match="another configuration: recipe_hash"):
                    run(server.url, ["mini-xnli"], ["sw"], {"recipe": str(recipe)})


def test_batches_have_their_own_prices(tmp_path: Path) -> None:
    prices = tmp_path / "prices.toml"
    prices.write_text('date = 2026-11-01\ncurrency = "USD"\n[models."sm*"]\ninput = 2\noutput = 8\nbatch = 0.5\n')
    used = Usage(input=1_000_000, output=500_000)
    costs = [system("llm:small", prices=str(prices), batch=batch).priced(used).cost for batch in (False, True)]
    assert costs == [6.0, 3.0]
