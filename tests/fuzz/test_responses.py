"""Corrupted files between prompting and reading: responses, requests, manifests, prices, recipes and tables."""

import json
import shutil
from pathlib import Path

import isogloss
from fuzz.campaign import Campaign, Case
from fuzz.mutators import spoil
from fuzz.oracle import FaultError, command
from isogloss.prompts.render import Prompts
from isogloss.prompts.settings import PromptSettings

TASK, LANGUAGE = "mini-xnli", "sw"
PRICES = 'date = 2026-11-01\ncurrency = "USD"\n[models.m]\ninput = 0.1\ncached = 0.05\noutput = 0.4\nbatch = 0.5\n'
RECIPE = 'shots = 2\n[wordings.short]\nsystem = "{ask} {format}"\nturn = "{example}"\n'


def work_folder(folder: Path) -> None:
    """Write requests, and a batch output with right answers."""
    made = command(
        *("llm", "requests", "llm:m", "--suite", "mini", "--tasks", TASK, "--languages", LANGUAGE, "--out", folder)
    )
    assert not made.refused, made.text
    examples = isogloss.load(TASK, LANGUAGE)
    prompts = Prompts(isogloss.task(TASK), LANGUAGE, PromptSettings(model="m"))
    lines = []
    for request, row, gold in zip(prompts.requests(examples), prompts.rows(examples), examples.label, strict=True):
        message = {"role": "assistant", "content": prompts.format.write(row, gold)}
        body = {
            "choices": [{"index": 0, "message": message, "finish_reason": "stop"}],
            "usage": {"prompt_tokens": 50, "completion_tokens": 2},
        }
        response = {"status_code": 200, "body": body}
        lines.append(json.dumps({"custom_id": request.custom_id, "response": response, "error": None}))
    (folder / "output.jsonl").write_text("\n".join(lines) + "\n", encoding="utf-8")
    (folder / "prices.toml").write_text(PRICES, encoding="utf-8")


def test_batches(campaign: Campaign, tmp_path: Path) -> None:
    work_folder(tmp_path / "work")
    names = ["output.jsonl", "requests.toml", "prices.toml", "requests-001.jsonl"]

    def fuzzer(case: Case) -> None:
        work = case.folder / "work"
        shutil.copytree(tmp_path / "work", work)
        path = work / case.rng.choice(names)
        corrupted, step = spoil(case.rng, path.name, path.read_bytes())
        case.tell(f"{path.name}: {step}")
        path.write_bytes(corrupted)
        settings = work / "settings.toml"
        settings.write_text(f"prices = {json.dumps(str(work / 'prices.toml'))}\n", encoding="utf-8")
        out = case.folder / "runs"
        done = command(
            *("llm", "read", work, "--responses", work / "output.jsonl", "--config", settings, "--out", out), seconds=30
        )
        if done.refused:
            case.tell(done.text)
        elif path.name == "prices.toml" and "100.0" not in done.text:
            raise FaultError("score", "prices changed a score")

    campaign.run(fuzzer, share=0.04)


def test_recipes_of_users(campaign: Campaign) -> None:
    def fuzzer(case: Case) -> None:
        recipe = case.folder / "recipe"
        recipe.mkdir()
        corrupted, step = spoil(case.rng, "label.toml", RECIPE.encode())
        case.tell(step)
        (recipe / "label.toml").write_bytes(corrupted)
        done = command("llm", "show", TASK, LANGUAGE, "--recipe", recipe)
        case.tell(done.text)

    campaign.run(fuzzer, share=0.03)


def test_tables_of_replies(campaign: Campaign) -> None:
    examples = isogloss.load(TASK, LANGUAGE)
    rows = [
        f'{identifier},"The answer is: {label}."'
        for identifier, label in zip(examples.ids, examples.label, strict=True)
    ]
    content = "\n".join(["id,reply", *rows, ""]).encode()

    def fuzzer(case: Case) -> None:
        path = case.folder / f"{LANGUAGE}.csv"
        corrupted, step = spoil(case.rng, path.name, content)
        case.tell(step)
        path.write_bytes(corrupted)
        done = command("llm", "read", path, "--task", TASK, "--id", "id", "--out", case.folder / "read")
        case.tell(done.text[:200])

    campaign.run(fuzzer, share=0.03)
