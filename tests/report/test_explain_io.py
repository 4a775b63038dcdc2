"""Test files of isogloss explain: recognised, joined, or rejected as invalid."""

from pathlib import Path
from typing import Any

import msgspec
import pytest

from isogloss.errors import DataError
from isogloss.explain.analysis import Analysis
from isogloss.explain.bias import DatasetBias
from isogloss.explain.correction import corrected_findings
from isogloss.explain.examples import ListedExample
from isogloss.explain.model import AttributeScores, Claim, Explanation
from isogloss.tables.explain_io import read_explain_records
from report.made_records import bias, explanation, facet, pair_made


def written(folder: Path, name: str, record: Any) -> Path:
    path = folder / f"{name}.json"
    path.write_bytes(msgspec.json.encode(record))
    return path


def of(name: str, facets: list[AttributeScores], **system: Any) -> Explanation:
    return Explanation(system={"name": name, **system}, suite="xtreme-r", split="test", facets=facets)


def test_the_kind_of_a_file_follows_from_its_content(tmp_path: Path) -> None:
    one = written(tmp_path, "one", Analysis(explanations=[explanation("one")], pairs=[]))
    two = written(
        tmp_path,
        "two",
        Analysis(explanations=[explanation("a"), explanation("b")], pairs=[pair_made("a", "b")], edges="shared"),
    )
    data = written(tmp_path, "data", bias())
    records = read_explain_records([one, two, data])
    assert list(records.explanations) == ["one", "a", "b"]
    assert [(pair.first, pair.second) for pair in records.pairs] == [("a", "b")]
    assert records.bias == bias()
    assert records.edges == "mixed"
    assert read_explain_records([two]).edges == "shared"


@pytest.mark.parametrize(
    ("content", "what"),
    [
        ("{", "not an explanation"),
        ("[1]", "not an explanation"),
        ('{"x": ' + "[" * 5000, "not an explanation"),
        ('{"x": 1}', "neither systems nor dataset bias"),
        ('{"explanations": [], "pairs": [1e308]}', "numbers out of range"),
        ('{"explanations": 3}', "not an analysis of isogloss explain"),
        ('{"distributions": [{}]}', "not dataset bias of isogloss explain --bias"),
    ],
)
def test_other_files_are_rejected(tmp_path: Path, content: str, what: str) -> None:
    path = tmp_path / "other.json"
    path.write_text(content, encoding="utf-8")
    with pytest.raises(DataError, match=what) as caught:
        read_explain_records([path])
    assert caught.value.where == str(path)


def test_contradictions_are_rejected(tmp_path: Path) -> None:
    change = msgspec.structs.replace
    both, made, survey = [explanation("a"), explanation("b")], pair_made("a", "b"), bias()
    huge = change(made.facets[0], buckets=[change(made.facets[0].buckets[0], high=1e308)])
    odd = change(made.facets[0], metric="nope")
    single = both[0].facets[0]
    far = change(both[0], facets=[change(single, buckets=[change(single.buckets[0], low=-1e308)])])
    wild = change(both[0], facets=[change(single, claims=[Claim(kind="best", p=0.5, buckets=[0, 4])])])
    bare = change(both[0], facets=[change(single, claims=[Claim(kind="spread", p=0.5)])])
    unlikely = change(both[0], facets=[change(single, claims=[Claim(kind="trend", p=1.5)])])
    short = change(survey.distributions[0], quartiles=[1.0, 2.0])
    cases: list[tuple[Any, str]] = [
        (Analysis(explanations=both, pairs=[pair_made("a", "c")]), "unknown system 'c' in a pair"),
        (Analysis(explanations=both, pairs=[change(made, facets=[huge])]), "numbers out of range"),
        (Analysis(explanations=both, pairs=[change(made, facets=[odd])]), "unknown metric 'nope' in a pair"),
        (Analysis(explanations=[far], pairs=[]), "numbers out of range"),
        (Analysis(explanations=[wild], pairs=[]), "a claim about qLen of xnli/en names unknown buckets"),
        (Analysis(explanations=[bare], pairs=[]), "a claim about qLen of xnli/en names unknown buckets"),
        (Analysis(explanations=[unlikely], pairs=[]), r"Expected `float` <= 1\.0"),
        (
            Analysis(explanations=both, pairs=[change(made, cells=[change(made.cells[0], difference=1e300)])]),
            "numbers out of range",
        ),
        (change(survey, distributions=[short]), "t1Len of xnli/en has 2 quartiles"),
    ]
    for languages, table in ((["en"], [[0.0]]), (["en", "ar"], [[0.0, 1.0]]), (["en", "ar"], [[0.0], [1.0, 0.0]])):
        wrong = change(survey.distances[0], languages=languages, table=table)
        cases.append((change(survey, distances=[wrong]), "the distances of t1Len in xnli do not match"))
    for record, message in cases:
        with pytest.raises(DataError, match=message):
            read_explain_records([written(tmp_path, "wrong", record)])


def test_invalid_bytes_and_deep_nesting_raise_data_errors(tmp_path: Path) -> None:
    path = tmp_path / "wrong.json"
    for content, message in ((b'{"\xff": 1}', "not UTF-8"), (b'{"x": ' + b"[" * 100_000, "nested too deeply")):
        path.write_bytes(content)
        with pytest.raises(DataError, match=message):
            read_explain_records([path])


def test_a_system_in_several_files_is_one_system(tmp_path: Path) -> None:
    files = []
    for task in ("xnli", "xquad"):
        case = ListedExample(
            id="en-0",
            inputs={},
            gold="gold",
            predictions={"a (1)": "said", "a (2)": "other"},
            scores={"a (1)": 0.0, "a (2)": 100.0},
        )
        parts = [of("a", [facet(task, "en", "qLen")], seed=seed) for seed in (0, 1)]
        pair = msgspec.structs.replace(pair_made("a (1)", "a (2)"), facets=[], cells=[])
        files.append(
            written(tmp_path, task, Analysis(explanations=parts, pairs=[pair], cases={f"{task}/en": {"en-0": case}}))
        )
    records = read_explain_records(files)
    assert {name: [f.task for f in each.facets] for name, each in records.explanations.items()} == {
        "a, seed 0": ["xnli", "xquad"],
        "a, seed 1": ["xnli", "xquad"],
    }
    assert [(pair.first, pair.second) for pair in records.pairs] == [("a, seed 0", "a, seed 1")]
    assert records.cases["xquad/en"]["en-0"].predictions == {"a, seed 0": "said", "a, seed 1": "other"}


def test_findings_are_corrected_over_all_files(tmp_path: Path) -> None:
    def file(task: str, p: float) -> Path:
        claims = [Claim(kind="best", p=p, buckets=[0, 1]), Claim(kind="spread", p=p, buckets=[0, 3])]
        tested = msgspec.structs.replace(facet(task, "en", "qLen"), claims=claims)
        found = corrected_findings([of("a", [tested])], [])
        return written(tmp_path, task, Analysis(explanations=found.explanations, pairs=[], correction=found.correction))

    files = [file("xnli", 0.03), file("xquad", 0.8)]
    alone, both = read_explain_records(files[:1]), read_explain_records(files)
    assert [facet.insight for facet in alone.explanations["a"].facets] == [
        "title of qLen: best at XS [0, 2] (80.0) (q = 0.030)."
    ]
    assert [facet.insight for facet in both.explanations["a"].facets] == ["", ""]
    assert (str(alone.correction), str(both.correction)) == (
        "corrected over 2 tests in 1 cell",
        "corrected over 4 tests in 2 cells",
    )


def test_the_same_cell_twice_makes_two_systems(tmp_path: Path) -> None:
    files = [
        written(tmp_path, name, Analysis(explanations=[of("a", [facet("xnli", "en", "qLen")])], pairs=[]))
        for name in ("one", "two")
    ]
    assert list(read_explain_records(files).explanations) == ["a (1)", "a (2)"]


def test_biases_of_different_tasks_are_joined_and_duplicates_rejected(tmp_path: Path) -> None:
    made = bias()
    parts = [
        DatasetBias(split, [each for each in made.distributions if each.task == task], [])
        for task, split in (("xnli", "test"), ("xcopa", "dev"))
    ]
    first, second = (written(tmp_path, str(place), part) for place, part in enumerate(parts))
    joined = read_explain_records([first, second]).bias
    assert joined is not None
    assert (joined.split, len(joined.distributions)) == ("test, dev", len(made.distributions))
    with pytest.raises(DataError, match=r"dataset bias of xnli is in .*0\.json too"):
        read_explain_records([first, second, written(tmp_path, "again", parts[0])])
