"""A grid on a real Ray cluster of three nodes: the same bytes as at home."""

import shutil
from collections import Counter
from dataclasses import replace
from functools import partial
from pathlib import Path

import pytest

from isogloss.errors import IsoglossError
from isogloss.runs.grid import run_plan
from isogloss.runs.place import Place
from isogloss.runs.plan import Plan
from isogloss.scoring.cells import Request
from isogloss.workers import Resources, in_parallel
from runs.grid_fake import leftovers, mini_cache, mini_data, scores, snapshot, untimed_records
from runs.ray_nodes import Nodes, package_and_file, visible_gpus

__all__ = ["mini_cache", "mini_data"]

pytestmark = pytest.mark.slow

TASKS = ("mini-xquad", "mini-xnli", "mini-tatoeba")


def planned(out: Path, languages: str = "de fi sw", seeds: int = 2) -> Plan:
    request = Request.of("mini", tasks=TASKS, languages=languages.split())
    return Plan.of("fake", out, request, seeds=seeds)


def test_a_cluster_fills_the_same_grid(three_nodes: Nodes, tmp_path: Path) -> None:
    alone, plan = planned(tmp_path / "alone"), planned(tmp_path / "ray")
    expected = run_plan(alone)
    assert run_plan(plan, place=three_nodes.place()) == expected
    assert scores(plan) == scores(alone)
    assert snapshot(plan.root) == snapshot(alone.root)
    assert untimed_records(plan.root) == untimed_records(alone.root)
    assert leftovers(plan.root) == []


def test_files_travel_where_no_folder_is_shared(
    three_nodes: Nodes, mini_data: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Nodes that may open nothing below the driver's folder fill the same grid, to the byte."""
    home = tmp_path / "home"
    shutil.copytree(mini_data / "xnli", home / "data" / "xnli")
    (home / "model").mkdir()
    (home / "model" / "word.txt").write_text("a word")
    request = Request.of("mini", tasks=["carried", "mini-xquad"], languages=["de", "sw"], data=home / "data")
    alone, plan = (Plan.of(f"reader:{home / 'model'}", home / out, request, seeds=2) for out in ("alone", "shipped"))
    expected = run_plan(alone)
    assert expected.cells["done"] == 8
    monkeypatch.setenv("FAKE_FORBIDDEN", str(home))
    place = three_nodes.place(files="ship")
    with place.workers() as workers:
        package, read = workers.submit(partial(package_and_file, home / "model" / "word.txt")).result()
    assert "runtime_resources" in package  # sent along, for nodes that have none
    assert "is not this node's" in read
    assert run_plan(plan, place=place) == expected
    assert snapshot(plan.root) == snapshot(alone.root)
    mine, theirs = untimed_records(plan.root), untimed_records(alone.root)
    for name in mine:
        if "mini-xquad" in name:  # made on the node, in its own cache: the same bytes, at another time
            for each in (mine[name], theirs[name]):
                del each["provenance"]["data"]["stamps"], each["provenance"]["training"]["stamps"]
    assert mine == theirs
    assert leftovers(plan.root) == []


def test_a_cluster_is_reached_from_outside(three_nodes: Nodes, tmp_path: Path) -> None:
    if not three_nodes.client:
        pytest.skip("grpc is not installed, which ray:// needs: pip install 'isogloss[cluster]'")
    plan = planned(tmp_path, "de", seeds=1)
    assert run_plan(plan, place=replace(three_nodes.place(), address=three_nodes.client)).cells["done"] == 3


def test_functions_run_over_items(three_nodes: Nodes) -> None:
    with three_nodes.place().workers() as workers:
        assert workers.slots == workers.nodes == 3
        assert list(in_parallel(workers, abs, range(-5, 5))) == [5, 4, 3, 2, 1, 0, 1, 2, 3, 4]
        with pytest.raises(ZeroDivisionError):
            list(in_parallel(workers, (1).__truediv__, [0]))


def test_gpus_are_shared_out(three_nodes: Nodes) -> None:
    """By Ray's count; a task sees the one it has a share of."""
    with three_nodes.place().workers() as workers:
        assert workers.submit(visible_gpus, Resources(0.1, gpus=0.5)).result() in ("0", "1")
        assert workers.slots == 3 * 2 / 0.5
        assert workers.submit(visible_gpus, Resources(0.1, gpus=2)).result() == "0,1"
        assert workers.slots == 3
        workers.submit(visible_gpus, Resources(0.1)).result()
        assert workers.slots == 6  # one each, where nothing is said
        workers.submit(visible_gpus, Resources(0.1, gpus=0)).result()
        assert workers.slots == 30
        workers.submit(visible_gpus, Resources(memory=1 << 60))
        with pytest.warns(UserWarning, match="no node of the cluster has what a job needs"):
            assert workers.slots == 0


def test_a_fit_over_several_gpus_is_that_of_processes_together(
    three_nodes: Nodes, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As torchrun starts them, two for two GPUs (which compute on the CPU here): both fit, one answers."""
    pytest.importorskip("torch", reason="torch is not installed")
    pytest.importorskip("accelerate", reason="accelerate is not installed")
    monkeypatch.setenv("FAKE_LOG", str(tmp_path / "log"))
    request = Request.of("mini", tasks=["mini-xnli"], languages=["de", "sw"])
    alone, plan = (Plan.of("fake", tmp_path / out, request, seeds=1) for out in ("alone", "together"))
    run_plan(alone)
    (tmp_path / "log").unlink()
    run_plan(plan, place=three_nodes.place(resources=Resources(gpus=2)))
    assert snapshot(plan.root) == snapshot(alone.root)
    assert untimed_records(plan.root) == untimed_records(alone.root)
    lines = [line.split()[0] for line in (tmp_path / "log").read_text().splitlines()]
    assert Counter(lines) == {"fit": 2, "predict": 2}


def test_a_cluster_is_not_told_how_to_open_a_board(monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("ray", reason="ray is not installed: pip install 'isogloss[cluster]'")
    monkeypatch.setenv("ISOGLOSS_BOARD_TOKEN", "secret")
    monkeypatch.setenv("ISOGLOSS_LANGUAGE", "sw")
    told = Place("ray").workers().environment
    assert told["ISOGLOSS_LANGUAGE"] == "sw"
    assert "secret" not in told.values()


def test_an_address_from_outside_without_a_port_is_refused_at_once() -> None:
    pytest.importorskip("ray", reason="ray is not installed: pip install 'isogloss[cluster]'")
    pytest.importorskip("grpc", reason="grpc is not installed, which ray:// needs: pip install 'isogloss[cluster]'")
    with pytest.raises(IsoglossError, match="there is no port in it"), Place.of("ray://head").workers():
        pass


def test_a_cluster_that_does_not_answer_is_a_sentence(tmp_path: Path, mini_data: Path) -> None:
    with pytest.raises(IsoglossError, match=r"no connection to the Ray cluster at 127.0.0.1:1: "):
        run_plan(planned(tmp_path), place=Place.of("ray:127.0.0.1:1"))
