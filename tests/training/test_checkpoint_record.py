"""The record of checkpoints: subsets, files, kills and later computations."""

import csv
import errno
import tracemalloc
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from isogloss.errors import DataError, MissingDataError
from isogloss.tasks.examples import Examples, Pool
from isogloss.tasks.registry import task
from isogloss.training.checkpoint_record import LARGEST_POOL, CheckpointRecord, probe_sets, read_checkpoints, subset

XNLI = task("xnli")
LABELS = XNLI.labels


def examples(language: str, split: str, count: int, *, gold: bool = True, pool: Pool | None = None) -> Examples:
    ids = [f"{split}-{row}" for row in range(count)]
    columns: dict[str, Any] = {"text_a": ids, "text_b": ids}
    if gold:
        columns["label"] = [LABELS[row % 3] for row in range(count)]
    return Examples("xnli", language, split, ids, columns, "label", pool=pool)


def always(label: str | None) -> Callable[[Examples], Sequence[str | None]]:
    return lambda asked: [label] * len(asked)


def test_subset_is_ordered_and_equal_across_runs_and_languages() -> None:
    chosen = subset(examples("en", "test", 1000), 300)
    assert len(chosen) == 300
    rows = [int(name.removeprefix("test-")) for name in chosen.ids]
    assert rows == sorted(set(rows))
    assert chosen.ids == subset(examples("sw", "test", 1000), 300).ids
    assert chosen["label"] == [LABELS[row % 3] for row in rows]
    assert len(set(rows) & set(range(500))) > 100  # spread over all examples
    assert [name[4:] for name in chosen.ids] != [name[3:] for name in subset(examples("en", "dev", 1000), 300).ids]


def test_small_sets_are_kept_whole() -> None:
    few = examples("en", "test", 20)
    assert subset(few, 20) is few
    assert subset(few, "all") is few


def test_every_language_has_its_own_limit() -> None:
    wanted: dict[tuple[str, str], int | str] = {("en", "dev"): "all", ("sw", "dev"): 5}
    found, _ = probe_sets(lambda language, split: examples(language, split, 30), wanted)
    assert [(part.language, len(part)) for part in found] == [("en", 30), ("sw", 5)]


def test_unpredictable_sets_are_noted() -> None:
    large = Pool(lambda: dict.fromkeys(map(str, range(LARGEST_POOL + 1)), "en"), list)

    def find(language: str, split: str) -> Examples:
        if language == "ta":
            raise MissingDataError("no dev file of xnli/ta here")
        return examples(language, split, 30, gold=language != "de", pool=large if language == "zh" else None)

    limits: dict[str, int | str] = {"dev": 10, "test": 20}
    wanted = {(code, split): limit for code in ("en", "de", "ta", "zh") for split, limit in limits.items()}
    found, left_out = probe_sets(find, wanted)
    assert [(part.language, part.split, len(part)) for part in found] == [
        ("en", "dev", 10),
        ("en", "test", 20),
        ("de", "test", 20),
    ]
    assert list(left_out.values()) == [
        "de dev: no gold labels",
        "ta dev: no dev file of xnli/ta here",
        "ta test: no dev file of xnli/ta here",
        "zh dev: the pool of 50,001 candidates is too large to search at every checkpoint",
        "zh test: the pool of 50,001 candidates is too large to search at every checkpoint",
    ]
    unread = probe_sets(lambda *_: pytest.fail("read in vain"), {("en", "dev"): 0})
    assert unread == ([], {("en", "dev"): "en dev: not predicted at checkpoints"})


def test_damaged_dev_set_raises_and_damaged_test_set_is_noted() -> None:
    def damaged(language: str, split: str) -> Examples:
        raise DataError("1 columns instead of 3", where=f"{split}.tsv:3")

    with pytest.raises(DataError, match=r"dev\.tsv:3: 1 columns instead of 3"):
        probe_sets(damaged, {("en", "dev"): 10})
    noted = {("en", "test"): "en test: 1 columns instead of 3"}
    assert probe_sets(damaged, {("en", "test"): 10}) == ([], noted)


@pytest.fixture
def probes() -> list[Examples]:
    return [examples("en", "dev", 6), examples("sw", "test", 3), examples("de", "test", 3, gold=False)]


def test_scores_and_predictions_of_all_checkpoints(tmp_path: Path, probes: list[Examples]) -> None:
    record = CheckpointRecord(tmp_path, XNLI, 7, probes)
    record.add(10, always("neutral"))
    record.add(20, lambda asked: [LABELS[0] if row < 2 else LABELS[1] for row in range(len(asked))])
    assert record.steps == [10, 20]
    assert [row[:6] for row in record.rows] == [
        (10, 7, "en", "dev", "accuracy", pytest.approx(100 * 2 / 6)),
        (20, 7, "en", "dev", "accuracy", pytest.approx(100 * 2 / 6)),
    ]
    found = record.finish()
    with (tmp_path / "checkpoints.csv").open(newline="") as stream:
        header, *lines = csv.reader(stream)
    assert header == ["step", "seed", "language", "split", "metric", "value", "n"]
    assert len(lines) == len(found.rows) == 4
    scores = {(row.step, row.language, row.split): (row.value, row.n) for row in found.rows}
    assert scores[10, "sw", "test"] == (pytest.approx(100 / 3), 3)
    assert scores[20, "sw", "test"] == (pytest.approx(100 / 3), 3)
    assert found.steps == (10, 20)
    assert found.answers(10, "de") == dict.fromkeys(["test-0", "test-1", "test-2"], "neutral")
    assert list(found.answers(20, "en", "dev").values()) == [LABELS[0]] * 2 + [LABELS[1]] * 4
    with pytest.raises(DataError, match="no predictions of step 15 for en test"):
        found.answers(15, "en")
    with pytest.raises(DataError, match="no predictions of step 10 for fi test"):
        found.answers(10, "fi")


def test_record_continues_after_kill(tmp_path: Path, probes: list[Examples]) -> None:
    CheckpointRecord(tmp_path, XNLI, 0, probes).add(10, always("neutral"))
    again = CheckpointRecord(tmp_path, XNLI, 0, probes)
    assert again.steps == [10]
    again.add(20, always("entailment"))
    twice = CheckpointRecord(tmp_path, XNLI, 0, probes)
    assert twice.finish().steps == (10, 20)
    first = {path.name: path.read_bytes() for path in tmp_path.glob("checkpoints.*")}
    twice.finish()  # killed before the end was recorded
    assert first == {path.name: path.read_bytes() for path in tmp_path.glob("checkpoints.*")}
    assert sorted(path.name for path in tmp_path.iterdir()) == ["checkpoints", "checkpoints.csv", "checkpoints.npz"]


def test_resumed_run_discards_later_checkpoints(tmp_path: Path, probes: list[Examples]) -> None:
    """A run resumed from update 10 may have another model at update 20 than before the kill."""
    dead = CheckpointRecord(tmp_path, XNLI, 0, probes)
    for step in (10, 20, 30):
        dead.add(step, always("neutral"))
    again = CheckpointRecord(tmp_path, XNLI, 0, probes)
    again.add(20, always("entailment"))
    assert CheckpointRecord(tmp_path, XNLI, 0, probes).steps == again.steps == [10, 20]
    found = again.finish()
    assert [found.answers(step, "sw")["test-0"] for step in found.steps] == ["neutral", "entailment"]
    assert {row.step for row in found.rows} == {10, 20}


def test_changed_examples_are_refused(tmp_path: Path, probes: list[Examples]) -> None:
    CheckpointRecord(tmp_path, XNLI, 0, probes).add(10, always("neutral"))
    for others in (probes[:2], [*probes[:2], examples("de", "test", 4, gold=False)]):
        with pytest.raises(DataError, match=r"predicted other examples\. Remove the folder to start over"):
            CheckpointRecord(tmp_path, XNLI, 0, others)


def test_added_languages_are_predicted_from_then_on(tmp_path: Path, probes: list[Examples]) -> None:
    CheckpointRecord(tmp_path, XNLI, 0, probes[:1], selecting_languages={"en"}).add(10, always("neutral"))
    late = CheckpointRecord(tmp_path, XNLI, 0, [*probes, examples("fi", "dev", 3)], selecting_languages={"en"})
    late.add(20, always("entailment"))
    found = late.finish()
    assert [(row.step, row.language) for row in found.rows] == [(10, "en"), (20, "en"), (20, "fi"), (20, "sw")]
    assert found.answers(20, "sw")["test-0"] == "entailment"
    with pytest.raises(DataError, match="no predictions of step 10 for sw test"):
        found.answers(10, "sw")
    assert late.notes == [
        f"{what}: predicted only from update 20 on (added later)" for what in ("sw test", "de test", "fi dev")
    ]
    ended = CheckpointRecord(tmp_path, XNLI, 0, [*late.probes, examples("ta", "test", 3)], selecting_languages={"en"})
    assert ended.notes[-1] == "ta test: predicted at no checkpoint (added later)"
    # But selecting sets must have been predicted at every checkpoint.
    with pytest.raises(DataError, match="predicted other examples"):
        CheckpointRecord(tmp_path, XNLI, 0, late.probes, selecting_languages={"en", "fi"})


def test_damaged_checkpoint_is_repeated(tmp_path: Path, probes: list[Examples]) -> None:
    CheckpointRecord(tmp_path, XNLI, 0, probes).add(10, always("neutral"))
    [shard] = (tmp_path / "checkpoints").iterdir()
    shard.write_bytes(shard.read_bytes()[:50])
    record = CheckpointRecord(tmp_path, XNLI, 0, probes)
    assert record.steps == []
    record.add(10, always("entailment"))
    assert record.finish().answers(10, "sw")["test-0"] == "entailment"


def test_predictions_are_not_kept_in_memory(tmp_path: Path) -> None:
    """Whole dev sets at hundreds of checkpoints: memory per checkpoint must not grow with its predictions."""
    record = CheckpointRecord(tmp_path, XNLI, 0, [examples("en", "dev", 20_000)])
    record.add(0, always("neutral"))  # allocates one-time objects
    tracemalloc.start()
    for step in range(1, 5):
        record.add(step, always("neutral"))
    held, _ = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert held < 100_000
    assert record.finish().answers(4, "en", "dev")["dev-19999"] == "neutral"


def test_dev_loss_is_recorded(tmp_path: Path, probes: list[Examples]) -> None:
    record = CheckpointRecord(tmp_path, XNLI, 0, probes, loss_languages=["en"])
    record.add(10, always("neutral"), {"en": (1.25, 8)})
    again = CheckpointRecord(tmp_path, XNLI, 0, probes, loss_languages=["en"])
    assert again.rows[-1] == (10, 0, "en", "dev", "loss", 1.25, 8)
    assert (10, 0, "en", "dev", "loss", 1.25, 8) in again.finish().rows
    with pytest.raises(DataError, match="predicted other examples"):
        CheckpointRecord(tmp_path, XNLI, 0, probes, loss_languages=[])


def test_placeholder_labels_are_not_scored(tmp_path: Path) -> None:
    hidden = examples("en", "test", 30)
    hidden.columns["label"] = ["neutral"] * 30
    record = CheckpointRecord(tmp_path, XNLI, 0, [hidden])
    record.add(1, always("neutral"))
    assert record.finish().rows == ()


@settings(max_examples=30, deadline=None)
@given(st.lists(st.lists(st.none() | st.text(max_size=5), min_size=3, max_size=3), min_size=1, max_size=5))
def test_predictions_round_trip(tmp_path_factory: pytest.TempPathFactory, answers: list[list[str | None]]) -> None:
    folder = tmp_path_factory.mktemp("record")
    record = CheckpointRecord(folder, XNLI, 0, [examples("en", "test", 3, gold=False)])
    for step, values in enumerate(answers):
        record.add(step, lambda asked, values=values: values)
    found = record.finish()
    assert [list(found.answers(step, "en").values()) for step in range(len(answers))] == answers


def test_missing_and_damaged_records_raise(tmp_path: Path) -> None:
    with pytest.raises(DataError, match=r"missing checkpoints\.csv"):
        read_checkpoints(tmp_path)
    (tmp_path / "checkpoints.csv").write_text("step,seed\n1,2\n")
    with pytest.raises(DataError, match="damaged checkpoint record"):
        read_checkpoints(tmp_path)


def test_full_disk_raises(tmp_path: Path, probes: list[Examples], monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*words: Any, **arrays: Any) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    record = CheckpointRecord(tmp_path, XNLI, 0, probes)
    record.add(10, always("neutral"))
    monkeypatch.setattr("numpy.savez_compressed", full)
    with pytest.raises(DataError, match=r"checkpoints\.npz: cannot be written \(No space left on device\)"):
        record.finish()
    assert sorted(path.name for path in tmp_path.iterdir()) == ["checkpoints"]
