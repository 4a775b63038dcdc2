"""Tables of free-text replies of real models: read, scored, and what they do not answer."""

from pathlib import Path

import pytest

import isogloss
from isogloss.errors import PredictionError
from isogloss.predictions.reply_files import read_reply_files, unread_replies
from isogloss.reply_outcomes import Outcome, ReplyCounts


@pytest.mark.parametrize(("style", "accuracy"), [("direct", 63.0), ("cot", 72.6)])
def test_gpt_35_on_haitian_xcopa_as_published(style: str, accuracy: float, data_dir: Path, tmp_path: Path) -> None:
    [cell] = read_reply_files([data_dir / f"mega_gpt35/xcopa/ht-{style}.csv"], "xcopa", data=data_dir)
    cell.write(tmp_path)
    results = isogloss.score(tmp_path, tasks=["xcopa"], data=data_dir)
    assert results["xcopa", "ht"].metrics["accuracy"].value == pytest.approx(accuracy)
    assert results["xcopa", "ht"].replies.replies == 500


def test_gpt_4_on_sib200_in_several_languages(data_dir: Path, tmp_path: Path) -> None:
    names = ["swe_Latn", "sat_Olck", "ace_Arab", "zho_Hant", "quy_Latn"]
    files = [data_dir / f"sib200/llm/gpt4/{name}.tsv" for name in names]
    cells = read_reply_files(files, "sib200", data=data_dir)
    assert [cell.language for cell in cells] == ["sv", "sat", "ace-Arab", "zh-Hant", "quy"]
    for cell in cells:
        cell.write(tmp_path)
    results = isogloss.score(tmp_path, suite="living", tasks=["sib200"], data=data_dir)
    counts = {cell.language: cell.replies for cell in results.cells}
    # The model says that it does not understand Santali, and answers in Swedish most of the time.
    assert counts["sat"].outcomes == {Outcome.REFUSAL: 204}
    assert counts["sv"].unparsed < 0.3
    assert results["sib200", "sat"].metrics["accuracy"].value == 0
    assert results["sib200", "sv"].metrics["accuracy"].value > 60


def test_unread_replies_come_from_different_languages(data_dir: Path) -> None:
    files = [data_dir / f"sib200/llm/gpt3.5/{name}.tsv" for name in ("wol_Latn", "ewe_Latn")]
    cells = read_reply_files(files, "sib200", data=data_dir)
    shown = unread_replies(cells, 2)
    refused = [place for outcome, place, _ in shown if outcome is Outcome.REFUSAL]
    assert [place.split()[0] for place in refused] == ["sib200/wo", "sib200/ee"]
    assert all(len(text) <= 160 for _, _, text in shown)
    total = ReplyCounts.total(ReplyCounts.of(cell.facts) for cell in cells)
    assert total is not None
    assert total.replies == 408


def test_files_are_named_after_languages(tmp_path: Path) -> None:
    for name in ("sw.csv", "swh_Latn.csv", "klingon.csv"):
        (tmp_path / name).write_text("id,reply\ntest-0,true\n", encoding="utf-8")
    with pytest.raises(PredictionError, match="'klingon' is not a language of mini-xnli"):
        read_reply_files([tmp_path / "klingon.csv"], "mini-xnli", id_column="id")
    with pytest.raises(PredictionError, match="a second file for sw"):
        read_reply_files([tmp_path / "sw.csv", tmp_path / "swh_Latn.csv"], "mini-xnli", id_column="id")
