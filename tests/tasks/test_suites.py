"""Suites: whose members are said, and which users may write themselves."""

from pathlib import Path

import pytest

from isogloss.errors import DataError, IsoglossError, UnknownNameError
from isogloss.tasks.suites import SUITES, suite


def test_language_counts_of_the_suites() -> None:
    # XTREME-R's tables list 38, 48 and 41 languages for these three; XTREME's 33, 40 and 36.
    r, x = suite("xtreme-r"), suite("xtreme")
    assert [len(r.languages_of(name)) for name in ("udpos", "wikiann", "tatoeba")] == [38, 48, 41]
    assert [len(x.languages_of(name)) for name in ("udpos", "wikiann", "tatoeba")] == [33, 40, 36]
    assert [len(r.languages_of(name)) for name in ("xnli", "xcopa", "xquad", "mlqa", "tydiqa")] == [15, 11, 11, 7, 9]
    assert [len(r.tasks), len(x.tasks)] == [10, 9]


def test_rules_of_the_suites() -> None:
    assert {name: SUITES[name].rule for name in SUITES.shipped} == {
        "xtreme-r": "category",
        "xtreme": "flat",
        "mldoc": "flat",
        "conll": "flat",
        "living": "category",
        "mini": "category",
        "checklist": "flat",
        "checklist-released": "flat",
        "checklist-invariance": "flat",
    }


def test_suite_members_are_explicit() -> None:
    assert suite("xtreme-r").tasks == tuple("xnli xcopa udpos wikiann xquad mlqa tydiqa mewslix lareqa tatoeba".split())
    assert suite("xtreme").tasks == tuple("xnli pawsx udpos wikiann xquad mlqa tydiqa bucc tatoeba".split())


def test_categories_of_each_suite() -> None:
    structured, qa = ("udpos", "wikiann"), ("xquad", "mlqa", "tydiqa")
    assert suite("xtreme-r").categories == {
        "classification": ("xnli", "xcopa"),
        "structured": structured,
        "qa": qa,
        "retrieval": ("mewslix", "lareqa", "tatoeba"),
    }
    assert suite("xtreme").categories == {
        "classification": ("xnli", "pawsx"),
        "structured": structured,
        "qa": qa,
        "retrieval": ("bucc", "tatoeba"),
    }


def test_unknown_suite_is_answered_with_near_names() -> None:
    with pytest.raises(UnknownNameError, match=r"unknown suite 'xtrem'.*xtreme"):
        suite("xtrem")


def written(folder: Path, text: str) -> str:
    path = folder / "mine.toml"
    path.write_text(text, encoding="utf-8")
    return str(path)


def test_user_may_write_one(tmp_path: Path) -> None:
    text = """
        title = "What we ship"
        tasks = ["xquad", "panx", "xnli"]
        rule = "flat"
        [languages]
        xquad = ["en", "th"]
        [weights]
        panx = 2
    """
    found = suite(written(tmp_path, text))
    assert (found.id, found.title, found.rule) == ("mine", "What we ship", "flat")
    assert found.tasks == ("xquad", "wikiann", "xnli")
    assert found.languages_of("xquad") == ("en", "th")
    assert len(found.languages_of("xnli")) == 15
    assert found.weights == {"wikiann": 2.0}


def test_languages_of_all_tasks_hold_where_a_task_has_them(tmp_path: Path) -> None:
    found = suite(written(tmp_path, 'tasks = ["xquad", "tatoeba"]\nlanguages = ["en", "th", "fr"]'))
    assert found.languages == {"xquad": ("en", "th"), "tatoeba": ("th", "fr")}


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("tasks = [", "not TOML"),
        ("", "missing tasks"),
        ("tasks = []", "missing tasks"),
        ("tasks = 3", "not a list of strings"),
        ('tasks = ["xqad"]', "Did you mean xquad"),
        ('tasks = ["xquad"]\nrule = "mean"', "unknown rule 'mean'"),
        ('tasks = ["xquad"]\nlanguage = ["en"]', "unknown key of a suite 'language'.*languages"),
        ('tasks = ["xquad"]\nlanguages = ["qq"]', "unknown language"),
        ('tasks = ["xquad", "tatoeba"]\nlanguages = ["en"]', "tatoeba has none of the languages"),
        ('tasks = ["xquad"]\n[languages]\nxquad = ["sw"]', "xquad has no sw"),
        ('tasks = ["xquad"]\n[languages]\nxnli = ["sw"]', "which is not one of the suite's tasks"),
        ('tasks = ["xquad"]\n[weights]\nxquad = 0', "not a positive number"),
        ('tasks = ["xquad"]\n[weights]\nxquad = nan', "not a positive number"),
        ('tasks = ["xquad"]\nweights = 2', "weights = 2 is not a table"),
    ],
)
def test_invalid_file_is_reported(tmp_path: Path, text: str, said: str) -> None:
    with pytest.raises(IsoglossError, match=said) as raised:
        suite(written(tmp_path, text))
    assert str(raised.value).startswith(f"{tmp_path / 'mine.toml'}: ")


def test_missing_file(tmp_path: Path) -> None:
    with pytest.raises(DataError, match=r"none\.toml: no such file"):
        suite(str(tmp_path / "none.toml"))
