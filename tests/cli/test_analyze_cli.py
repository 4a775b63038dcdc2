"""isogloss analyze: the list of analyses, the tables and the three output formats."""

import csv
import json
import subprocess
import sys
from pathlib import Path

import msgspec
import pytest

import isogloss
from isogloss.analysis.finding import Finding
from isogloss.analysis.registry import ANALYSES
from isogloss.cli.main import main
from isogloss.escaping import html_text
from report.made_records import HOSTILE, results


def run(*words: str) -> int:
    with pytest.raises(SystemExit) as stop:
        main(["analyze", *words])
    return stop.value.code if isinstance(stop.value.code, int) else 0


def test_analyses_are_listed_without_a_name(capsys: pytest.CaptureFixture[str]) -> None:
    assert run() == 0
    text = capsys.readouterr().out
    assert all(entry.name in text and entry.about in text for entry in ANALYSES.values())


def test_list_does_not_import_numpy() -> None:
    program = (
        "import sys; from isogloss.cli.main import main\n"
        "try: main({})\n"
        "except SystemExit: pass\n"
        "assert not {{'numpy', 'msgspec'}} & set(sys.modules)"
    )
    for words in (["analyze"], ["analyze", "--help"], ["list", "analyses"]):
        subprocess.run([sys.executable, "-c", program.format(words)], check=True, capture_output=True)


def test_unknown_analysis_suggests_the_nearest(capsys: pytest.CaptureFixture[str]) -> None:
    assert run("transfr-gap", "published") == 2
    assert "Did you mean transfer-gap" in capsys.readouterr().err


@pytest.mark.parametrize("setting", ["group", "=family", "tasks=xnli", "a b=c"])
def test_invalid_settings_are_usage_errors(setting: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert run("families", "published", "--set", setting) == 2
    assert "--set" in capsys.readouterr().err


def test_too_few_systems_is_a_data_error(capsys: pytest.CaptureFixture[str]) -> None:
    assert run("rankings", "published:mT5-XXL") == 1
    assert "a ranking needs 2 systems" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("rankings",), "--set takes metric, speakers"),
        (("rankings", "published", "--set", "foo=1"), "Known: metric, speakers"),
        (("families", "published", "--set", "metric=bleu"), "unknown metric of these scores 'bleu'"),
        (("diversity", "en,de", "--languages", "de"), "--languages does not apply"),
        (("checkpoint-selection", "runs", "--tasks", "xnli"), "--set task="),
    ],
)
def test_inapplicable_options_are_refused(
    words: tuple[str, ...], message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(*words) in (1, 2)
    assert message in capsys.readouterr().err


def test_json_csv_and_html_together(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    results("mine", regime="zero-shot").to_json(tmp_path / "mine.json")
    words = ["families", str(tmp_path / "mine.json"), "published:mBERT, zero-shot", "--tasks", "xnli"]
    files = ["--json", str(tmp_path / "f.json"), "--csv", str(tmp_path / "t"), "--html", str(tmp_path / "f.html")]
    assert run(*words, "--set", "group=script", *files) == 0
    shown = capsys.readouterr().out
    finding = msgspec.json.decode((tmp_path / "f.json").read_bytes(), type=Finding)
    assert finding.reading in shown
    assert finding == isogloss.analyze(*words[:3], tasks=["xnli"], group="script")
    with (tmp_path / "t" / "languages.csv").open(encoding="utf-8", newline="") as file:
        lines = list(csv.DictReader(file))
    assert [line["score"] for line in lines if (line["system"], line["language"]) == ("mine", "ur")] == ["60.0"]
    page = (tmp_path / "f.html").read_text(encoding="utf-8")
    assert finding.title in page
    assert "http-equiv" in page
    sources = f"{tmp_path / 'mine.json'} 'published:mBERT, zero-shot'"
    assert finding.command == f"isogloss analyze families {sources} --tasks xnli --set group=script"
    assert f">{html_text(finding.command)}</p>" in page
    data = page.split('id="data">')[1].split("</script>")[0]
    assert set(json.loads(data)["charts"]) == {"families-overview", "families-languages"}


def test_csv_path_gets_the_first_table(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run("transfer-gap", "published:mBERT", "--tasks", "xnli", "--csv", str(tmp_path / "gaps.csv")) == 0
    assert (tmp_path / "gaps.csv").read_text(encoding="utf-8").startswith("task,system,metric,")


def test_hostile_system_names_are_escaped(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    results(HOSTILE).to_json(tmp_path / "mine.json")
    hostile = tmp_path / "<img src=x onerror=hacked()>.json"
    (tmp_path / "mine.json").rename(hostile)
    assert run("transfer-gap", str(hostile), "--html", str(tmp_path / "f.html")) == 0
    page = (tmp_path / "f.html").read_text(encoding="utf-8")
    assert "<script>window.hacked" not in page
    assert "<img src=x" not in page
