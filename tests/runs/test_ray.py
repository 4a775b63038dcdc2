"""A grid on a real Ray cluster of three nodes: the same bytes as at home."""

from pathlib import Path

import pytest

from isogloss.errors import IsoglossError
from isogloss.runs.grid import run_plan
from isogloss.runs.place import Place
from isogloss.runs.plan import Plan
from isogloss.scoring.cells import Request
from isogloss.workers import in_parallel
from runs.grid_fake import leftovers, scores, snapshot, untimed_records
from runs.ray_nodes import Nodes, fake_everywhere, mini_cache, mini_data, three_nodes, worker_path

__all__ = ["fake_everywhere", "mini_cache", "mini_data", "three_nodes", "worker_path"]

pytestmark = [pytest.mark.slow, pytest.mark.usefixtures("fake_everywhere")]

TASKS = ("mini-xquad", "mini-xnli", "mini-tatoeba")


def planned(out: Path, languages: str = "de fi sw", seeds: int = 2) -> Plan:
    request = Request.of("mini", tasks=TASKS, languages=languages.split())
    return Plan.of("fake", out, request, seeds=seeds)


def test_a_cluster_fills_the_same_grid(three_nodes: Nodes, tmp_path: Path) -> None:
    alone, plan = planned(tmp_path / "alone"), planned(tmp_path / "ray")
    expected = run_plan(alone)
    assert run_plan(plan, place=Place.of(f"ray:{three_nodes.address}")) == expected
    assert scores(plan) == scores(alone)
    assert snapshot(plan.root) == snapshot(alone.root)
    assert untimed_records(plan.root) == untimed_records(alone.root)
    assert leftovers(plan.root) == []


def test_functions_run_over_items(three_nodes: Nodes) -> None:
    with Place.of(f"ray:{three_nodes.address}").workers() as workers:
        assert workers.slots == workers.nodes == 3
        assert list(in_parallel(workers, abs, range(-5, 5))) == [5, 4, 3, 2, 1, 0, 1, 2, 3, 4]
        with pytest.raises(ZeroDivisionError):
            list(in_parallel(workers, (1).__truediv__, [0]))


def test_a_cluster_that_does_not_answer_is_a_sentence(tmp_path: Path) -> None:
    with pytest.raises(IsoglossError, match="no connection to the Ray cluster at ray://127.0.0.1:1"):
        run_plan(planned(tmp_path), place=Place.of("ray://127.0.0.1:1"))
