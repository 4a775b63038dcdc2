"""A grid on a real Ray cluster with two nodes gives the bytes of a local run, even if the head dies."""

import shutil
from dataclasses import replace
from functools import partial
from pathlib import Path

import pytest

from building.made_dumps import WIKIS, make_world
from isogloss.building.mewslix import MewslixSettings, build_mewslix
from isogloss.errors import IsoglossError
from isogloss.runs.grid import run_plan
from isogloss.runs.place import Place
from isogloss.runs.plan import Plan
from isogloss.scoring.request import Request
from isogloss.workers import Resources, in_parallel
from runs.grid_fake import leftovers, mini_cache, mini_data, same, snapshot, untimed_records
from runs.ray_nodes import (
    Nodes,
    accepts_connections,
    eventually,
    forget_place,
    package_and_file,
    started,
    until_begun,
    visible_gpus,
)

__all__ = ["mini_cache", "mini_data"]

pytestmark = pytest.mark.slow

TASKS = ("mini-xquad", "mini-xnli", "mini-tatoeba")


def planned(out: Path, languages: str = "de sw", seeds: int = 2) -> Plan:
    request = Request.of("mini", tasks=TASKS, languages=languages.split())
    return Plan.of("fake", out, request, seeds=seeds)


def test_a_cluster_fills_the_same_grid(two_nodes: Nodes, tmp_path: Path) -> None:
    alone, plan = planned(tmp_path / "alone"), planned(tmp_path / "ray")
    expected = run_plan(alone)
    assert run_plan(plan, place=two_nodes.place()) == expected
    same(plan, alone)


def test_a_cluster_builds_the_same_dataset(two_nodes: Nodes, tmp_path: Path) -> None:
    dumps = make_world(tmp_path / "dumps").folder
    settings = MewslixSettings(description_languages=tuple(WIKIS), test=44, dev=11, candidates=60, pair_pages=1.0)
    alone = build_mewslix([dumps], out=tmp_path / "alone", settings=settings)
    with two_nodes.place().workers() as workers:
        result = build_mewslix([dumps], out=tmp_path / "ray", settings=settings, workers=workers)
    assert [path.read_bytes() for path in result.files] == [path.read_bytes() for path in alone.files]


def test_files_are_shipped_without_a_shared_folder(
    two_nodes: Nodes, mini_data: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Nodes without access to the driver's folder fill the same grid, byte for byte."""
    home = tmp_path / "home"
    shutil.copytree(mini_data / "xnli", home / "data" / "xnli")
    (home / "model").mkdir()
    (home / "model" / "word.txt").write_text("a word")
    request = Request.of("mini", tasks=["carried", "mini-xquad"], languages=["de", "sw"], data=home / "data")
    alone, plan = (Plan.of(f"reader:{home / 'model'}", home / out, request, seeds=2) for out in ("alone", "shipped"))
    expected = run_plan(alone)
    assert expected.cells["done"] == 8
    monkeypatch.setenv("FAKE_FORBIDDEN", str(home))
    place = two_nodes.place(files="ship")
    two_nodes.disconnect()  # the package is sent when a command connects
    with place.workers() as workers:
        package, read = workers.submit(partial(package_and_file, home / "model" / "word.txt")).result()
    assert "runtime_resources" in package  # sent along, for nodes that have none
    assert "is not this node's" in read
    assert run_plan(plan, place=place) == expected
    assert snapshot(plan.root) == snapshot(alone.root)
    mine, theirs = untimed_records(plan.root), untimed_records(alone.root)
    for name in mine:
        if "mini-xquad" in name:  # created on the node, in its own cache: same bytes, another time
            for each in (mine[name], theirs[name]):
                del each["provenance"]["data"]["stamps"], each["provenance"]["training"]["stamps"]
    assert mine == theirs
    assert leftovers(plan.root) == []


def test_a_cluster_is_reached_from_outside(two_nodes: Nodes, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    if not two_nodes.client:
        pytest.skip("grpc is not installed, which ray:// needs: pip install 'isogloss[cluster]'")
    eventually(partial(accepts_connections, two_nodes.client))
    # A busy machine may need minutes to start the process that serves this client.
    monkeypatch.setattr("isogloss.runs.ray_workers.PATIENCE", 300.0)
    place = replace(two_nodes.place(), address=two_nodes.client)
    two_nodes.disconnect()
    assert run_plan(planned(tmp_path, "de", seeds=1), place=place).cells["done"] == 3


def test_functions_run_over_items(two_nodes: Nodes) -> None:
    with two_nodes.place().workers() as workers:
        assert workers.slots == workers.nodes == 2
        assert list(in_parallel(workers, abs, range(-5, 5))) == [5, 4, 3, 2, 1, 0, 1, 2, 3, 4]
        with pytest.raises(ZeroDivisionError):
            list(in_parallel(workers, (1).__truediv__, [0]))


def test_gpus_are_shared(two_nodes: Nodes) -> None:
    """A task sees the GPU it has a share of, as counted by Ray."""
    with two_nodes.place().workers() as workers:
        assert workers.submit(visible_gpus, Resources(0.1, gpus=0.5)).result() in ("0", "1")
        assert workers.slots == 2 * 2 / 0.5
        assert workers.submit(visible_gpus, Resources(0.1, gpus=2)).result() == "0,1"
        assert workers.slots == 2
        workers.submit(visible_gpus, Resources(0.1))
        assert workers.slots == 4  # one each by default
        workers.submit(visible_gpus, Resources(0.1, gpus=0))
        assert workers.slots == 20
        workers.submit(visible_gpus, Resources(memory=1 << 60))
        with pytest.warns(UserWarning, match="no node of the cluster has the resources of a job"):
            assert workers.slots == 0


def test_a_board_token_is_not_passed_to_a_cluster(monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("ray", reason="ray is not installed: pip install 'isogloss[cluster]'")
    monkeypatch.setenv("ISOGLOSS_BOARD_TOKEN", "secret")
    monkeypatch.setenv("ISOGLOSS_LANGUAGE", "sw")
    told = Place(engine_name="ray").workers().environment
    assert told["ISOGLOSS_LANGUAGE"] == "sw"
    assert "secret" not in told.values()


def test_a_client_address_without_a_port_is_rejected(disconnected: None) -> None:
    pytest.importorskip("grpc", reason="grpc is not installed, which ray:// needs: pip install 'isogloss[cluster]'")
    with pytest.raises(IsoglossError, match="missing port"), Place.of("ray://head").workers():
        pass


def test_a_cluster_that_does_not_answer_is_an_error(disconnected: None, tmp_path: Path, mini_data: Path) -> None:
    with pytest.raises(IsoglossError, match=r"cannot connect to the Ray cluster at 127.0.0.1:1: "):
        run_plan(planned(tmp_path), place=Place.of("ray:127.0.0.1:1"))


def test_a_dead_head_loses_no_finished_cell(two_nodes: Nodes, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The command ends with an error, and a local one fills the missing cells. The last test: it ends the cluster."""
    hold = tmp_path / "hold"
    hold.write_text("de")
    monkeypatch.setenv("FAKE_HOLD", str(hold))
    plan, undisturbed = planned(tmp_path / "beheaded", seeds=1), planned(tmp_path / "undisturbed", seeds=1)
    process = started(plan, two_nodes.toml(tmp_path / "place.toml"))
    until_begun(plan, process)
    two_nodes.lose_head()
    _, complaints = process.communicate(timeout=300)
    assert process.returncode == 1, complaints
    assert f"error: the Ray cluster at {two_nodes.address} is gone. Run the same command to resume" in complaints
    assert "Traceback" not in complaints
    assert plan.missing(plan.cells)
    # Workers of the other node still hold their cells, and keep them until they die.
    two_nodes.shutdown()
    monkeypatch.delenv("FAKE_HOLD")
    run_plan(plan)
    run_plan(undisturbed)
    forget_place(plan)
    same(plan, undisturbed)
