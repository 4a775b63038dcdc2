"""Test that the page computes the rank sets and groups of the builder, from the data of a built board."""

import json
import shutil
import subprocess
from itertools import combinations
from pathlib import Path

import msgspec
import numpy as np
import pytest

from board.made_systems import XTREME_R, number, record
from isogloss.board.build import make_board
from isogloss.board.ranking import PairedTests, most_tested
from isogloss.board.site import WEB, read_systems
from isogloss.board.system_model import PairedTest
from isogloss.results.system import SystemResult
from isogloss.scoring.results import Results

SCRIPT = """
import { readFileSync } from "node:fs";
import { openBoard } from "%(web)s/board/decode.js";
import { standings } from "%(web)s/board/standings.js";
const board = openBoard({ ...JSON.parse(readFileSync(process.argv[1], "utf8")), ranks: {} });
const tested = (order, id) => (order.untested.has(id) ? null : order.ranges.get(id));
const answers = {};
for (const ranking of process.argv.slice(2)) {
  const { order, rows } = standings(board, new URLSearchParams({ ranking }));
  const at = (id) => board.system.get(id).at;
  answers[ranking] = {
    test: order.test,
    rank: rows.map((row) => row.rank),
    low: rows.map(({ system }) => tested(order, system.id)?.[0] ?? null),
    high: rows.map(({ system }) => tested(order, system.id)?.[1] ?? null),
    groups: order.groups.map((group) => group.map(at)),
  };
}
console.log(JSON.stringify(answers));
"""


def varied(name: str, value: float, seed: int) -> Results:
    """Return a record with scores that differ between languages and tasks, and more between families."""
    draw, made = np.random.default_rng(seed), record(name, value)
    languages = {code: draw.normal(0, 3) for code in sorted({cell.language for cell in made.cells})}
    cells = [
        msgspec.structs.replace(
            cell,
            metrics=dict.fromkeys(
                cell.metrics, number(round(float(value + languages[cell.language] + draw.normal(0, 2)), 2))
            ),
        )
        for cell in made.cells
    ]
    return msgspec.structs.replace(made, cells=cells, tasks=[])


def systems() -> list[SystemResult]:
    values = (70, 69, 68.5, 66, 60, 59.5, 59, 50, 49, 48, 47, 30)
    made = read_systems([varied(f"system {seed}", value, seed) for seed, value in enumerate(values)], XTREME_R)
    return [*made, SystemResult(name="averages", averages=dict.fromkeys(XTREME_R.tasks, number(65.0)))]


@pytest.mark.skipif(shutil.which("node") is None, reason="needs Node.js")
@pytest.mark.parametrize("paired", [False, True])
def test_the_page_agrees_with_the_builder(tmp_path: Path, paired: bool) -> None:
    entries = systems()[:-1] if paired else systems()
    draw = np.random.default_rng(5)
    tests = {
        pair: [PairedTest(column="overall", difference=0.0, low=None, high=None, p=float(draw.uniform() ** 9))]
        for pair in combinations(range(len(entries)), 2)
    }
    data = make_board(entries, XTREME_R, paired=PairedTests(tests) if paired else None).data
    (tmp_path / "data.json").write_bytes(msgspec.json.encode(data))
    command = ["node", "--input-type=module", "-e", SCRIPT % {"web": WEB.as_uri()}, str(tmp_path / "data.json")]
    done = subprocess.run([*command, *data.ranks], capture_output=True, text=True, check=True)
    answers = json.loads(done.stdout)
    for name, view in data.ranks.items():
        expected = {each: getattr(view, each) for each in ("test", "rank", "low", "high", "groups")}
        assert answers[name] == expected, name
    assert answers["category"]["test"] == ("examples" if paired else "languages")
    assert len(answers["flat"]["groups"]) > 3


def test_pairs_of_more_systems_are_tested_on_fewer_cells() -> None:
    assert [most_tested(cells) for cells in (1, 9, 87, 202, 1000)] == [100, 75, 24, 16, 16]
