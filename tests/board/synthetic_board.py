"""Synthetic board of any size, in the form of data.js, for tests of the pages."""

import shutil
from pathlib import Path
from typing import Any

import numpy as np

import hostile
from isogloss.board.model import BoardSystem
from isogloss.board.packing import packed as pack
from isogloss.board.ranking import TESTS
from isogloss.board.site import STYLE, WEB, page_styles, static_files
from isogloss.escaping import printable
from isogloss.languages.registry import RIGHT_TO_LEFT, language
from isogloss.site.page_parts import bundle, script_json
from isogloss.tasks import suite, task

KINDS = ("encoder", "encoder", "llm", "retrieval", "other")
REGIMES = ("zero-shot", "translate-train", "in-language", "few-shot")
HUMAN = {"xnli": 92.8, "xcopa": 97.6, "xquad": 91.2, "mlqa": 91.2, "tydiqa": 90.1}
Board = dict[str, Any]
_LENGTHS = {"attribute": "cLen", "title": "context length", "discrete": False, "n": 1190, "mean": 130.5}
_TYPES = {
    "attribute": "qType",
    "title": "question type",
    "discrete": True,
    "n": 1190,
    "shares": {"who": 0.25, "what": 0.75},
}
BIAS = {
    "split": "test",
    "distributions": [
        {"task": "xquad", "language": code, "split": "test", **facts}
        for code, most in (("en", 700), ("ar", 900))
        for facts in ({**_LENGTHS, "quartiles": [20, 90, 120, 160, most]}, _TYPES)
    ],
}


def packed(scores: np.ndarray) -> str:
    """Pack scores as the builder does; NaN marks missing scores."""
    return pack(None if np.isnan(score) else float(score) for score in scores.ravel())


def synthetic_board(count: int, seed: int = 0) -> Board:
    """Return a board of `count` systems: every fourth incomplete, hostile names from the sixth, the last a floor."""
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
        "schema": 3,
        "made": "2026-11-16",
        "isogloss": "1.0",
        "title": "A made-up board",
        "suite": "xtreme-r",
        "rule": {"name": "category", "text": "the mean over the categories of the mean over each category's tasks"},
        "tasks": tasks,
        "categories": [{"name": name, "tasks": list(ids)} for name, ids in suite("xtreme-r").categories.items()],
        "languages": [_language(code, codes) for code in codes],
        "systems": systems,
        "cells": {name: packed(scores) for name, scores in cells.items()},
        "averages": _averages(tasks, cells, systems),
        "ranks": {},
        "own_rule": ["category"],
        "example_tests": {},
        "footnotes": [{"system": systems[-1]["id"], "task": "xnli", "text": "The print gives another average."}],
        "has_bias": True,
        "tests": TESTS,
        "provenance": [
            {
                "scorer": "1.0",
                "split": "test",
                "resample": "bootstrap",
                "checksums": {
                    each["id"]: {code: f"sum-{each['id']}-{code}" for code in each["languages"]} for each in tasks
                },
            }
        ],
    }


def _task(name: str) -> Board:
    entry = task(name)
    tests = entry.counts.get("test", 0)
    return {
        "id": name,
        "name": entry.title,
        "category": entry.category,
        "metric": entry.main[0] if len(entry.main) == 1 else "score",
        "metrics": list(entry.main),
        "lower_is_better": False,
        "languages": list(entry.languages),
        "n": [tests if isinstance(tests, int) else tests[code] for code in entry.languages],
        "human": HUMAN.get(name),
        "kind": entry.kind,
    }


def _language(code: str, codes: list[str]) -> Board:
    entry = language(code)
    at = codes.index(code)
    return {
        "code": code,
        "name": entry.name,
        "autonym": entry.autonym,
        "family": entry.family,
        "branch": entry.branch,
        "script": entry.script,
        "rtl": entry.script in RIGHT_TO_LEFT,
        "articles": entry.wikipedia_articles,
        "speakers": None if code == "wo" else 1_000_000 * (1 + 37 * at % 400),
        "near": [codes[at - 1], codes[at - 2]],
        "place": (entry.latitude, entry.longitude),
    }


def _system(place: int, count: int, draw: np.random.Generator) -> Board:
    names = list(hostile.NAMES.values())
    kind = "floor" if place == count - 1 else KINDS[place % len(KINDS)]
    known = place % 5 != 4
    return {
        "id": f"s{place}",
        "name": printable(names[place - 5], 120) if 5 <= place < 5 + len(names) else f"System {place}",
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
        "provenance": 0 if place % 3 != 2 else None,
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
    """Return the content of systems/<id>.js."""
    system = board["systems"][at]
    codes = [each["code"] for each in board["languages"]][:9]
    tests = ("Comparisons", "Intensifiers", "Properties")
    cells = [
        {
            "task": each["id"],
            "language": code,
            "n": n,
            "metrics": {each["metric"]: [61.0, 58.5, 63.4]},
            "signature": "v:1",
            "unparsed": 0.02,
        }
        for each in board["tasks"]
        for code, n in zip(each["languages"], each["n"], strict=True)
    ]
    second = board["systems"][1]["id"] if len(board["systems"]) > 1 else ""
    return {
        "id": system["id"],
        "metadata": {"adapted from": "=cmd()", "seeds": 3},
        "cells": cells,
        "gaps": [{"task": "xnli", "value": 4.0, "low": 2.5, "high": 5.5}],
        "checklist": [{"test": test, "language": code, "value": 7.5 + 3 * at} for test in tests for code in codes],
        "checklist_languages": [],
        "paired": {second: [{"column": "overall", "difference": 0.4, "low": -0.1, "high": 0.9, "p": 0.12}]}
        if at == 0
        else {},
        "missing": [],
        "analyses": _analyses(second if at == 0 else "") if system["has_predictions"] else None,
    }


def _analyses(other: str) -> Board:
    buckets = (("XS", "1–5", 300, 71.2), ("S", "6–10", 420, 66.4), ("L", "11–20", 310, 61.9), ("XL", "> 20", 160, 55.0))
    charts = [
        {"task": "xquad", "language": code, "metric": "f1", "attribute": attribute, "title": title, "insight": ""}
        for code in ("en", "de", "ar")
        for attribute, title in (("aLen", "length of the answer"), ("cLen", "length of the context"))
    ]
    single = [[*bucket, bucket[3] - 2.5, bucket[3] + 2.5, ["q1", "q2"]] for bucket in buckets]
    pair = [
        [*bucket[:3], 60.0, 58.0, 2.0 - place, 1.0 - place, 3.0 - place, 0.04, False, ["q1"]]
        for place, bucket in enumerate(buckets)
    ]
    example = {"inputs": {"question": hostile.NAMES["html"]}, "gold": "gold", "answer": "answer", "score": 0.0}
    return {
        "single": [{**chart, "bars": single} for chart in charts],
        "pairwise": {other: [{**chart, "bars": pair} for chart in charts]} if other else {},
        "examples": {f"xquad/{code}": {"q1": example} for code in ("en", "de", "ar")},
    }


def write_site(board: Board, folder: Path, detailed: int = 50) -> Path:
    """Write the site with files of the first `detailed` systems; return the path of index.html."""
    (folder / "systems").mkdir(parents=True)
    for path in static_files():
        shutil.copy(path, folder / path.name)
    (folder / STYLE).write_bytes(page_styles())
    (folder / "app.js").write_text(bundle(WEB), encoding="utf-8")
    fields = list(BoardSystem.__struct_fields__)
    listed = {"system_fields": fields, "systems": [[each.get(name) for name in fields] for each in board["systems"]]}
    data = script_json({**board, **listed})
    (folder / "data.js").write_text(f"globalThis.isoglossBoardData = {data};\n", encoding="utf-8")
    (folder / "bias.js").write_text(f"globalThis.isoglossBias = {script_json(BIAS)};\n", encoding="utf-8")
    for at, each in enumerate(board["systems"][:detailed]):
        call = f"globalThis.isoglossSystem({script_json(each['id'])}, {script_json(synthetic_detail(board, at))});\n"
        (folder / "systems" / f"{each['id']}.js").write_text(call, encoding="utf-8")
    return folder / "index.html"
