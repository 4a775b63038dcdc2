"""A made-up board of any size, in the form of data.js: the pages are tested on it."""

import base64
import json
import shutil
from pathlib import Path
from typing import Any

import numpy as np

import hostile
from isogloss.languages.registry import RIGHT_TO_LEFT, language
from isogloss.tasks import suite, task

NONE = 65535
KINDS = ("encoder", "encoder", "llm", "retrieval", "other")
REGIMES = ("zero-shot", "translate-train", "in-language", "few-shot")
HUMAN = {"xnli": 92.8, "xcopa": 97.6, "xquad": 91.2, "mlqa": 91.2, "tydiqa": 90.1}
Board = dict[str, Any]


def packed(scores: np.ndarray) -> str:
    """Scores as hundredths in base64; NaN is none."""
    whole = np.where(np.isnan(scores), NONE, np.rint(np.nan_to_num(scores) * 100)).astype("<u2")
    return base64.b64encode(whole.tobytes()).decode()


def synthetic_board(count: int, seed: int = 0) -> Board:
    """A board with so many systems: every fourth incomplete, the first names hostile, the last a floor."""
    draw = np.random.default_rng(seed)
    tasks = [_task(name) for name in suite("xtreme-r").tasks]
    codes = sorted({code for each in tasks for code in each["languages"]})
    skill = np.sort(draw.normal(66, 9, count))[::-1]
    ease = {code: draw.normal(0, 7) for code in codes}
    cells = {}
    for each in tasks:
        level = np.array([ease[code] for code in each["languages"]]) + (9 if each["kind"] == "tagging" else 0)
        cells[each["id"]] = np.clip(skill[:, None] + level + draw.normal(0, 3, (count, len(level))), 1, 99.5)
    for place in range(3, count, 4):
        left_out = tasks[place % len(tasks)]["id"]
        cells[left_out][place, :: 1 + place % 3] = np.nan
    systems = [_system(place, count, draw) for place in range(count)]
    return {
        "schema": 1,
        "made": "2026-11-16",
        "isogloss": "1.0",
        "suite": "xtreme-r",
        "rule": {"name": "category", "text": "the mean over the categories of the mean over each category's tasks"},
        "tasks": tasks,
        "categories": [{"name": name, "tasks": list(ids)} for name, ids in suite("xtreme-r").categories.items()],
        "languages": [_language(code, codes) for code in codes],
        "systems": systems,
        "cells": {name: packed(scores) for name, scores in cells.items()},
        "averages": _averages(tasks, cells, systems),
        "ranks": {},
        "ties": {"overall": [[systems[0]["id"], systems[1]["id"]]] if count > 1 else []},
        "footnotes": [{"system": systems[-1]["id"], "task": "xnli", "text": "The print gives another average."}],
        "provenance": {
            each["id"]: {
                "scorer": "isogloss 1.0",
                "checksums": {name: f"sha256:{hash_of(name)}" for name in cells},
                "signature": f"suite:xtreme-r|system:{each['id']}|v:1.0",
            }
            for each in systems
            if each["has_predictions"]
        },
    }


def hash_of(name: str) -> str:
    """A stand-in for a checksum."""
    return base64.b16encode(name.encode()).decode().lower().ljust(16, "0")


def _task(name: str) -> Board:
    found = task(name)
    tests = found.counts.get("test", 0)
    return {
        "id": name,
        "name": found.title.split(":")[0],
        "category": found.category,
        "metric": " / ".join(found.main),
        "lower_is_better": False,
        "languages": list(found.languages),
        "n": [tests if isinstance(tests, int) else tests[code] for code in found.languages],
        "human": HUMAN.get(name),
        "kind": found.kind,
    }


def _language(code: str, codes: list[str]) -> Board:
    found = language(code)
    at = codes.index(code)
    return {
        "code": code,
        "name": found.name,
        "autonym": found.autonym,
        "family": found.family,
        "branch": found.branch,
        "script": found.script,
        "rtl": found.script in RIGHT_TO_LEFT,
        "articles": found.wikipedia_articles,
        "speakers": None if code == "wo" else 1_000_000 * (1 + 37 * at % 400),
        "near": [codes[at - 1], codes[at - 2]],
    }


def _system(place: int, count: int, draw: np.random.Generator) -> Board:
    names = list(hostile.NAMES.values())
    kind = "floor" if place == count - 1 else KINDS[place % len(KINDS)]
    known = place % 5 != 4
    return {
        "id": f"s{place}",
        "name": names[place - 5] if 5 <= place < 5 + len(names) else f"System {place}",
        "kind": kind,
        "regime": REGIMES[place % len(REGIMES)],
        "reported": place % 3 == 2,
        "year": 2019 + place % 8,
        "date": f"{2019 + place % 8}-{1 + place % 12:02d}-01",
        "paper": "A paper",
        "url": "https://example.org/paper" if place % 2 else "javascript:window.hacked=1",
        "parameters": int(10 ** draw.uniform(7.5, 11)) if known else None,
        "parameters_active": None,
        "open_weights": (True, False, None)[place % 3],
        "pretraining_data": "85 GB" if known else None,
        "parallel_data": ("", "10M sentence pairs", None)[place % 3],
        "translated_data": "" if place % 4 != 1 else "translate-train",
        "licence": "Apache-2.0" if known else None,
        "contamination": "trained on XNLI's test premises" if place % 7 == 6 else "",
        "notes": [],
        "source": "made up",
        "has_predictions": place % 3 != 2,
        "unparsed": 0.013 if kind == "llm" else None,
        "tokens": 4_000_000 * (1 + place) if kind == "llm" else None,
        "cost": 1.5 * (1 + place) if kind == "llm" else None,
    }


def _averages(tasks: list[Board], cells: dict[str, np.ndarray], systems: list[Board]) -> Board:
    by_task = {each["id"]: cells[each["id"]].mean(axis=1) for each in tasks}
    columns = dict(by_task)
    for name, ids in suite("xtreme-r").categories.items():
        columns[name] = np.mean([by_task[each] for each in ids], axis=0)
    columns["overall"] = np.mean([columns[name] for name in suite("xtreme-r").categories], axis=0)
    scored = np.array([each["has_predictions"] for each in systems])
    made = {}
    for name, values in columns.items():
        half = np.where(scored, 0.5 if name == "overall" else 0.9, np.nan)
        made[name] = {"value": packed(values), "low": packed(values - half), "high": packed(values + half)}
    return made


def synthetic_detail(board: Board, at: int) -> Board:
    """What systems/<id>.js says of one system."""
    codes = [each["code"] for each in board["languages"]]
    tests = ["Comparisons", "Intensifiers", "Properties", "Job vs Nationality", "Animal vs Vehicles"]
    rates = {code: [round(7.3 * (at + place + len(code + test)) % 100, 1) for place, test in enumerate(tests)] for code in codes[:9]}
    buckets = [
        {"name": name, "n": n, "score": score, "low": score - 2.5, "high": score + 2.5}
        for name, n, score in (("1–5", 300, 71.2 - at), ("6–10", 420, 66.4), ("11–20", 310, 61.9 + at), ("> 20", 160, 55.0))
    ]
    shared = {"metric": "f1", "buckets": buckets}
    return {
        "intervals": {each["id"]: {code: [50.0, 60.0] for code in each["languages"][:3]} for each in board["tasks"]},
        "checklist": {"tests": tests, "rates": rates},
        "explain": [
            {"task": "xquad", "language": code, "attribute": attribute, "title": title, **shared}
            for code in ("en", "de", "ar")
            for attribute, title in (("aLen", "length of the answer"), ("cLen", "length of the context"))
        ]
        if board["systems"][at]["has_predictions"]
        else [],
    }


def write_site(board: Board, folder: Path, script: str, web: Path) -> Path:
    """The site on disk; gives index.html."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "systems").mkdir(exist_ok=True)
    for name in ("index.html", "board.css"):
        shutil.copy(web / name, folder / name)
    (folder / "app.js").write_text(script, encoding="utf-8")
    text = json.dumps(board, ensure_ascii=True, separators=(",", ":"))
    (folder / "data.js").write_text(f"globalThis.isoglossBoardData = {text};\n", encoding="utf-8")
    for at, each in enumerate(board["systems"][:50]):
        detail = json.dumps(synthetic_detail(board, at), separators=(",", ":"))
        call = f"globalThis.isoglossSystem({json.dumps(each['id'])}, {detail});\n"
        (folder / "systems" / f"{each['id']}.js").write_text(call, encoding="utf-8")
    return folder / "index.html"
