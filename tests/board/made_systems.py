"""Hand-made systems for the board's tests, and minimal pages."""

from pathlib import Path
from typing import Any

import pytest

from isogloss.scoring.results import AverageScore, CellScore, Number, Overall, Results
from isogloss.tasks.registry import task
from isogloss.tasks.suites import suite

XTREME_R = suite("xtreme-r")
MAIN = 'import { shown } from "./shown.js";\nshown(globalThis.isoglossBoardData);\n'
SHOWN = "export function shown(data) { document.title = data.title; }\n"


def number(value: float, half: float | None = 1.0, n: int = 100) -> Number:
    return Number(value, None, None, n) if half is None else Number(value, value - half, value + half, n)


def record(
    name: str, value: float = 60.0, *, without: tuple[str, ...] = (), half: float | None = 1.0, **system: Any
) -> Results:
    """Return a record of all cells of XTREME-R with one value (F1 4 above, exact match 4 below), with exceptions."""
    cells = [
        CellScore(
            task=of,
            language=code,
            split="test",
            metrics=_metrics(of, value),
            signature=f"task:{of}|lang:{code}|split:test|data:{of}123|version:0",
        )
        for of in XTREME_R.tasks
        for code in XTREME_R.languages_of(of)
        if f"{of}/{code}" not in without and of not in without
    ]
    members = {of: [cell.language for cell in cells if cell.task == of] for of in XTREME_R.tasks}
    missing = {of: [code for code in XTREME_R.languages_of(of) if code not in members[of]] for of in XTREME_R.tasks}
    averages = [
        AverageScore(
            name=of, score=number(value, half), metrics={}, members=codes, missing=missing[of], gap=number(7.0)
        )
        for of, codes in members.items()
        if codes
    ]
    categories = [
        AverageScore(
            name=of,
            score=number(value, half),
            metrics={},
            members=list(names),
            missing=[each for each in names if missing[each]],
        )
        for of, names in XTREME_R.categories.items()
    ]
    overall = Overall(
        "category", number(value, half), [f"{of}/{code}" for of, codes in missing.items() for code in codes]
    )
    return Results(
        suite="xtreme-r",
        system={"name": name, **system},
        split="test",
        cells=cells,
        tasks=averages,
        categories=categories,
        overall=overall,
        pairs=[],
        isogloss="9.9",
        resample="source",
    )


def _metrics(of: str, value: float) -> dict[str, Number]:
    main = task(of).main
    return {metric: number(value + (4 - 8 * place if len(main) > 1 else 0)) for place, metric in enumerate(main)}


@pytest.fixture
def small_web(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Replace the board's pages by pages of a few lines."""
    web = tmp_path / "web"
    web.mkdir()
    (web / "index.html").write_text('<!doctype html><script src="data.js"></script><script src="app.js"></script>\n')
    (web / "look.css").write_text("body { color: black }\n")
    (web / "board.css").write_text("body { margin: 0 }\n")
    (web / "main.js").write_text(MAIN)
    (web / "shown.js").write_text(SHOWN)
    monkeypatch.setattr("isogloss.board.site.WEB", web)
    return web
