"""Sharded search equals search in one process, bit for bit; kills, damage, changed files, invalid input."""

import json
import os
import signal
import subprocess
import sys
import tempfile
import time
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import isogloss
from isogloss.cli.main import main
from isogloss.errors import DataError, IsoglossError, PredictionError, UnknownNameError
from isogloss.metrics import ranking
from isogloss.metrics.search import merge_shards
from isogloss.runs import locks, search_plan


def written(folder, queries, candidates):
    """Write both sides to files."""
    paths = folder / "queries-sw.npy", folder / "candidates.npy"
    for path, matrix in zip(paths, (queries, candidates), strict=True):
        np.save(path, matrix)
    return paths


def assert_same(found, expected):
    for ours, theirs in zip(found[:2], expected, strict=True):
        assert ours.dtype == theirs.dtype
        assert ours.tobytes() == theirs.tobytes()


@st.composite
def pools(draw):
    """Vectors with ties: integers, copied rows, zero rows, and rows that differ in the last bits."""
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    dimension = draw(st.sampled_from([1, 3, 8, 37]))
    queries = rng.standard_normal((draw(st.integers(1, 9)), dimension))
    count = draw(st.integers(1, 90))
    form = draw(st.sampled_from(["integers", "copies", "alike", "random"]))
    if form == "integers":
        queries, candidates = np.rint(queries), rng.integers(-2, 3, (count, dimension))
    elif form == "copies":
        candidates = rng.standard_normal((4, dimension))[rng.integers(0, 4, count)]
    elif form == "alike":
        candidates = np.nextafter(queries[:1].astype("f4"), rng.choice([-1, 1], (count, dimension)), dtype="f4")
    else:
        candidates = rng.standard_normal((count, dimension))
    candidates = candidates * (rng.random(count) > draw(st.sampled_from([0, 0.3])))[:, None]  # some are zero
    kinds = st.sampled_from(["f2", "f4", "f8"])
    return queries.astype(draw(kinds)), candidates.astype(draw(kinds)), draw(st.integers(1, count))


class TestEquality:
    @given(pools(), st.integers(1, 95))
    @settings(max_examples=60, deadline=None)
    def test_shards_of_any_size_are_bit_identical(self, case, shard_rows):
        queries, candidates, k = case
        with tempfile.TemporaryDirectory() as folder:
            paths = written(Path(folder), queries, candidates)
            found = isogloss.search(*paths, out=Path(folder) / "out", k=k, shard_rows=shard_rows)
            assert_same(found, ranking.search(queries, candidates, k))
            assert_same([np.load(Path(folder) / "out" / f"{name}.npy") for name in ("rows", "scores")], found[:2])

    @given(pools(), st.lists(st.integers(0, 90), max_size=6), st.randoms(use_true_random=False))
    @settings(max_examples=100, deadline=None)
    def test_shards_merge_in_any_order(self, case, cuts, random):
        queries, candidates, k = case
        edges = sorted({0, len(candidates), *(cut for cut in cuts if cut < len(candidates))})
        parts = [
            ranking.search(queries, candidates[start:stop], k, candidate_block=random.randint(1, 99), first_row=start)
            for start, stop in pairwise(edges)
        ]
        random.shuffle(parts)
        merged = parts[0]
        for part in parts[1:]:
            merged = merge_shards(merged, part, k)
        assert_same(merged, ranking.search(queries, candidates, k))

    def test_small_blocks_change_nothing(self, tmp_path, monkeypatch):
        rng = np.random.default_rng(0)
        queries, candidates = rng.standard_normal((700, 40)), rng.standard_normal((5000, 40)).astype("f4")
        paths = written(tmp_path, queries, candidates)
        used = []
        real = search_plan.search
        monkeypatch.setattr(search_plan, "search", lambda *a, **o: used.append((len(a[0]), o)) or real(*a, **o))
        found = isogloss.search(*paths, out=tmp_path / "small", k=3, memory="205MB", shard_rows=1300)
        assert max(options["candidate_block"] for _, options in used) < 1300
        assert_same(found, ranking.search(queries, candidates, 3))

    def test_queries_are_mapped_in_parts(self, tmp_path, monkeypatch):
        rng = np.random.default_rng(1)
        queries, candidates = rng.standard_normal((700, 9)), rng.standard_normal((50, 9))
        paths = written(tmp_path, queries, candidates)
        from isogloss.runs import search_plan

        real = search_plan.SearchBlocks
        monkeypatch.setattr(search_plan, "SearchBlocks", lambda q, c, _, rows: real(q, c, 256, rows))
        assert_same(isogloss.search(*paths, out=tmp_path / "out", k=5), ranking.search(queries, candidates, 5))

    @pytest.mark.slow
    @pytest.mark.parametrize("jobs", [2, 3])
    def test_local_processes(self, tmp_path, jobs):
        rng = np.random.default_rng(2)
        queries, candidates = rng.integers(-2, 3, (40, 6)), rng.integers(-2, 3, (900, 6)).astype("f2")
        paths = written(tmp_path, queries, candidates)
        seen = []
        found = isogloss.search(
            *paths, out=tmp_path / "out", jobs=jobs, shard_rows=111, progress=lambda *now: seen.append(now)
        )
        assert_same(found, ranking.search(queries, candidates))
        assert seen == [(done, 9) for done in range(10)]

    def test_torch_gives_the_same_result(self, tmp_path, monkeypatch):
        torch = pytest.importorskip("torch")
        rng = np.random.default_rng(5)
        queries = rng.standard_normal((30, 50)).astype("f4")
        candidates = rng.standard_normal((90, 50)).astype("f4")[rng.integers(0, 90, 400)]
        expected = ranking.search(queries, candidates, 9)
        monkeypatch.setattr("isogloss.metrics.search._torch_with_device", lambda *_: torch)
        paths = written(tmp_path, queries, candidates)
        assert_same(isogloss.search(*paths, out=tmp_path / "out", k=9, shard_rows=77), expected)

    def test_fortran_order_and_byte_order(self, tmp_path):
        rng = np.random.default_rng(3)
        queries, candidates = rng.standard_normal((9, 5)).astype(">f4"), rng.standard_normal((80, 5)).astype("f4")
        paths = written(tmp_path, queries, np.asfortranarray(candidates))
        found = isogloss.search(*paths, out=tmp_path / "out", k=4, shard_rows=33)
        assert_same(found, ranking.search(queries, candidates, 4))


SEARCH = """
import sys
from pathlib import Path
import isogloss
from isogloss.workers import ProcessWorkers

if __name__ == "__main__":
    folder, jobs = Path(sys.argv[1]), int(sys.argv[2])
    paths = folder / "queries-sw.npy", folder / "candidates.npy"
    isogloss.search(*paths, out=folder / "out", k=7, jobs=jobs, shard_rows=100)
"""


@pytest.fixture
def prepared(tmp_path):
    """Files to search, and the result of one process."""
    rng = np.random.default_rng(4)
    queries, candidates = rng.integers(-2, 3, (30, 8)).astype("f4"), rng.integers(-2, 3, (1000, 8)).astype("f4")
    return written(tmp_path, queries, candidates), ranking.search(queries, candidates, 7)


def shard_files(folder):
    return sorted((folder / "out" / "shards").glob("*.npz"))


class TestFaults:
    def test_finished_shards_are_not_searched_again(self, prepared, tmp_path, monkeypatch):
        paths, expected = prepared
        options = {"out": tmp_path / "out", "k": 7, "shard_rows": 100}
        isogloss.search(*paths, **options)
        done = []
        monkeypatch.setattr("isogloss.runs.sharded_search.search_shard", lambda job: done.append(job.start))
        assert_same(isogloss.search(*paths, **options), expected)
        # Other workers and memory limits do not matter: the folder keeps its shards.
        assert_same(isogloss.search(*paths, out=tmp_path / "out", k=7, memory="3GB"), expected)
        assert done == []

    @pytest.mark.parametrize("damage", ["truncated", "flipped", "empty", "removed", "other"])
    def test_a_damaged_shard_is_searched_again(self, prepared, tmp_path, damage):
        paths, expected = prepared
        options = {"out": tmp_path / "out", "k": 7, "shard_rows": 100}
        isogloss.search(*paths, **options)
        victim = shard_files(tmp_path)[3]
        content = victim.read_bytes()
        if damage == "truncated":
            victim.write_bytes(content[: len(content) // 2])
        elif damage == "flipped":
            middle = len(content) // 2
            victim.write_bytes(content[:middle] + bytes([content[middle] ^ 1]) + content[middle + 1 :])
        elif damage == "empty":
            victim.write_bytes(b"")
        elif damage == "removed":
            victim.unlink()
        else:
            victim.write_bytes(shard_files(tmp_path)[4].read_bytes()[:-1])
        (tmp_path / "out" / "shards" / ".shard-0-100.npz.12.part").write_bytes(b"half of it")
        (tmp_path / "out" / "rows.npy").unlink()
        assert_same(isogloss.search(*paths, **options), expected)
        assert victim.read_bytes() == content
        assert len(list((tmp_path / "out" / "shards").iterdir())) == 10

    def test_only_changed_candidates_are_searched_again(self, prepared, tmp_path, monkeypatch):
        paths, expected = prepared
        options = {"out": tmp_path / "out", "k": 7, "shard_rows": 100}
        isogloss.search(*paths, **options)
        searched = []
        real = search_plan.search
        monkeypatch.setattr(search_plan, "search", lambda *a, **o: searched.append(o["first_row"]) or real(*a, **o))
        os.utime(paths[1], ns=(1, 1))
        assert_same(isogloss.search(*paths, **options), expected)
        assert searched == []
        candidates = np.load(paths[1])
        candidates[250] = 9
        np.save(paths[1], candidates)
        found = isogloss.search(*paths, **options)
        assert searched == [200]
        assert_same(found, ranking.search(np.load(paths[0]), candidates, 7))

    def test_a_file_that_changes_during_the_search_is_an_error(self, prepared, tmp_path, monkeypatch):
        paths, _ = prepared
        real = search_plan.search
        monkeypatch.setattr(search_plan, "search", lambda *a, **o: os.utime(paths[0], ns=(5, 5)) or real(*a, **o))
        with pytest.raises(PredictionError, match="the file changed during the search"):
            isogloss.search(*paths, out=tmp_path / "out", k=7)

    def test_another_search_in_the_folder_is_rejected_without_force(self, prepared, tmp_path):
        paths, _ = prepared
        isogloss.search(*paths, out=tmp_path / "out", k=7)
        with pytest.raises(IsoglossError, match=r"a search with another k. Use --force"):
            isogloss.search(*paths, out=tmp_path / "out", k=8)
        queries = np.load(paths[0]) + 1
        np.save(paths[0], queries)
        with pytest.raises(IsoglossError, match="another query checksum"):
            isogloss.search(*paths, out=tmp_path / "out", k=7)
        found = isogloss.search(*paths, out=tmp_path / "out", k=7, force=True)
        assert_same(found, ranking.search(queries, np.load(paths[1]), 7))

    def test_one_command_at_a_time_searches_in_a_folder(self, prepared, tmp_path, monkeypatch):
        paths, expected = prepared
        other = locks.acquire(tmp_path / "out" / "search.lock")
        told = []

        def wait_for_other(words, **_):
            told.append(words)
            other.release()

        monkeypatch.setattr("isogloss.runs.sharded_search.warn", wait_for_other)
        assert_same(isogloss.search(*paths, out=tmp_path / "out", k=7), expected)
        [words] = told
        assert words.startswith("another process is searching in this folder: ")
        assert not list((tmp_path / "out").glob("*.lock*"))

    def test_a_folder_that_cannot_be_created(self, prepared, tmp_path):
        (tmp_path / "out").touch()
        with pytest.raises(DataError, match="cannot be written"):
            isogloss.search(*prepared[0], out=tmp_path / "out", k=7)

    @pytest.mark.slow
    @pytest.mark.parametrize("jobs", [1, 2])
    def test_a_killed_command_resumes(self, prepared, tmp_path, jobs):
        paths, expected = prepared
        script = tmp_path / "search.py"
        script.write_text(SEARCH)
        command = subprocess.Popen([sys.executable, script, tmp_path, str(jobs)], start_new_session=True)
        deadline = time.monotonic() + 60
        while not shard_files(tmp_path) and command.poll() is None and time.monotonic() < deadline:
            time.sleep(0.002)
        os.killpg(command.pid, signal.SIGKILL)
        command.wait()
        before = {path: path.stat().st_mtime_ns for path in shard_files(tmp_path)}
        assert before
        assert_same(isogloss.search(*paths, out=tmp_path / "out", k=7, jobs=1, shard_rows=100), expected)
        assert before.items() <= {path: path.stat().st_mtime_ns for path in shard_files(tmp_path)}.items()

    @pytest.mark.slow
    def test_killed_workers_are_replaced(self, prepared, tmp_path, monkeypatch):
        paths, expected = prepared
        monkeypatch.setattr("isogloss.runs.sharded_search.search_shard", _search_or_die)
        found = isogloss.search(*paths, out=tmp_path / "out", k=7, jobs=2, shard_rows=100)
        assert_same(found, expected)
        assert len(list((tmp_path / "out").glob("died-*"))) == 5


def _search_or_die(job):
    """Kill this process at the first attempt of every other shard."""
    try:
        if job.start // 100 % 2:
            (job.folder.parent / f"died-{job.start}").touch(exist_ok=False)
            os.kill(os.getpid(), signal.SIGKILL)
    except FileExistsError:
        pass
    search_plan.search_shard(job)


class TestErrors:
    @pytest.mark.parametrize("jobs", [1, pytest.param(2, marks=pytest.mark.slow)])
    def test_a_candidate_that_is_not_finite_is_reported_by_row(self, tmp_path, jobs):
        candidates = np.ones((500, 3))
        candidates[[317, 450], 1] = np.nan, np.inf
        paths = written(tmp_path, np.ones((2, 3)), candidates)
        with pytest.raises(PredictionError, match=r"candidates.npy: value that is not a finite float64 in row 317 of"):
            isogloss.search(*paths, out=tmp_path / "out", k=1, shard_rows=100, jobs=jobs)

    def test_a_query_that_is_not_finite_is_reported_before_the_search(self, tmp_path):
        queries = np.ones((9, 3))
        queries[7, 0] = np.inf
        paths = written(tmp_path, queries, np.ones((5, 3)))
        with pytest.raises(PredictionError, match="row 7 of the queries"):
            isogloss.search(*paths, out=tmp_path / "out", k=1)
        assert not (tmp_path / "out").exists()

    @pytest.mark.parametrize(
        ("queries", "candidates", "options", "message"),
        [
            (np.ones((2, 3)), np.ones((4, 5)), {}, "queries have 3 dimensions but candidates have 5"),
            (np.ones((2, 3)), np.ones((4, 3)), {"k": 5}, r"k is 5, but there are only 4 candidates. Use --k 4"),
            (np.ones((0, 3)), np.ones((4, 3)), {}, r"no queries: the shape is \(0, 3\)"),
            (np.ones((2, 3)), np.ones((0, 3)), {}, "no candidates: the shape"),
            (np.ones((2, 3)), np.ones(3), {}, r"the candidates are an array of float64 with shape \(3,\)"),
            (np.full((2, 3), "a"), np.ones((4, 3)), {}, "the queries are an array of <U1"),
            (np.ones((2, 3), complex), np.ones((4, 3)), {}, "the queries are an array of complex128"),
            (np.ones((2, 3)), np.ones((4, 3)), {"memory": "much"}, "'much' is not a size"),
            (np.ones((2, 3)), np.ones((4, 3)), {"memory": "10MB"}, r"10 MB per worker .* Use --memory \d+MB"),
        ],
    )
    def test_input_that_cannot_be_searched(self, tmp_path, queries, candidates, options, message):
        paths = written(tmp_path, queries, candidates)
        with pytest.raises(IsoglossError, match=message):
            isogloss.search(*paths, out=tmp_path / "out", **({"k": 1} | options))

    def test_the_suggested_memory_is_enough(self, tmp_path):
        paths = written(tmp_path, np.ones((2, 3)), np.ones((4, 3)))
        with pytest.raises(IsoglossError) as refused:
            isogloss.search(*paths, out=tmp_path / "out", k=1, memory="10MB")
        least = refused.value.fix.split()[2]
        assert isogloss.search(*paths, out=tmp_path / "out", k=1, memory=least).rows.tolist() == [[0], [0]]

    def test_missing_and_invalid_files(self, tmp_path):
        paths = written(tmp_path, np.ones((2, 3)), np.ones((4, 3)))
        with pytest.raises(DataError, match=r"none.npy: missing file"):
            isogloss.search(paths[0], tmp_path / "none.npy", out=tmp_path / "out")
        paths[1].write_bytes(paths[1].read_bytes()[:-9])
        with pytest.raises(DataError, match=r"not a plain .npy array"):
            isogloss.search(*paths, out=tmp_path / "out")

    def test_places(self, tmp_path):
        paths = written(tmp_path, np.ones((2, 3)), np.ones((4, 3)))
        with pytest.raises(UnknownNameError, match="place to run on 'rai'"):
            isogloss.search(*paths, out=tmp_path / "out", on="rai")
        place = tmp_path / "place.toml"
        place.write_text('engine = "ray"\nfiles = "ship"\n')
        with pytest.raises(IsoglossError, match="search does not support files"):
            isogloss.search(*paths, out=tmp_path / "out", on=place)


class TestIds:
    def give_ids(self, paths, queries, candidates):
        for path, ids in zip(paths, (queries, candidates), strict=True):
            path.with_name(f"{path.stem}.ids.txt").write_text("".join(f"{name}\n" for name in ids))

    def test_rankings_are_a_prediction_file(self, tmp_path, capsys):
        paths = written(tmp_path, np.eye(3)[:2], np.eye(3)[[2, 1, 0, 1]])
        self.give_ids(paths, ["first", "second"], ["c", "b", "a", "b2"])
        with pytest.raises(SystemExit) as ended:
            main(["search", *map(str, paths), "--out", str(tmp_path / "out"), "--k", "2"])
        assert ended.value.code == 0
        said = capsys.readouterr()
        assert "rows.npy, scores.npy and sw.jsonl" in said.out
        assert "searched shards: 1 of 1" in said.err
        answers = [json.loads(line) for line in (tmp_path / "out" / "sw.jsonl").read_text().splitlines()]
        assert answers == [{"id": "first", "prediction": ["a", "c"]}, {"id": "second", "prediction": ["b", "b2"]}]

    def test_wrong_ids_are_rejected_before_the_search(self, tmp_path):
        paths = written(tmp_path, np.ones((2, 3)), np.ones((4, 3)))
        self.give_ids(paths, ["x", "y"], ["a", "b"])
        with pytest.raises(PredictionError, match="4 rows but 2 ids"):
            isogloss.search(*paths, out=tmp_path / "out", k=1)
        self.give_ids(paths, ["x", "x"], ["a", "b", "c", "d"])
        with pytest.raises(PredictionError, match=r"queries-sw.ids.txt: duplicate id"):
            isogloss.search(*paths, out=tmp_path / "out", k=1)
        assert not (tmp_path / "out").exists()


MEASURE = """
import sys
from pathlib import Path
import isogloss
isogloss.search(*sys.argv[1:3], out=sys.argv[3], k=5, memory=int(sys.argv[4]))
print(Path("/proc/self/status").read_text().partition("VmHWM:")[2].split()[0])
"""


@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux", reason="resident memory is measured as Linux counts it")
def test_memory_stays_below_the_limit(tmp_path):
    """Mapped files count as well."""
    allowed = 320 << 20
    np.save(tmp_path / "queries.npy", np.ones((600, 64), "f4"))
    shape = (1_600_000, 64)  # 410 MB
    pool = np.lib.format.open_memmap(tmp_path / "pool.npy", mode="w+", dtype=np.float32, shape=shape)
    pool[:: 1 << 12] = 1  # the rest is zeros, and ties
    pool.flush()
    del pool
    paths = [str(tmp_path / name) for name in ("queries.npy", "pool.npy", "out")]
    call = [sys.executable, "-c", MEASURE, *paths, str(allowed)]
    done = subprocess.run(call, check=True, capture_output=True, text=True)
    assert int(done.stdout) << 10 < allowed, int(done.stdout) >> 10


@pytest.mark.slow
def test_a_local_ray_cluster_with_a_dead_worker(prepared, tmp_path, monkeypatch):
    pytest.importorskip("ray", reason="ray is not installed: pip install 'isogloss[cluster]'")
    paths, expected = prepared
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join([str(Path(__file__).parents[1]), *sys.path]))
    monkeypatch.setattr("isogloss.runs.sharded_search.search_shard", _search_or_die)
    found = isogloss.search(*paths, out=tmp_path / "out", k=7, on="ray", jobs=2, shard_rows=500, memory="300MB")
    assert_same(found, expected)
    assert [path.name for path in (tmp_path / "out").glob("died-*")] == ["died-500"]
