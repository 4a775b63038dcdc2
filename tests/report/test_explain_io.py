"""Files of isogloss explain: told apart, joined, and refused where they do not fit."""

from pathlib import Path
from typing import Any

import msgspec
import pytest

from isogloss.errors import DataError
from isogloss.explain.analysis import Analysis
from isogloss.explain.bias import DatasetBias
from isogloss.explain.examples import ListedExample
from isogloss.explain.model import AttributeScores, Explanation
from isogloss.report.explain_io import read_explain_records
from report.made_records import bias, explanation, facet, pair_made


def written(folder: Path, name: str, found: Any) -> Path:
    path = folder / f"{name}.json"
    path.write_bytes(msgspec.json.encode(found))
    return path


def of(name: str, facets: list[AttributeScores], **system: Any) -> Explanation:
    return Explanation({"name": name, **system}, "xtreme-r", "test", facets)


def test_each_kind_is_known_by_what_is_in_it(tmp_path: Path) -> None:
    one = written(tmp_path, "one", Analysis([explanation("one")], []))
    two = written(tmp_path, "two", Analysis([explanation("a"), explanation("b")], [pair_made("a", "b")], "shared"))
    data = written(tmp_path, "data", bias())
    found = read_explain_records([one, two, data])
    assert list(found.explanations) == ["one", "a", "b"]
    assert [(pair.first, pair.second) for pair in found.pairs] == [("a", "b")]
    assert found.bias == bias()
    assert found.edges == "mixed"
    assert read_explain_records([two]).edges == "shared"


@pytest.mark.parametrize(
    ("content", "what"),
    [
        ("{", "not an explanation"),
        ("[1]", "not an explanation"),
        ('{"x": ' + "[" * 5000, "not an explanation"),
        ('{"x": 1}', "neither systems nor a survey"),
        ('{"explanations": [], "pairs": [1e308]}', "numbers that nothing can be counted by"),
        ('{"explanations": 3}', "not an analysis of isogloss explain"),
        ('{"distributions": [{}]}', "not a survey of isogloss explain --bias"),
    ],
)
def test_anything_else_is_refused(tmp_path: Path, content: str, what: str) -> None:
    path = tmp_path / "other.json"
    path.write_text(content, encoding="utf-8")
    with pytest.raises(DataError, match=what) as caught:
        read_explain_records([path])
    assert caught.value.where == str(path)


def test_contradictions_are_refused(tmp_path: Path) -> None:
    change = msgspec.structs.replace
    both, made, survey = [explanation("a"), explanation("b")], pair_made("a", "b"), bias()
    huge = change(made.facets[0], buckets=[change(made.facets[0].buckets[0], high=1e308)])
    odd = change(made.facets[0], metric="nope")
    single = both[0].facets[0]
    far = change(both[0], facets=[change(single, buckets=[change(single.buckets[0], low=-1e308)])])
    short = change(survey.distributions[0], quartiles=[1.0, 2.0])
    found: list[tuple[Any, str]] = [
        (Analysis(both, [pair_made("a", "c")]), "a pair with 'c', which is none of its systems"),
        (Analysis(both, [change(made, facets=[huge])]), "numbers that nothing can be counted by"),
        (Analysis(both, [change(made, facets=[odd])]), "a pair with 'nope', by which none of its systems is explained"),
        (Analysis([far], []), "numbers that nothing can be counted by"),
        (
            Analysis(both, [change(made, cells=[change(made.cells[0], difference=1e300)])]),
            "numbers that nothing can be counted by",
        ),
        (change(survey, distributions=[short]), "t1Len of xnli/en has 2 quartiles"),
    ]
    for languages, table in ((["en"], [[0.0]]), (["en", "ar"], [[0.0, 1.0]]), (["en", "ar"], [[0.0], [1.0, 0.0]])):
        wrong = change(survey.distances[0], languages=languages, table=table)
        found.append((change(survey, distances=[wrong]), "the distances of t1Len in xnli are no table"))
    for record, said in found:
        with pytest.raises(DataError, match=said):
            read_explain_records([written(tmp_path, "wrong", record)])


def test_wrong_bytes_and_depth_are_no_traceback(tmp_path: Path) -> None:
    path = tmp_path / "wrong.json"
    for content, said in ((b'{"\xff": 1}', "not UTF-8"), (b'{"x": ' + b"[" * 100_000, "nested too deeply")):
        path.write_bytes(content)
        with pytest.raises(DataError, match=said):
            read_explain_records([path])


def test_a_system_that_goes_on_in_another_file_is_one_system(tmp_path: Path) -> None:
    files = []
    for task in ("xnli", "xquad"):
        case = ListedExample("en-0", {}, "gold", {"a (1)": "said", "a (2)": "other"}, {"a (1)": 0.0, "a (2)": 100.0})
        parts = [of("a", [facet(task, "en", "qLen")], seed=seed) for seed in (0, 1)]
        pair = msgspec.structs.replace(pair_made("a (1)", "a (2)"), facets=[], cells=[])
        files.append(written(tmp_path, task, Analysis(parts, [pair], cases={f"{task}/en": {"en-0": case}})))
    found = read_explain_records(files)
    assert {name: [f.task for f in each.facets] for name, each in found.explanations.items()} == {
        "a, seed 0": ["xnli", "xquad"],
        "a, seed 1": ["xnli", "xquad"],
    }
    assert [(pair.first, pair.second) for pair in found.pairs] == [("a, seed 0", "a, seed 1")]
    assert found.cases["xquad/en"]["en-0"].predictions == {"a, seed 0": "said", "a, seed 1": "other"}


def test_the_same_cell_twice_is_two_systems(tmp_path: Path) -> None:
    files = [written(tmp_path, name, Analysis([of("a", [facet("xnli", "en", "qLen")])], [])) for name in ("one", "two")]
    assert list(read_explain_records(files).explanations) == ["a (1)", "a (2)"]


def test_surveys_of_different_tasks_are_joined_and_of_the_same_refused(tmp_path: Path) -> None:
    made = bias()
    parts = [
        DatasetBias(split, [each for each in made.distributions if each.task == task], [])
        for task, split in (("xnli", "test"), ("xcopa", "dev"))
    ]
    first, second = (written(tmp_path, str(place), part) for place, part in enumerate(parts))
    found = read_explain_records([first, second]).bias
    assert found is not None
    assert (found.split, len(found.distributions)) == ("test, dev", len(made.distributions))
    with pytest.raises(DataError, match=r"xnli is surveyed in .*0\.json too"):
        read_explain_records([first, second, written(tmp_path, "again", parts[0])])
