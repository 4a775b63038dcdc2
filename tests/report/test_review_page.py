"""Test the review page: one file, safe with any words, and accessible."""

import json
import re
from dataclasses import replace
from pathlib import Path

import pytest

from isogloss.checklist import review_items
from isogloss.cli.main import main
from isogloss.site.page_parts import packaged_file
from isogloss.site.review_page import review_page
from report.page_reader import Reader

HOSTILE = "</script><script>window.hacked = 1</script><img src=x onerror='window.hacked = 1'>\u202e"


def page_data(html: str) -> dict[str, object]:
    [text] = re.findall(r'<script type="application/json" id="data">(.*?)</script>', html, re.DOTALL)
    data: dict[str, object] = json.loads(text)
    return data


def test_the_page_is_self_contained() -> None:
    html = review_page("en", 8, 0)
    read = Reader(html)
    assert read.open == []
    assert len(read.all("script")) == 2
    assert not any(url for tag in ("script", "img", "iframe") for each in read.all(tag) for url in [each.get("src")])
    assert [each["href"] for each in read.all("link")] == ["data:,"]
    assert {*re.findall(r"https?://[^\s\"']*", html)} == {"http://www.w3.org/2000/svg"}
    ids = [each["id"] for _, each in read.elements if "id" in each]
    assert len(ids) == len(set(ids))
    [policy] = [each["content"] for each in read.all("meta") if each.get("http-equiv") == "Content-Security-Policy"]
    assert re.fullmatch(
        r"default-src 'none'; script-src 'sha256-[\w+/=]+'; style-src 'unsafe-inline'; img-src data:", str(policy)
    )
    assert len(html.encode()) < 200_000
    assert "{{" not in html


def test_different_content_has_a_separate_store(monkeypatch: pytest.MonkeyPatch) -> None:
    stores = {str(page_data(review_page("en", cases, seed))["store"]) for cases, seed in ((8, 0), (9, 0), (8, 1))}
    assert len(stores) == 3
    assert page_data(review_page("en", 8, 0)) == page_data(review_page("en", 8, 0))


@pytest.mark.parametrize(("code", "direction"), [("en", "ltr"), ("ar", "rtl")])
def test_language_and_direction(code: str, direction: str) -> None:
    read = Reader(review_page(code, 1, 0))
    [better] = [each for each in read.all("textarea") if each.get("id") == "better"]
    assert (better["lang"], better["dir"]) == (code, direction)
    assert (read.all("bdi")[0]["lang"], read.all("bdi")[0]["dir"]) == (code, direction)
    assert read.all("html")[0] == {"lang": "en"}


def hostile_items(code: str, cases: int, seed: int) -> tuple[review_items.ReviewItem, ...]:
    item = review_items.review_items(code, cases, seed)[0]
    line = review_items.ReviewLine("statement", HOSTILE, HOSTILE, HOSTILE)
    return (replace(item, key="a", wording=HOSTILE, lines=(line,), meaning=HOSTILE), replace(item, key="__proto__"))


def test_no_word_can_inject_markup(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("isogloss.site.review_page.review_items", hostile_items)
    html = review_page("en", 1, 0)
    assert len(Reader(html).all("script")) == 2
    assert not Reader(html).all("img")
    assert "\u202e" not in html


def luminance(colour: str) -> float:
    parts = [int(colour[place : place + 2], 16) / 255 for place in (1, 3, 5)]
    linear = [part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def contrast(one: str, other: str) -> float:
    light, dark = sorted((luminance(one), luminance(other)), reverse=True)
    return (light + 0.05) / (dark + 0.05)


def test_contrast_in_both_themes() -> None:
    css = packaged_file("look.css") + packaged_file("review.css")
    light = dict(re.findall(r"--(\w+): (?:light-dark\()?(#[0-9a-f]{6})", css))
    dark = light | dict(re.findall(r"--(\w+): light-dark\(#[0-9a-f]{6}, (#[0-9a-f]{6})", css))
    for colours in (light, dark):
        for ground in ("paper", "ground", "notice"):
            assert contrast(colours["ink"], colours[ground]) >= 7
        for text, ground in (("soft", "paper"), ("soft", "ground"), ("paper", "link")):
            assert contrast(colours[text], colours[ground]) >= 4.5, (text, ground)
        for verdict in ("right", "odd", "wrong"):
            assert contrast("#ffffff", colours[verdict]) >= 4.5
        for edge in ("edge", "done"):
            assert contrast(colours[edge], colours["paper"]) >= 3


def test_the_command_writes_the_page(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out = tmp_path / "new" / "en.html"
    with pytest.raises(SystemExit) as stop:
        main(["checklist", "review", "--language", "en", "--out", str(out), "--cases", "2"])
    assert stop.value.code in (0, None)
    assert "--read" in capsys.readouterr().out
    assert page_data(out.read_text(encoding="utf-8"))["cases"] == 2
