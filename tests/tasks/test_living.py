"""Tasks beyond XTREME-R: their files, ids, shared sources, and every command on languages outside the 51."""

import csv
import json
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

import pytest

import isogloss
from isogloss.analysis.finding import AnalysisError
from isogloss.board.site import build_board
from isogloss.data.table_files import read_table
from isogloss.data.table_syntax import TableSyntax
from isogloss.errors import DataError
from isogloss.languages import registry
from isogloss.tasks import registry as task_registry
from isogloss.tasks.examples import Examples
from isogloss.tasks.registry import LIVING_TASKS, TASKS
from isogloss.tasks.suites import suite
from isogloss.tasks.task import Layout, Task

SEEDS = range(1, 6)


def write(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")


def read(data: Path, name: str, language: str, split: str = "test") -> Examples:
    return isogloss.load(name, language, split, data=data, allow_partial=True)


def test_suite_has_five_tasks_in_two_categories() -> None:
    living = suite("living")
    assert living.categories == {
        "classification": ("sib200", "americasnli", "nusax"),
        "structured": ("masakhaner", "masakhapos"),
    }
    assert [len(living.languages_of(name)) for name in living.tasks] == [205, 20, 20, 10, 12]
    assert len({code for name in living.tasks for code in living.languages_of(name)}) == 217
    assert {"ee", "ig", "rw", "ny", "bbj", "pcm"} <= set(living.languages_of("masakhaner"))
    assert {"en", "zh", "zh-Hant", "ace", "ace-Arab", "quy", "arz", "ks-Deva"} <= set(living.languages_of("sib200"))


def test_tasks_name_the_question_of_their_prompt() -> None:
    asked = {name: isogloss.task(name).options.get("prompt") for name in TASKS.shipped if "checklist" not in name}
    of_name = {
        "topic": {"sib200", "mldoc"},
        "nli": {"xnli", "americasnli", "mini-xnli"},
        "paraphrase": {"pawsx"},
        "sentiment": {"nusax"},
        "pos": {"udpos", "masakhapos", "mini-udpos"},
        "ner": {"wikiann", "conll", "masakhaner", "mini-wikiann"},
    }
    named = {name: prompt for prompt, names in of_name.items() for name in names}
    assert {name: prompt for name, prompt in asked.items() if prompt} == named


def test_sib200_has_its_own_ids_which_are_parallel(tmp_path: Path) -> None:
    for code in ("eng_Latn", "zho_Hant"):
        write(tmp_path / f"sib200/data/{code}/test.tsv", 'index_id\tcategory\ttext\n7\ttravel\t"a" b\n3\thealth\tc\n')
    examples = read(tmp_path, "sib200", "zh-Hant")
    assert examples.ids == examples.units == ["7", "3"]
    assert [list(examples[name]) for name in ("text", "label")] == [['"a" b', "c"], ["travel", "health"]]
    assert read(tmp_path, "sib200", "en").units == examples.units


def test_americasnli_is_a_part_of_xnli(tmp_path: Path) -> None:
    header = "id\tlanguage\tpremise\thypothesis\tlabel\n"
    # The first line of Spanish in XNLI's test file is 25,051, in its dev file 12,451.
    write(tmp_path / "americasnli/test/quy.tsv", f"{header}25051\tquy\tp\th\tneutral\n25056\tquy\tq\th\tentailment\n")
    write(tmp_path / "americasnli/dev/aym.tsv", f"{header}12455\taym\tp\th\tcontradiction\n")
    test, dev = read(tmp_path, "americasnli", "quy"), read(tmp_path, "americasnli", "ay", "dev")
    assert (test.ids, test.units, test.clusters) == (["25051", "25056"], ["test-0", "test-5"], ["test-0", "test-3"])
    assert (dev.units, dev.clusters, list(dev["text_b"])) == (["dev-4"], ["dev-3"], ["h"])
    assert isogloss.task("americasnli").source_space == isogloss.task("xnli").source_space


def test_sentences_of_ner_and_pos_are_the_same_sources(tmp_path: Path) -> None:
    write(tmp_path / "masakhaner2/data/ewe/test.txt", "Kofi B-PER\nva O\n\nAma B-PER\n O\n\n\nKofi B-PER\nva O\n")
    write(tmp_path / "masakhapos/ewe/test.txt", "X NOUN\n\nKofi PROPN\nva VERB\n")
    ner, pos = read(tmp_path, "masakhaner", "ee"), read(tmp_path, "masakhapos", "ee")
    assert list(ner["tokens"]) == [["Kofi", "va"], ["Ama", ""], ["Kofi", "va"]]
    assert list(ner["tags"]) == [["B-PER", "O"], ["B-PER", "O"], ["B-PER", "O"]]
    assert ner.ids == ["test-0", "test-1", "test-2"]
    assert ner.units is None
    assert ner.clusters is not None and pos.clusters is not None
    assert [ner.clusters[2], pos.clusters[1]] == [ner.clusters[0]] * 2
    assert len({*ner.clusters, *pos.clusters}) == 3
    tasks = isogloss.task("masakhaner"), isogloss.task("masakhapos")
    assert len({task.source_space for task in tasks}) == 1
    assert not any(task.parallel for task in tasks)


def test_nusax_texts_may_have_lines(tmp_path: Path) -> None:
    write(tmp_path / "nusax/toba_batak/valid.csv", 'id,text,label\n5,"a\nb, ""c""",positive\n')
    examples = read(tmp_path, "nusax", "bbc", "dev")
    assert (examples.ids, list(examples["text"]), list(examples["label"])) == (["5"], ['a\nb, "c"'], ["positive"])


@pytest.mark.parametrize(
    ("name", "language", "file", "text", "message"),
    [
        ("sib200", "en", "sib200/data/eng_Latn/test.tsv", "", "expected the columns index_id"),
        ("sib200", "en", "sib200/data/eng_Latn/test.tsv", "a\tb\tc\n", "tsv:1: expected the columns index_id"),
        ("sib200", "en", "sib200/data/eng_Latn/test.tsv", "index_id\tcategory\ttext\n1\ta\n", "tsv:2: expected 3"),
        (
            *("americasnli", "quy", "americasnli/test/quy.tsv"),
            "id\tlanguage\tpremise\thypothesis\tlabel\n12\tquy\tp\th\tneutral\n",
            "tsv:2: '12' is not the id of an XNLI pair",
        ),
        ("masakhapos", "ee", "masakhapos/ewe/test.txt", "a NOUN\nb\n", "txt:2: expected a word and its tag"),
        ("nusax", "ace", "nusax/acehnese/test.csv", "id,text\n1,a\n", "has no column label"),
    ],
)
def test_wrong_files_are_reported_with_their_line(
    tmp_path: Path, name: str, language: str, file: str, text: str, message: str
) -> None:
    write(tmp_path / file, text)
    with pytest.raises(DataError) as caught:
        read(tmp_path, name, language)
    assert message in str(caught.value)


def test_real_files_have_the_declared_counts_and_labels(data_dir: Path) -> None:
    if not (data_dir / "sib200").is_dir():
        pytest.skip("the data folder has no SIB-200")
    totals = {}
    for name in LIVING_TASKS:
        task = isogloss.task(name)
        for split in ("test", "dev", "train"):
            if getattr(task.layouts[0], split):
                sets = [isogloss.load(name, code, split, data=data_dir) for code in task.languages]
                for examples in sets:
                    gold = examples[examples.gold]
                    used = {label for item in gold for label in (item if isinstance(item, list) else [item])}
                    assert used <= set(task.labels)
                if task.parallel == name:
                    assert len({frozenset(examples.ids) for examples in sets}) == 1
                totals[name, split] = sum(map(len, sets))
    assert totals == {
        ("sib200", "test"): 205 * 204,
        ("sib200", "dev"): 205 * 99,
        ("sib200", "train"): 205 * 701,
        ("masakhaner", "test"): 30538,
        ("masakhaner", "dev"): 15284,
        ("masakhaner", "train"): 106964,
        ("masakhapos", "test"): 12190,
        ("masakhapos", "dev"): 3041,
        ("masakhapos", "train"): 15263,
        ("americasnli", "test"): 7486,
        ("americasnli", "dev"): 6666,
        ("nusax", "test"): 4800,
        ("nusax", "dev"): 1200,
        ("nusax", "train"): 6000,
    }


def test_americasnli_has_the_labels_and_premises_of_xnli(data_dir: Path) -> None:
    if not (data_dir / "americasnli").is_dir():
        pytest.skip("the data folder has no AmericasNLI")
    for split in ("test", "dev"):
        xnli = isogloss.load("xnli", "es", split, data=data_dir)
        labels = dict(zip(xnli.ids, xnli["label"], strict=True))
        premise = dict(zip(xnli.ids, xnli.clusters or (), strict=True))
        for code in isogloss.task("americasnli").languages:
            examples = isogloss.load("americasnli", code, split, data=data_dir)
            units = examples.units or []
            assert [labels[unit] for unit in units] == list(examples["label"])
            assert [premise[unit] for unit in units] == examples.clusters


def test_published_f1_of_masakhaner(data_dir: Path, request: pytest.FixtureRequest) -> None:
    """Score three encoders, five seeds each, in seven languages: 35 of the files, or all with `--every-case`."""
    folder = data_dir / "masakhaner2" / "predictions"
    if not folder.is_dir():
        pytest.skip("the data folder has no predictions of MasakhaNER")
    tag_of = {code: tag for tag, code in isogloss.task("masakhaner").codes.items()}
    step = 1 if request.config.getoption("--every-case") else 3
    compared = 0
    for number, encoder in enumerate(sorted(folder.iterdir())):
        for seed in SEEDS:
            answers: dict[str, dict[str, list[str]]] = {}
            published: dict[str, float] = {}
            for own in sorted(encoder.iterdir())[(number + seed) % step :: step]:
                syntax = TableSyntax("conll", delimiter=" ")
                tags = read_table(own / f"test_predictions{seed}.txt.xz", syntax).columns["tags"]
                answers[tag_of[own.name]] = {f"test-{row}": item for row, item in enumerate(tags)}
                text = (own / f"test_result{seed}.txt").read_text(encoding="utf-8")
                published[tag_of[own.name]] = float(text.split("f1 = ")[1].split()[0])
            results = isogloss.score({"masakhaner": answers}, suite="living", data=data_dir, tasks=["masakhaner"])
            scored = {cell.language: cell.metrics["f1"].value / 100 for cell in results.cells}
            assert scored == pytest.approx(published, abs=1e-9)
            compared += len(scored)
    assert compared == 105 // step


def test_entities_are_explained_without_an_english_training_set(tmp_path: Path) -> None:
    write(tmp_path / "masakhaner2/data/ewe/test.txt", "Kofi B-PER\nva O\n\nAma B-PER\nyi O\nLome B-LOC\n")
    answers = {"test-0": ["B-PER", "O"], "test-1": ["O", "O", "B-LOC"]}
    lines = (json.dumps({"id": name, "prediction": tags}) + "\n" for name, tags in answers.items())
    write(tmp_path / "answers/masakhaner/ee.jsonl", "".join(lines))
    options = {"data": tmp_path, "tasks": ["masakhaner"], "allow_partial": True}
    [explanation] = isogloss.explain(tmp_path / "answers", suite="living", **options).explanations
    attributes = {facet.attribute for facet in explanation.facets}
    assert "tLen" in attributes
    assert not {"seen", "eFre"} & attributes
    with pytest.raises(AnalysisError, match="no cell has tags or entities") as caught:
        isogloss.analyze("unseen", tmp_path / "answers", **options)
    assert caught.value.where.endswith("left out: masakhaner has no English training set")


LABELS = ("negative", "neutral", "positive")


def stage_nusax(data: Path, languages: Mapping[str, str]) -> None:
    """Write NusaX-like files: every text has a word for its label, in English and the other languages alike."""
    for name, word in languages.items():
        for split, rows in (("test", 400), ("valid", 100), ("train", 500)):
            path = data / "nusax" / name / f"{split}.csv"
            path.parent.mkdir(parents=True, exist_ok=True)
            with path.open("w", encoding="utf-8", newline="") as file:
                writer = csv.writer(file)
                writer.writerow(("id", "text", "label"))
                for row in range(rows):
                    label = LABELS[row * 7 % 3]
                    # Every fourth text lacks the word that gives the label away.
                    writer.writerow((row, f"{word} {label if row % 4 else 'none'} {row * 31 % 97}", label))


def test_every_command_works_on_languages_outside_the_51(tmp_path: Path) -> None:
    data, runs = tmp_path / "data", tmp_path / "runs"
    stage_nusax(data, {"english": "hotel", "acehnese": "teumpat", "balinese": "genahne"})
    options = {"suite": "living", "data": data, "tasks": ["nusax"], "languages": ["ace", "ban"]}
    isogloss.run("ngram", out=runs, seeds=2, **options)
    first, second = (runs / "ngram" / "zero-shot" / f"seed-{seed}" for seed in (0, 1))
    answers = [json.loads(line) for line in (first / "nusax" / "ace.jsonl").read_text(encoding="utf-8").splitlines()]
    right = sum(answer["prediction"] == LABELS[int(answer["id"]) * 7 % 3] for answer in answers)
    results = isogloss.score(first, **options)
    by_language = {cell.language: cell.metrics["accuracy"].value for cell in results.cells}
    assert by_language["ace"] == pytest.approx(100 * right / 400)
    assert set(by_language) == {"ace", "ban"}
    assert isogloss.validate(first, data=data).summary == "2 files, 0 errors, 0 warnings"
    assert isogloss.compare(first, second, **options).tasks
    facets = isogloss.explain(first, **options).explanations[0].facets
    assert {facet.language for facet in facets} == {"ace", "ban"}
    assert [count for _, count in isogloss.export("nusax", tmp_path / "inputs", languages=["ace"], data=data)] == [400]
    assert "Acehnese" in isogloss.report(results, tmp_path / "report").read_text(encoding="utf-8")
    page = build_board([first], tmp_path / "site", suite="living", data=data)
    assert "Balinese" in (page.parent / "data.js").read_text(encoding="utf-8")


TOY = Task(
    id="toy",
    title="Toy: sentiment",
    kind="classification",
    category="classification",
    # Listed, not listed, a region, and not a tag.
    languages=("en", "bm", "xyz", "pt-BR", "klingon"),
    main=("accuracy",),
    layouts=(Layout.by_split("pairs.documents", "toy/{lang}/{split}.tsv"),),
    counts={},
    licence="none",
    homepage="",
    citation="none",
    options={"labels": ("good", "bad")},
)


def test_one_odd_language_does_not_affect_the_others(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(task_registry._ORIGINS, "toy", f"{__name__}:TOY")
    monkeypatch.setitem(task_registry.TASKS._loaded, "toy", TOY)  # and forgotten after the test
    registry._unlisted.cache_clear()
    data = tmp_path / "data"
    for code in TOY.languages:
        rows = [f"{('good', 'bad')[row % 2]}\tword {('good', 'bad')[row % 2]} {row}\n" for row in range(40)]
        for split in ("train", "test"):
            write(data / "toy" / code / f"{split}.tsv", "".join(rows))
    write(tmp_path / "toys.toml", 'tasks = ["toy"]\n')
    options = {"suite": str(tmp_path / "toys.toml"), "data": data}
    isogloss.run("ngram", out=tmp_path / "runs", seeds=1, **options)
    folder = tmp_path / "runs" / "ngram" / "zero-shot" / "seed-0"
    results = isogloss.score(folder, **options)
    assert {cell.language: cell.metrics["accuracy"].value for cell in results.cells} == dict.fromkeys(
        TOY.languages, 100.0
    )
    with pytest.warns(UserWarning, match="'xyz' is not listed"):
        finding = isogloss.analyze("families", results)
    groups = {
        row["group"]: row["languages"] for row in finding.table("groups").records() if row["grouping"] == "family"
    }
    assert groups == {"Indo-European": 2, "Niger-Congo": 1, "unknown": 1}
    assert any("missing from the registry: klingon" in note for note in finding.notes)
    facets = isogloss.explain(folder, **options).explanations[0].facets
    assert {facet.language for facet in facets} == set(TOY.languages)
    assert len(isogloss.export("toy", tmp_path / "inputs", data=data)) == 5
    isogloss.report(results, tmp_path / "report")
    page = build_board([folder], tmp_path / "site", suite=str(tmp_path / "toys.toml"), data=data)
    assert "klingon" in (page.parent / "data.js").read_text(encoding="utf-8")


def test_pattern_that_needs_the_name_of_an_odd_language_reports_it(tmp_path: Path) -> None:
    by_name = replace(TOY, layouts=(Layout.by_split("pairs.documents", "toy/{name}.tsv"),))
    with pytest.raises(DataError, match="unknown language 'klingon'"):
        isogloss.load(by_name, "klingon", data=tmp_path)
