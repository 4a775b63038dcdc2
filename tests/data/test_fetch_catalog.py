"""The catalogue is consistent, and its pinned checksums match the real files."""

import re
from pathlib import Path, PurePosixPath

import pytest

from isogloss.data.fetch import status
from isogloss.data.fetch.catalog import RemoteFile, dataset, datasets
from isogloss.data.files import resolve, sha256_of
from isogloss.data.location import default_data_dir
from isogloss.errors import UnknownNameError
from isogloss.tasks.registry import LIVING_TASKS, task
from isogloss.translation import published

SOURCES = [source for entry in datasets().values() for source in entry.sources]


def test_every_task_has_an_entry() -> None:
    assert set(datasets()) == {
        *("xnli xcopa udpos wikiann xquad mlqa tydiqa tatoeba mewslix lareqa pawsx bucc mldoc".split()),
        *("conll multichecklist multinli squad siqa uriel muse".split()),
        *LIVING_TASKS,
        *(f"{name}-translated" for name in ("mlqa", "squad", "tydiqa", "xnli", "pawsx")),
    }
    assert [name for name, entry in datasets().items() if entry.model] == ["muse"]
    training = [name for name, entry in datasets().items() if entry.training and not entry.translated]
    assert training == ["multinli", "squad", "siqa"]
    # Every language that a task has besides English.
    for name in ("xquad", "tydiqa", "xnli", "pawsx"):
        languages = {*task(name).languages} - {"en"}
        files = {source.path for source in dataset(f"{name.replace('xquad', 'squad')}-translated").sources}
        assert files == {
            pattern.format(lang=code) for code in languages for pattern in [published.LAYOUTS[name][0].train]
        }


def test_aliases_and_near_names() -> None:
    assert dataset("panx").name == "wikiann"
    assert dataset("bucc2018").name == "bucc"
    with pytest.raises(UnknownNameError, match="xquad"):
        dataset("xqad")


def test_every_source_is_valid() -> None:
    assert len(SOURCES) == 275 + 791
    for source in SOURCES:
        check(source)


def check(source: RemoteFile) -> None:
    assert all(url.startswith(("https://", "pip:")) for url in source.urls)
    assert re.fullmatch("[0-9a-f]{64}|", source.sha256)
    assert bool(source.path) != bool(source.rules)
    assert source.sha256 or source.rules
    for place in (source.path, *(rule.to for rule in source.rules)):
        assert not PurePosixPath(place).is_absolute()
        assert ".." not in PurePosixPath(place).parts
    for rule in source.rules:
        groups = rule.member.groups + (rule.inside.groups if rule.inside else 0)
        assert sorted(re.findall(r"\{(\d)\}", rule.to)) == [str(n) for n in range(groups)]
    if "raw.githubusercontent.com" in source.urls[0]:
        assert re.search(r"/[0-9a-f]{40}/", source.urls[0])
        assert source.sha256


def test_no_two_sources_share_a_name_or_a_path() -> None:
    assert len({source.key for source in SOURCES}) == len(SOURCES)
    paths = [source.path for source in SOURCES if source.path]
    assert len(set(paths)) == len(paths)


@pytest.mark.parametrize(
    ("name", "member", "place"),
    [
        ("xnli", "XNLI-1.0/xnli.test.tsv", "xnli/XNLI-1.0/xnli.test.tsv"),
        ("xnli", "__MACOSX/XNLI-1.0/._xnli.test.tsv", None),
        ("multichecklist", "checklist-0.0.11/checklist/data/wikidata.pkl", "multichecklist/wikidata.pkl"),
        ("multichecklist", "checklist-0.0.11/checklist/data/names.json", None),
        ("xcopa", "COPA/val.jsonl", "xcopa/data/en/val.en.jsonl"),
        ("udpos", "ud-treebanks-v2.5/UD_Arabic-PADT/ar_padt-ud-test.conllu", "udpos/conllu/ar_padt-ud-test.conllu"),
        (
            "udpos",
            "ud-treebanks-v2.5/UD_German-HDT/de_hdt-ud-train-a-1.conllu",
            "udpos/conllu/de_hdt-ud-train-a-1.conllu",
        ),
        ("udpos", "ud-treebanks-v2.5/UD_Ancient_Greek-PROIEL/grc_proiel-ud-test.conllu", None),
        ("udpos", "ud-treebanks-v2.5/UD_Polish-LFG/pl_lfg-ud-train.conllu", None),  # XTREME-R takes 2.7
        ("udpos", "ud-treebanks-v2.7/UD_Polish-LFG/pl_lfg-ud-train.conllu", "udpos/conllu/pl_lfg-ud-train.conllu"),
        ("udpos", "ud-treebanks-v2.7/UD_Arabic-PADT/ar_padt-ud-test.conllu", None),
        (
            "mlqa",
            "MLQA_V1/test/test-context-ar-question-zh.json",
            "mlqa/test/test-context-ar-question-zh.json",
        ),
        ("pawsx", "x-final/en/train.tsv", "pawsx/en/train.tsv"),
        ("pawsx", "x-final/ja/translated_train.tsv", "pawsx/ja/translated_train.tsv"),
        ("bucc", "bucc2018/zh-en/zh-en.sample.gold", "bucc/zh-en/zh-en.sample.gold"),
        ("bucc", "bucc2018/de-en/de-en.training.de", "bucc/de-en/de-en.training.de"),
        (
            "multinli",
            "XNLI-MT-1.0/multinli/multinli.train.sw.tsv",
            "xnli/XNLI-MT-1.0/multinli/multinli.train.sw.tsv",
        ),
        ("conll", "conll2002/ned.testb", "conll2002/ned.testb"),
        (
            "mlqa-translated",
            "mlqa-translate-train/vi_squad-translate-train-train-v1.1.json",
            "mlqa/mlqa-translate-train/vi_squad-translate-train-train-v1.1.json",
        ),
        (
            "multinli",
            "XNLI-MT-1.0/multinli/multinli.train.en.tsv",
            "xnli/XNLI-MT-1.0/multinli/multinli.train.en.tsv",
        ),
        ("siqa", "socialIQa_v1.4/socialIQa_v1.4_trn.jsonl", "siqa/socialIQa_v1.4_trn.jsonl"),
        ("uriel", "lang2vec/data/family_features.npz", "uriel/family_features.npz"),
        ("uriel", "lang2vec/data/learned.npy", None),  # a pickle
        ("mewslix", "wikinews_mentions_no_text-test.jsonl", "mewslix/wikinews_mentions_no_text-test.jsonl"),
    ],
)
def test_members_go_where_the_readers_look(name: str, member: str, place: str | None) -> None:
    rules = [rule for source in dataset(name).sources for rule in source.rules]
    places = [rule.to.format(*match.groups()) for rule in rules if (match := rule.member.fullmatch(member))]
    assert places == ([place] if place else [])


def test_wikiann_is_an_archive_of_archives() -> None:
    (rule,) = dataset("wikiann").sources[0].rules
    assert rule.inside is not None
    assert rule.member.fullmatch("panx_dataset/qu.tar.gz")
    assert not rule.member.fullmatch("panx_dataset/als.tar.gz")
    assert not rule.member.fullmatch("__MACOSX/panx_dataset/._qu.tar.gz")
    assert [bool(rule.inside.fullmatch(name)) for name in ("train", "dev", "test", "extra")] == [1, 1, 1, 0]
    assert dataset("wikiann").sources[0].members == 3 * rule.member.pattern.count("|") + 3  # 48 languages


def test_status_counts_files_packed_or_not(tmp_path: Path) -> None:
    xquad = dataset("xquad")
    assert status(xquad, tmp_path).state == "missing"
    for number, source in enumerate(xquad.sources):
        place = tmp_path / (source.path + (".xz" if number % 2 else ""))
        place.parent.mkdir(exist_ok=True)
        assert status(xquad, tmp_path).present == number
        place.touch()
    assert status(xquad, tmp_path).state == "present"


def test_status_of_data_made_by_hand(tmp_path: Path) -> None:
    mewslix, mldoc = dataset("mewslix"), dataset("mldoc")
    assert status(mldoc, tmp_path).state == "by hand"
    (tmp_path / "mldoc").mkdir()
    (tmp_path / "mldoc/german.test").touch()
    assert status(mldoc, tmp_path).state == "present"
    (tmp_path / "mewslix").mkdir()
    for name in ("candidate_set_entities", "wikipedia_pairs-train", "wikipedia_pairs-dev"):
        (tmp_path / f"mewslix/{name}.jsonl").touch()
    for split in ("dev", "test"):
        (tmp_path / f"mewslix/wikinews_mentions_no_text-{split}.jsonl").touch()
    assert status(mewslix, tmp_path).state == "partial"
    for split in ("dev", "test"):
        (tmp_path / f"mewslix/wikinews_mentions-{split}.jsonl").touch()
    assert status(mewslix, tmp_path).state == "present"


def test_default_data_folder(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ISOGLOSS_DATA", "/somewhere/else")
    assert default_data_dir() == Path("/somewhere/else")
    monkeypatch.delenv("ISOGLOSS_DATA")
    assert default_data_dir().parts[-2:] == ("isogloss", "data")


def test_pinned_checksums_are_those_of_the_real_files(data_dir: Path) -> None:
    there = [source for source in SOURCES if source.path and resolve(data_dir / source.path)]
    if not there:
        pytest.skip(f"{data_dir} has no file that is pinned")
    assert [source.path for source in there if sha256_of(data_dir / source.path) != source.sha256] == []
