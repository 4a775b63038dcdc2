"""isogloss run llm:MODEL, llm show and llm probe: options, estimates, errors, and keys that stay secret."""

import json
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from e2e.command import Finished, isogloss
from isogloss import load
from isogloss.endpoints.prices import estimate_usage
from runs.grid_fake import mini_cache, mini_data
from systems.llm.model_server import ModelServer, model_server, right_answers

__all__ = ["mini_cache", "mini_data"]

KEY = "sk-secret-0123456789abcdef"
PRICES = 'date = 2026-11-01\ncurrency = "USD"\n[models.small]\ninput = 1000\noutput = 2000\n'
Run = Callable[..., Finished]


@pytest.fixture(autouse=True)
def quiet(mini_data: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "160")
    for name in ("ISOGLOSS_ENDPOINT", "OPENAI_BASE_URL"):
        monkeypatch.delenv(name, raising=False)


@pytest.fixture(scope="module")
def answers(mini_cache: Path) -> dict[str, str]:
    """The right answers in all wordings that the tests use."""
    with pytest.MonkeyPatch.context() as patched:
        patched.setenv("ISOGLOSS_CACHE", str(mini_cache))
        examples = [load(name, code) for name in ("mini-xnli", "mini-xquad") for code in ("de", "sw")]
        wordings = ("instruction", "question", "careful")
        return {k: v for each in examples for name in wordings for k, v in right_answers(each, wording=name).items()}


@pytest.fixture
def server(answers: dict[str, str]) -> Iterator[ModelServer]:
    with model_server(answers) as server:
        yield server


def table(out: str) -> dict[str, list[str]]:
    """Return the cells of a table's rows by their first cell."""
    rows = [line.split("  ") for line in out.splitlines()]
    split = [[part.strip() for part in row if part.strip()] for row in rows]
    return {row[0]: row[1:] for row in split if row}


@pytest.fixture
def run(tmp_path: Path, server: ModelServer) -> Run:
    """`isogloss run llm:small` with plain formats, and settings in a file."""

    def run(*words: object, config: str = "", tasks: str = "mini-xnli", languages: str = "sw") -> Finished:
        path = tmp_path / "config.toml"
        path.write_text(f'labels = "text"\ntags = "lines"\nstore = "{tmp_path}/store"\n{config}')
        named = ("run", "llm:small", "--suite", "mini", "--tasks", tasks, "--languages", languages)
        return isogloss(*named, "--endpoint", server.url, "--config", path, "--out", tmp_path / "runs", *words)

    return run


@pytest.fixture
def prices(tmp_path: Path) -> str:
    """The setting that names a file of prices."""
    path = tmp_path / "prices.toml"
    path.write_text(PRICES)
    return f'prices = "{path}"\n'


def test_a_dry_run_counts_and_sends_nothing(run: Run, server: ModelServer, prices: str, tmp_path: Path) -> None:
    tasks = "mini-xnli,mini-xquad,mini-tatoeba"
    done = run("--dry-run", "--subset", 20, config=prices, tasks=tasks, languages="de,sw")
    assert (done.code, done.err) == (0, "")
    rows = table(done.out)
    assert rows["mini-xnli"][:3] == ["2", "40 of 120", "40"]
    assert rows["total"][:3] == ["4", "80 of 240", "80"]
    assert "seed-0 mini-tatoeba/de: answered by embeddings" in done.out
    assert server.asked.total() == 0
    assert not (tmp_path / "runs").exists()


def test_a_dry_run_estimates_tokens_and_price_of_what_is_not_stored(run: Run, server: ModelServer, prices: str) -> None:
    first = table(run("--dry-run", "--subset", 20, config=prices).out)["mini-xnli"]
    assert run("--subset", 20, config=prices).code == 0
    estimates = [estimate_usage(body) for body in server.bodies]
    tokens, most = sum(each.input for each in estimates), sum(each.output for each in estimates)
    cost = (tokens * 1000 + most * 2000) / 1e6
    assert first == ["1", "20 of 60", "20", f"{tokens:,}", f"{most:,}", f"${cost:,.2f}"]
    again = table(run("--dry-run", "--subset", 20, config=prices).out)["mini-xnli"]
    assert again == ["1", "20 of 60", "20", "0", "0", "0"]
    more = table(run("--dry-run", "--subset", 30, config=prices).out)["mini-xnli"]
    assert more[:4] == ["1", "30 of 60", "20", "10"]
    whole = table(run("--dry-run", config=prices).out)["mini-xnli"]
    assert whole[:4] == ["1", "60", "20", "40"]


def test_estimates_say_which_price_is_missing(run: Run, prices: str, tmp_path: Path) -> None:
    assert "no prices: name a file of prices in --config" in run("--dry-run").out
    (tmp_path / "prices.toml").write_text(PRICES.replace("small", "other"))
    assert f"no price of the model in {tmp_path}/prices.toml" in run("--dry-run", config=prices).out


def test_settings_of_a_file_reach_the_requests(run: Run, server: ModelServer) -> None:
    done = run("--subset", 20, config='token_limit = "max_completion_tokens"\n[body]\ntop_p = 0.5\n')
    assert done.code == 0
    assert {body["top_p"] for body in server.bodies} == {0.5}
    assert all("max_completion_tokens" in body and "max_tokens" not in body for body in server.bodies)


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ('labels = "guess"', "llm: unknown labels 'guess'. Known: logprobs, schema, text"),
        ('temperature = "hot"', "llm: temperature = 'hot' is not a number"),
        ("shots = -1", "llm: shots = -1 is not a whole number of at least 0"),
        ("body = 5", "llm: body = 5 is not a table"),
        ("timeout = 0", "endpoint: timeout = 0 is not a number above 0"),
        ("prices = 3", "3: no such file"),
        ("max_cost = 3", "a maximum cost needs prices"),
        ("colour = 3", "unknown setting of llm: 'colour'. Known: answers, api, batch, body"),
        (f'key_variable = "{KEY}"', "key_variable is not the name of an environment variable. Write its name"),
        ("[body]\nmessages = []", "llm: messages cannot be set in the body of requests"),
        ("[body]\nstream = true", "stream = true is not supported"),
        ("x", "config.toml"),
    ],
)
def test_wrong_settings_are_one_line_before_anything_is_sent(
    line: str, message: str, run: Run, server: ModelServer, tmp_path: Path
) -> None:
    path = tmp_path / "config.toml"
    path.write_text(line)
    words = ("run", "llm:small", "--suite", "mini", "--tasks", "mini-xnli", "--languages", "sw", "--dry-run")
    done = isogloss(*words, "--endpoint", server.url, "--config", path, "--out", tmp_path / "runs")
    assert (done.code in (1, 2), done.out) == (True, "")
    assert done.err.startswith("error: ")
    assert done.err.count("\n") == 1
    assert message in done.err
    assert KEY not in done.err


def test_several_wordings_are_runs_of_their_own_with_their_variance(run: Run, tmp_path: Path) -> None:
    done = run("--prompts", "question,careful,question", "--subset", 20, config='wording = "instruction"\n')
    assert done.code == 0
    assert "means over 2 prompts" in done.out
    folders = sorted(path.name for path in (tmp_path / "runs/llm-small/none").iterdir() if path.is_dir())
    assert folders == ["prompt-careful", "prompt-question"]
    titles = [line for line in run("--prompts", "2", "--dry-run").out.splitlines() if "would send" in line]
    assert titles == [f"llm-small, none, {name}: what a run would send" for name in ("instruction", "question")]
    every = run("--prompts", "all", "--dry-run").out
    assert every.count("what a run would send") == 3


def test_wordings_without_a_finished_cell_have_no_scores(run: Run, server: ModelServer) -> None:
    server.script = lambda content, attempt: "overflow"
    done = run("--prompts", "2", "--subset", 20)
    assert done.code == 1
    assert done.out.count("20 of 20 requests have no answer yet") == 2
    assert "error: " not in done.err


@pytest.mark.parametrize("prompts", ["quesion", "0", "4", ",", "99999999999999999999"])
def test_unknown_wordings(prompts: str, run: Run) -> None:
    done = run("--prompts", prompts, "--dry-run")
    assert (done.code, done.out) == (2, "")
    assert done.err.startswith(f"error: unknown wording '{prompts}'. ")
    assert "question" in done.err


def test_a_spent_budget_leaves_cells_open_and_the_same_command_completes_them(
    run: Run, server: ModelServer, prices: str
) -> None:
    settings = f"{prices}concurrency = 1\n"
    stopped = run("--max-cost", 3, config=settings)
    assert stopped.code == 1
    assert "the budget is spent" in stopped.out
    paid = sum(1000 * len(content) + 2 * 2000 for content in server.answered) / 1e6
    assert 0 < paid <= 3
    assert run("--max-cost", 1000, config=settings).code == 0
    assert server.asked.total() == server.answered.total() == 60


def test_a_budget_needs_the_price_of_the_model(run: Run, prices: str, tmp_path: Path, server: ModelServer) -> None:
    (tmp_path / "prices.toml").write_text(PRICES.replace("small", "other"))
    done = run("--max-cost", 3, config=prices)
    assert (done.code, done.out) == (1, "")
    assert done.err.startswith("error: the model 'small' has no price, so the budget cannot be kept")
    assert server.asked.total() == 0


@pytest.mark.parametrize(
    ("url", "message"),
    [
        ("ftp://127.0.0.1", "'ftp://127.0.0.1' is not an http or https URL"),
        ("localhost:8000", "'localhost:8000' is not an http or https URL"),
        ("http://127.0.0.1:99999", "the URL of the endpoint is invalid"),
        (f"http://me:{KEY}@127.0.0.1", "contains a user name or password"),
        (f"http://127.0.0.1?key={KEY}", "the URL of the endpoint has a query"),
    ],
)
def test_wrong_endpoints_end_the_run_at_once(url: str, message: str, run: Run, tmp_path: Path) -> None:
    done = run("--endpoint", url)
    assert (done.code, done.out) == (1, "")
    assert message in done.err
    assert done.err.count("\n") == 1
    assert KEY not in done.err
    assert not (tmp_path / "runs").exists()


def test_a_path_in_the_url_is_kept(run: Run, server: ModelServer) -> None:
    assert run("--subset", 20, "--endpoint", f"{server.url}/v1/").code == 0


def test_other_systems_send_no_requests(tmp_path: Path) -> None:
    words = ("run", "ngram", "--suite", "mini", "--tasks", "mini-xnli", "--out", tmp_path)
    done = isogloss(*words, "--dry-run")
    assert (done.code, done.err) == (1, "error: ngram sends no requests. Use a language model: llm:MODEL\n")
    assert "unknown setting of ngram: 'endpoint'" in isogloss(*words, "--endpoint", "http://127.0.0.1:1").err


@pytest.mark.parametrize(("model", "folder"), [("org/модель 7b", "llm-org-модель-7b"), ("../../etc", "llm-etc")])
def test_names_of_models_become_safe_folders(model: str, folder: str, server: ModelServer, tmp_path: Path) -> None:
    words = ("run", f"llm:{model}", "--suite", "mini", "--tasks", "mini-xnli", "--languages", "sw", "--subset", 20)
    config = tmp_path / "config.toml"
    config.write_text(f'labels = "text"\ntags = "lines"\nstore = "{tmp_path}/inner/store"\n')
    done = isogloss(*words, "--endpoint", server.url, "--config", config, "--out", tmp_path / "inner/runs")
    assert done.code == 0
    assert [path.name for path in (tmp_path / "inner/runs").iterdir()] == [folder]
    assert {path.name for path in tmp_path.iterdir()} == {"inner", "config.toml"}
    assert {body["model"] for body in server.bodies} == {model}


def test_the_key_is_sent_and_neither_printed_nor_written(
    server: ModelServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    monkeypatch.setenv("ISOGLOSS_ENDPOINT", server.url)
    config = tmp_path / "config.toml"
    config.write_text(f'store = "{tmp_path}/store"\n')
    selection = ("--suite", "mini", "--tasks", "mini-xnli", "--languages", "sw", "--subset", 20, "--config", config)
    server.default = f"Your key is {KEY}."
    server.answers = {}
    done = [isogloss("run", "llm:small", *selection, "--out", tmp_path / "runs")]  # probed
    done += [isogloss("llm", "requests", "llm:small", *selection, "--out", tmp_path / "work")]
    done += [isogloss("llm", "send", tmp_path / "work")]
    done += [isogloss("llm", "read", tmp_path / "work", "--out", tmp_path / "read")]
    done += [isogloss("llm", "probe", "small", "--json", tmp_path / "probe.json")]
    server.script = lambda content, attempt: "401"
    done += [isogloss("run", "llm:small", *selection, "--out", tmp_path / "refused", "--regime", "none-native")]
    done += [isogloss("llm", "probe", "small")]
    assert [each.code for each in done] == [0, 0, 0, 0, 0, 1, 1]
    assert server.keys == {f"Bearer {KEY}"}
    assert "OPENAI_API_KEY" in done[-1].err
    assert not any(KEY in each.out + each.err for each in done)
    files = [path for path in tmp_path.rglob("*") if path.is_file()]
    assert len(files) > 10
    assert [path for path in files if KEY.encode() in path.read_bytes()] == []
    assert all(b"[key]" in path.read_bytes() for path in (tmp_path / "store").rglob("*.jsonl"))


def test_show_prints_every_wording_with_the_right_answer() -> None:
    done = isogloss("llm", "show", "mini-xnli", "sw")
    assert (done.code, done.err) == (0, "")
    titles = [line.strip("─ ") for line in done.out.splitlines() if line.startswith("── ")]
    names = ("instruction", "question", "careful")
    assert titles == [title for name in names for title in (f"mini-xnli/sw, {name}", "right answer")]
    examples = load("mini-xnli", "sw")
    assert done.out.count(f"Hypothesis: {examples.text_b[0]}") == 3
    second = isogloss("llm", "show", "mini-xnli", "sw", "--example", examples.ids[1], "--wording", "question").out
    assert examples.text_b[1] in second
    assert second.count("── ") == 2
    native = isogloss("llm", "show", "mini-xnli", "sw", "--regime", "none-native", "--wording", "question").out
    assert native != isogloss("llm", "show", "mini-xnli", "sw", "--wording", "question").out


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("mini-xnli", "sw", "--example", "nope"), "unknown example of mini-xnli/sw 'nope'"),
        (("mini-xnli", "sw", "--wording", "nope"), "unknown wording 'nope'"),
        (("mini-xnli", "sw", "--labels", "nope"), "unknown labels 'nope'"),
        (("mini-xnli", "sw", "--recipe", "nope"), "unknown prompt recipe 'nope'"),
        (("mini-xnli", "xx"), "unknown language of mini-xnli 'xx'"),
        (("nope", "sw"), "unknown task 'nope'"),
        (("mini-tatoeba", "de"), "no prompts for the ranking of mini-tatoeba"),
    ],
)
def test_show_names_what_is_unknown(words: tuple[str, ...], message: str) -> None:
    done = isogloss("llm", "show", *words)
    assert done.code in (1, 2)
    assert message in done.err
    assert done.err.count("\n") == 1


def test_probe_prints_and_writes_what_the_server_does(server: ModelServer, tmp_path: Path) -> None:
    server.enforces_schema = True
    done = isogloss("llm", "probe", "small", "--endpoint", server.url, "--json", tmp_path / "probe.json")
    assert (done.code, done.err) == (0, "")
    rows = table(done.out)
    found = {name: rows[name][0] for name in ("chat", "logprobs", "json_schema", "echo", "usage", "context")}
    expected = dict.fromkeys(("chat", "logprobs", "json_schema", "usage"), "yes") | {"echo": "no", "context": "4,096"}
    assert found == expected
    record = json.loads((tmp_path / "probe.json").read_text())
    assert (record["json_schema"], record["echo"], record["context_length"]) == (True, False, 4096)


def test_probe_without_a_server(tmp_path: Path) -> None:
    done = isogloss("llm", "probe", "small")
    assert (done.code, done.out) == (1, "")
    assert done.err.startswith("error: the endpoint has no URL. Give it, or set ISOGLOSS_ENDPOINT")


@pytest.mark.parametrize("verb", ["", "requests", "send", "read", "show", "probe", "contamination"])
def test_help_fits_into_80_columns(verb: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    done = isogloss("llm", *filter(None, [verb]), "--help")
    assert (done.code, done.err) == (0, "")
    assert max(map(len, done.out.splitlines())) <= 80
    assert "Usage: isogloss llm" in done.out
