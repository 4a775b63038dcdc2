"""The pages estimate, test and correct as the package does: the same numbers for the same answers."""

import json
import shutil
import subprocess
from importlib import resources
from typing import Any

import numpy as np
import pytest

from isogloss.metrics.discovery import false_discovery_rates
from isogloss.metrics.estimate import estimate
from isogloss.metrics.exchange import exchange
from isogloss.metrics.significance import sign_test
from isogloss.metrics.statistics import F1, MEAN, Statistics, Value

NODE = shutil.which("node")
pytestmark = pytest.mark.skipif(NODE is None, reason="node is not installed")
IMPORTS = """
import { readFileSync } from "node:fs";
const load = (name) => import(`${process.argv[1]}/${name}.js`);
const [{ bucketEstimates, scoreInterval }, { exchangedBuckets }, { discoveryRates }, { signTest }] = await Promise.all(
  ["estimates", "exchange", "discovery", "sign_test"].map(load));
const given = JSON.parse(readFileSync(0, "utf-8"));
const show = (found) => console.log(JSON.stringify(found));
"""
BUCKETS = """
const { systems, codes, sources, size, buckets } = given;
const place = [codes, buckets, sources, size];
const scores = bucketEstimates(systems[0], ...place).map((one) => [one.value, scoreInterval(one)]);
const differences = exchangedBuckets(...systems, ...place);
show({ scores, differences, q: discoveryRates(differences.map(({ p }) => p)) });
"""


def on_page(script: str, given: Any) -> Any:
    """Return what the pages' code computes."""
    assert NODE is not None
    web = f"file://{resources.files('isogloss.site') / 'web' / 'statistics'}"
    command = [NODE, "--input-type=module", "--eval", IMPORTS + script, web]
    done = subprocess.run(command, input=json.dumps(given), capture_output=True, text=True, check=True)
    return json.loads(done.stdout)


def close(found: Any, expected: Any) -> bool:
    """Compare numbers and intervals to eight digits."""
    if expected is None or found is None:
        return found is expected
    return bool(found == pytest.approx(expected, rel=1e-8, abs=1e-12))


@pytest.mark.parametrize("value", [MEAN, F1], ids=["mean", "f1"])
def test_scores_and_differences(value: Value) -> None:
    rng = np.random.default_rng(5)
    n, buckets, size = 1200, 8, 120
    codes, sources = rng.integers(buckets, size=n), rng.integers(size, size=n)
    sources[codes == 0] %= 12  # too few for an interval
    gold = rng.integers(0, 4, size=n)
    statistics = []
    for shift in (0.0, 0.25):
        right = rng.binomial(gold, 0.6 + shift * (codes % 4) / 3)
        rows = np.stack([right, right + rng.integers(0, 2, size=n) * gold, gold], axis=1).astype(float)
        statistics.append(
            Statistics(rows if value is F1 else right[:, None] / np.maximum(gold, 1)[:, None], value, sources)
        )
    same = (codes == 1) | ((codes == 2) & (np.cumsum(codes == 2) > 2))  # no answer differs, and at most two
    statistics[1].rows[same] = statistics[0].rows[same]
    given = {
        "systems": [{"value": value.name, "columns": each.rows.T.tolist()} for each in statistics],
        "codes": codes.tolist(),
        "sources": sources.tolist(),
        "size": size,
        "buckets": buckets,
    }
    found = on_page(BUCKETS, given)
    tests = []
    for bucket in range(buckets):
        sides = [each.select(codes == bucket) for each in statistics]
        score, gap = estimate(sides[0], size=size), exchange(*sides)
        assert close(found["scores"][bucket][0], score.value)
        assert close(found["scores"][bucket][1], score.score_interval())
        shown = found["differences"][bucket]
        assert close([shown["value"], shown["p"], shown["count"]], [gap.value, gap.p, gap.sources])
        assert close(shown["interval"], gap.interval())
        tests.append([gap.p])
    assert found["differences"][0]["interval"] is None
    rates = [q for [q] in false_discovery_rates(tests)]
    assert close(found["q"], rates)
    assert min(rates) < 0.05 < max(rates)


def test_sign_tests_of_every_kind() -> None:
    rng = np.random.default_rng(1)
    values = [
        *([1.0] * 9 + [-1.0] * 3, [0.5, 0.25, -0.25, 1.0], [0.0, 0.0], [], [1.0, -1.0], [3.0] * 2000),  # whole numbers
        rng.normal(0.3, 1, 28).tolist(),  # enumerated
        rng.normal(0.2, 1, 29).tolist(),  # rounded
        rng.normal(0.1, 1, 300).tolist(),
        rng.normal(0.0, 1, 301).tolist(),  # saddlepoint
        rng.normal(0.3, 1, 900).tolist(),
        rng.exponential(1, 400).tolist(),  # all have one sign
    ]
    found = on_page("show(given.map(signTest));", values)
    assert found == pytest.approx([sign_test(each) for each in values], rel=1e-8)
