"""Subset files: what is drawn, and every way in which a file may not fit."""

import json
from itertools import pairwise
from pathlib import Path
from typing import Any

import msgspec
import numpy as np
import pytest

import isogloss
from isogloss.errors import DataError, IsoglossError, NoGoldError, PredictionError
from isogloss.predictions.subset import SubsetError, SubsetFile, read_subset
from isogloss.tasks.loading import load
from predictions.drawn import answers, exported_ids, only_drawn
from predictions.made import bucc_dev, wikiann_dev, write_jsonl, xnli_dev

TASK, CODES = "mini-wikiann", ["de", "fi"]


def exported(root: Path, size: int, **options: Any) -> SubsetFile:
    written = isogloss.export(TASK, root, languages=CODES, subset=size, **options)
    assert written[-1][0] == root / TASK / "subset.json"
    return msgspec.json.decode(written[-1][0].read_bytes(), type=SubsetFile)


def test_only_the_drawn_inputs_are_exported(tmp_path: Path) -> None:
    record = exported(tmp_path, 30)
    for code in CODES:
        assert sorted(exported_ids(tmp_path, TASK, code)) == sorted(record.languages[code].ids)
        assert len(record.languages[code].ids) == 30
        assert len(record.languages[code].strata) == len(load(TASK, code)) == 60
        assert record.languages[code].checksum == load(TASK, code).checksum
    assert (record.seed, record.size, record.split, record.guide) == (0, 30, "test", "")


def test_subsets_are_nested_by_seed(tmp_path: Path) -> None:
    guide = answers(TASK, CODES, 0.6)
    sizes = [exported(tmp_path / str(size), size, guide=guide) for size in (20, 30, 45, 60)]
    for small, large in pairwise(sizes):
        for code in CODES:
            ids = large.languages[code].ids
            assert ids[: len(small.languages[code].ids)] == small.languages[code].ids
            assert small.languages[code].strata == large.languages[code].strata
    assert exported(tmp_path / "again", 30, guide=guide) == sizes[1]
    other = exported(tmp_path / "other", 30, guide=guide, seed=1)
    assert set(other.languages["de"].ids) != set(sizes[1].languages["de"].ids)


def test_languages_are_drawn_independently(tmp_path: Path) -> None:
    """The average over parallel languages gains from examples that differ."""
    isogloss.export("mini-xnli", tmp_path, languages=["de", "fi", "sw"], subset=30)
    drawn = [set(exported_ids(tmp_path, "mini-xnli", code)) for code in ("de", "fi", "sw")]
    assert len(set.union(*drawn)) > 40


def test_without_a_guide_gold_labels_are_strata(tmp_path: Path) -> None:
    isogloss.export("mini-xnli", tmp_path, languages=["de"], subset=30)
    [cell] = read_subset(tmp_path).cells.values()
    labels = load("mini-xnli", "de")["label"]
    pairs = set(zip(cell.subset.strata, labels, strict=True))
    assert len(pairs) == len(set(labels)) == len(set(cell.subset.strata))


def test_cases_of_the_checklist_are_drawn_whole(tmp_path: Path) -> None:
    isogloss.export("checklist-comparisons", tmp_path, languages=["de"], subset=101)
    ids = exported_ids(tmp_path, "checklist-comparisons", "de")
    cases = {identifier.rpartition("-")[0] for identifier in ids}
    assert len(ids) == 2 * len(cases) == 100
    [cell] = read_subset(tmp_path).cells.values()
    assert cell.subset.whole_sources


def test_inputs_without_gold_can_be_drawn_but_not_guided(tmp_path: Path) -> None:
    data = tmp_path / "data"
    (data / "xnli").mkdir(parents=True)
    (data / "xnli/test-de.tsv").write_text("".join(f"p{i}\th{i}\n" for i in range(5010)))
    isogloss.export("xnli", tmp_path / "out", languages=["de"], data=data, subset=50)
    [cell] = read_subset(tmp_path / "out").cells.values()
    assert set(cell.subset.strata) == {"0"}
    guide = {"xnli": {"de": {f"test-{i}": "neutral" for i in range(5010)}}}
    with pytest.raises(NoGoldError, match="gold"):
        isogloss.export("xnli", tmp_path / "guided", languages=["de"], data=data, subset=50, guide=guide)


def test_dev_and_single_files_have_their_own_names(tmp_path: Path) -> None:
    xnli_dev(tmp_path, "de")
    written = isogloss.export("xnli", tmp_path / "out", "dev", ["de"], tmp_path, subset=100)
    assert written[-1][0] == tmp_path / "out/xnli/dev-subset.json"
    written = isogloss.export("xnli", tmp_path / "xnli.jsonl", "dev", ["de"], tmp_path, subset=100)
    assert written == [(tmp_path / "xnli.jsonl", 100), (tmp_path / "xnli-subset.json", 100)]
    assert list(read_subset(tmp_path / "xnli-subset.json").cells) == [("xnli", "de", "dev")]


def test_several_guides_are_averaged(tmp_path: Path) -> None:
    first, second = answers(TASK, CODES, 0.6, 1), answers(TASK, CODES, 0.6, 2)
    both = exported(tmp_path / "both", 30, guide=[first, second])
    assert both.guide == "predictions + predictions"
    assert both.languages["de"].guide != exported(tmp_path / "one", 30, guide=first).languages["de"].guide
    assert (
        exported(tmp_path / "same", 30, guide=[first, first]).languages["de"].strata
        == exported(tmp_path / "once", 30, guide=first).languages["de"].strata
    )


@pytest.mark.parametrize(
    ("task", "options", "problem"),
    [
        (TASK, {"subset": 19}, "expected at least 20"),
        (TASK, {"guide": {TASK: {}}}, "a guide is for subsets"),
        (TASK, {"subset": 30, "guide": {TASK: {"de": {}}}}, "no answer for 60 of 60"),
        (TASK, {"subset": 30, "guide": {"mini-xnli": {}}}, "the guide has no answers for mini-wikiann/de test"),
    ],
)
def test_what_cannot_be_drawn(task: str, options: dict[str, Any], problem: str, tmp_path: Path) -> None:
    with pytest.raises(IsoglossError, match=problem):
        isogloss.export(task, tmp_path, languages=["de"], **options)
    assert not list(tmp_path.rglob("*.json*"))


def test_every_stratum_needs_two_cases(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("isogloss.predictions.draw.strata_of", lambda rates: np.arange(len(rates)) % 3)
    with pytest.raises(IsoglossError, match=r"too small for checklist-comparisons-names/de\. Draw at least 24"):
        isogloss.export("checklist-comparisons-names", tmp_path, languages=["de"], subset=20)
    isogloss.export("checklist-comparisons-names", tmp_path, languages=["de"], subset=24)


def test_mining_has_no_subsets(tmp_path: Path) -> None:
    bucc_dev(tmp_path)
    with pytest.raises(IsoglossError, match="bucc has no subsets"):
        isogloss.export("bucc", tmp_path / "out", "dev", ["zh"], tmp_path, subset=100)


def changed(root: Path, **changes: Any) -> Path:
    """Write the subset file with changes and a matching digest."""
    path = root / TASK / "subset.json"
    record = msgspec.json.decode(path.read_bytes(), type=SubsetFile)
    cell = msgspec.structs.replace(record.languages["de"], **changes)
    msgspec.structs.replace(record, languages={"de": cell}).write(path)
    return root


@pytest.mark.parametrize(
    ("changes", "problem"),
    [
        ({"checksum": "0" * 64}, "drawn from other data of mini-wikiann/de test"),
        ({"strata": "0" * 59}, "drawn from 59 examples of mini-wikiann/de test, not 60"),
        ({"strata": "0" * 59 + "x"}, "expected one digit per example"),
        ({"strata": "0" * 59 + "1"}, "fewer than two examples of a stratum"),
        ({"ids": ["test-0", "test-0"]}, "duplicate id"),
        ({"ids": []}, "no examples"),
        ({"ids": ["test-0", "nowhere-1"]}, "'nowhere-1' is not in mini-wikiann/de test"),
    ],
)
def test_files_that_do_not_fit(changes: dict[str, Any], problem: str, tmp_path: Path) -> None:
    exported(tmp_path, 30)
    made = only_drawn(answers(TASK, ["de"], 0.8), tmp_path)
    last = load(TASK, "de").ids[-1]
    if "stratum" in problem:  # the only example of its stratum is not drawn
        changes = {**changes, "ids": [name for name in made[TASK]["de"] if name != last]}
    with pytest.raises(SubsetError, match=problem):
        isogloss.score(made, suite="mini", subset=changed(tmp_path, **changes))


def test_an_edited_file_is_refused(tmp_path: Path) -> None:
    exported(tmp_path, 30)
    path = tmp_path / TASK / "subset.json"
    record = json.loads(path.read_text())
    record["languages"]["de"]["strata"] = "01" * 30
    path.write_text(json.dumps(record))
    with pytest.raises(SubsetError, match="the subset file was edited"):
        read_subset(path)
    record["schema_version"] = 99
    path.write_text(json.dumps(record))
    with pytest.raises(SubsetError, match="schema version 99"):
        read_subset(path)
    path.write_text("{}")
    with pytest.raises(DataError, match="not a subset file"):
        read_subset(path)
    with pytest.raises(SubsetError, match=r"no subset\.json"):
        read_subset(tmp_path / TASK)


def test_labels_from_a_folder_need_the_same_examples(tmp_path: Path) -> None:
    """Their checksum is another; numbers and ids are compared."""
    tags = wikiann_dev(tmp_path / "data", "qu")
    isogloss.export("wikiann", tmp_path / "out", "dev", ["qu"], tmp_path / "data", subset=40)
    gold = tmp_path / "gold/wikiann/dev-qu.tsv"
    gold.parent.mkdir(parents=True)
    gold.write_text("\n".join("".join(f"{tag}\n" for tag in sentence) for sentence in tags))
    said = {f"dev-{i}": sentence for i, sentence in enumerate(tags)}
    write_jsonl(tmp_path / "pred/wikiann/dev-qu.jsonl", said)
    options: dict[str, Any] = {"split": "dev", "tasks": ["wikiann"], "subset": tmp_path / "out"}
    results = isogloss.score(tmp_path / "pred", gold=tmp_path / "gold", **options)
    assert results["wikiann", "qu"].metrics["f1"].value == 100


def test_validation_of_answers_to_a_subset(tmp_path: Path) -> None:
    exported(tmp_path / "in", 30)
    made = answers(TASK, CODES, 0.8)
    for code, said in only_drawn(made, tmp_path / "in")[TASK].items():
        write_jsonl(tmp_path / f"part/{TASK}/{code}.jsonl", said)
        write_jsonl(tmp_path / f"whole/{TASK}/{code}.jsonl", made[TASK][code])
    assert isogloss.validate(tmp_path / "part").errors
    assert not isogloss.validate(tmp_path / "part", subset=tmp_path / "in").everything()
    report = isogloss.validate(tmp_path / "whole", subset=tmp_path / "in")
    assert not report.errors
    assert [problem.code for problem in report.everything()] == ["not-drawn"] * 2
    first = next(iter(only_drawn(made, tmp_path / "in")[TASK]["de"]))
    write_jsonl(tmp_path / f"part/{TASK}/de.jsonl", {first: made[TASK]["de"][first]})
    with pytest.raises(PredictionError, match="no answer for 29 of 30 examples"):
        isogloss.score(tmp_path / "part", suite="mini", subset=tmp_path / "in")
