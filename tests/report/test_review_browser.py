"""Test the review page in a browser, from disk, on a phone: judge, write, reload, download and load."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from isogloss.checklist.review_files import read_reviews
from isogloss.checklist.review_items import review_items
from isogloss.checklist.review_merge import merge_reviews
from isogloss.grammar.schema import TESTS
from isogloss.site.review_page import review_page
from report.browser import BROWSER, launched
from report.test_review_page import hostile_items

playwright = pytest.importorskip("playwright.sync_api", reason="the browser is driven by playwright")
pytestmark = [pytest.mark.slow, pytest.mark.skipif(BROWSER is None, reason="no Chromium is installed")]

PHONE = {"width": 360, "height": 740}
REFUSED_STORE = (
    "for (const name of ['getItem', 'setItem']) Storage.prototype[name] = () => { throw new Error('refused'); };"
)


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    yield from launched(playwright)


class Phone:
    """A phone that opens pages from disk, offline; console messages and requests are failures."""

    def __init__(self, browser: Any, **options: Any) -> None:
        self.context = browser.new_context(viewport=PHONE, has_touch=True, **options)
        self.context.set_offline(True)
        self.troubles: list[str] = []

    def open(self, path: Path) -> Any:
        tab = self.context.new_page()
        tab.on("pageerror", lambda error: self.troubles.append(str(error)))
        tab.on("console", lambda message: self.troubles.append(message.text))
        tab.on(
            "request",
            lambda asked: (
                None if asked.url.startswith(("file:", "data:", "blob:")) else self.troubles.append(asked.url)
            ),
        )
        tab.goto(path.as_uri())
        tab.wait_for_selector("html[data-ready]")
        return tab

    def close(self) -> None:
        self.context.close()
        assert self.troubles == []


@pytest.fixture
def phone(browser: Any) -> Iterator[Phone]:
    held = Phone(browser)
    yield held
    held.close()


@pytest.fixture(scope="module")
def page(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return written(tmp_path_factory.mktemp("page"), "en")


def written(folder: Path, code: str) -> Path:
    path = folder / f"{code}.html"
    path.write_text(review_page(code, 8, 0), encoding="utf-8")
    return path


def downloaded(tab: Any, path: Path) -> Path:
    with tab.expect_download() as download:
        tab.click("#download")
    assert download.value.suggested_filename.startswith("isogloss-review-")
    download.value.save_as(path)
    return path


def scrolls_sideways(tab: Any) -> bool:
    return bool(tab.evaluate("document.documentElement.scrollWidth > innerWidth"))


def progress(tab: Any) -> str:
    return str(tab.locator("#progress-says").inner_text())


def test_judge_reload_download_and_read(phone: Phone, page: Path, tmp_path: Path) -> None:
    items = review_items("en")
    tab = phone.open(page)
    tab.fill("#name", "Zoë B.")
    tab.tap("[data-verdict=right]")
    assert tab.locator("#key").inner_text() == items[1].key
    tab.tap("[data-verdict=wrong]")
    assert tab.locator("#key").inner_text() == items[1].key
    tab.fill("#better", 'Nobody would "say" <that>.\nThis, rather.')
    tab.fill("#remark", "schön 😀")
    tab.select_option("#part", label="Comparisons: words (0/20)")
    assert tab.locator("#key").inner_text() == "adjective.old"
    tab.tap("[data-verdict=odd]")
    assert progress(tab) == f"3 of {len(items)} judged"
    tab.reload()
    tab.wait_for_selector("html[data-ready]")
    assert progress(tab) == f"3 of {len(items)} judged"
    assert tab.locator("#name").input_value() == "Zoë B."
    assert tab.locator("#key").inner_text() == "adjective.old"
    assert tab.locator("[data-verdict=odd]").get_attribute("aria-pressed") == "true"
    assert tab.locator("#progress").evaluate("bar => bar.value") == 3

    path = downloaded(tab, tmp_path / "zoe.json")
    merged = merge_reviews(read_reviews([path]))
    assert [(each.name, each.judged, each.items, each.older) for each in merged.speakers] == [
        ("Zoë B.", 3, len(items), [])
    ]
    assert [change.key for change in merged.changes] == [items[1].key, "adjective.old"]
    assert merged.changes[0].better == {'Nobody would "say" <that>.\nThis, rather.': 1}
    assert merged.changes[0].remarks == ["schön 😀"]
    assert merged.marks == {}
    tab.locator("#copy summary").tap()
    playwright.expect(tab.locator("#text")).not_to_have_value("")
    assert json.loads(tab.locator("#text").input_value()) == json.loads(path.read_text(encoding="utf-8"))


def test_a_whole_review_by_keyboard(phone: Phone, page: Path, tmp_path: Path) -> None:
    tab = phone.open(page)
    items = review_items("en")
    tab.keyboard.press("ArrowRight")
    assert tab.locator("#key").inner_text() == items[1].key
    tab.keyboard.press("ArrowLeft")
    tab.keyboard.press("2")
    assert tab.locator("[data-verdict=odd]").get_attribute("aria-pressed") == "true"
    # Digits typed into a box are not verdicts.
    tab.locator("#remark").press("3")
    assert tab.locator("[data-verdict=wrong]").get_attribute("aria-pressed") == "false"
    tab.locator("#next").press("Enter")
    for _ in items[1:]:
        tab.keyboard.press("1")
    assert progress(tab) == f"{len(items)} of {len(items)} judged"
    assert "Thank you" in tab.locator("#send-says").inner_text()
    assert tab.locator("#open").is_disabled()
    merged = merge_reviews(read_reviews([downloaded(tab, tmp_path / "all.json")]))
    assert set(merged.marks) == set(TESTS)
    # Pressing the last verdict again removes it.
    tab.keyboard.press("1")
    assert progress(tab) == f"{len(items) - 1} of {len(items)} judged"
    tab.click("#open")
    assert tab.locator("#key").inner_text() == items[-1].key


def test_a_browser_without_storage_shows_a_warning(browser: Any, page: Path, tmp_path: Path) -> None:
    phone = Phone(browser)
    phone.context.add_init_script(REFUSED_STORE)
    tab = phone.open(page)
    assert "Download your result before you leave" in tab.locator("#notice").inner_text()
    tab.tap("[data-verdict=right]")
    assert len(read_reviews([downloaded(tab, tmp_path / "kept.json")])) == 1
    tab.close()
    phone.close()


def test_a_damaged_store_is_ignored(browser: Any, page: Path) -> None:
    phone = Phone(browser)
    phone.context.add_init_script(
        'Storage.prototype.getItem = () => \'{"answers": [1, {"a": null}], "place": 1e9, "name": 5}\';'
    )
    tab = phone.open(page)
    assert progress(tab).startswith("0 of ")
    tab.tap("[data-verdict=odd]")
    assert progress(tab).startswith("1 of ")
    phone.close()


def test_continuing_on_another_device(browser: Any, page: Path, tmp_path: Path) -> None:
    first = Phone(browser)
    tab = first.open(page)
    tab.fill("#name", "Juma")
    for verdict in ("right", "right", "wrong"):
        tab.tap(f"[data-verdict={verdict}]")
    path = downloaded(tab, tmp_path / "juma.json")
    first.close()
    record = json.loads(path.read_text(encoding="utf-8"))
    keys = list(record["answers"])
    record["answers"][keys[1]]["wording"] = "what it was"
    path.write_text(json.dumps(record), encoding="utf-8")

    second = Phone(browser)
    tab = second.open(page)
    tab.tap("[data-verdict=odd]")
    tab.locator("main > section > details").last.locator("summary").tap()
    tab.set_input_files("#load", path)
    tab.locator("#load-says", has_text="loaded").wait_for()
    message = tab.locator("#load-says").inner_text()
    assert message.startswith("Answers: 1 loaded; 1 kept from this device; 1 about words that have changed since")
    assert tab.locator("#name").input_value() == "Juma"
    tab.tap("#next")
    assert tab.locator("#earlier").inner_text() == "The words have changed since you judged them as right: what it was"
    again = json.loads(downloaded(tab, tmp_path / "again.json").read_text(encoding="utf-8"))
    assert again["reviewer"] == record["reviewer"]
    assert {key: answer["verdict"] for key, answer in again["answers"].items()} == {keys[0]: "odd", keys[2]: "wrong"}
    for content, answer in (
        ("nonsense", "not the result"),
        (json.dumps(record | {"language": "sw"}), "another language"),
    ):
        (tmp_path / "bad.json").write_text(content, encoding="utf-8")
        tab.set_input_files("#load", tmp_path / "bad.json")
        tab.locator("#load-says", has_text=answer).wait_for()
    second.close()


@pytest.mark.parametrize(("code", "direction"), [("en", "ltr"), ("ar", "rtl")])
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_every_kind_of_item_fits_a_phone(browser: Any, tmp_path: Path, code: str, direction: str, scheme: str) -> None:
    phone = Phone(browser, color_scheme=scheme)
    tab = phone.open(written(tmp_path, code))
    assert not scrolls_sideways(tab)
    for option in tab.locator("#part option").all():
        tab.select_option("#part", option.get_attribute("value"))
        assert not scrolls_sideways(tab), option.inner_text()
        texts = tab.locator("#lines .text, #lines .form")
        assert texts.count()
        assert texts.evaluate_all("all => [...new Set(all.map((e) => getComputedStyle(e).direction + e.lang))]") == [
            direction + code
        ]
        glosses = tab.locator("#lines .gloss")
        assert glosses.evaluate_all(
            "all => all.every((e) => e.lang === 'en' && getComputedStyle(e).direction === 'ltr')"
        )
    for box in tab.locator("button, select, input, summary").all():
        if box.is_visible():
            assert box.bounding_box()["height"] >= 44
    ground = tab.evaluate("getComputedStyle(document.body).backgroundColor")
    assert ground == ("rgb(255, 255, 255)" if scheme == "light" else "rgb(18, 22, 27)")
    phone.close()


def test_every_control_has_an_accessible_name(phone: Phone, page: Path) -> None:
    tab = phone.open(page)
    unnamed = tab.evaluate(
        """[...document.querySelectorAll("button, select, input, textarea, progress")]
        .filter((e) => !(e.labels?.length || e.ariaLabel || (e.tagName === "BUTTON" && e.textContent.trim())))
        .map((e) => e.outerHTML)"""
    )
    assert unnamed == []
    assert tab.locator("article [aria-live=polite] #ask").count() == 1


def test_hostile_words_are_shown_as_text(phone: Phone, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("isogloss.site.review_page.review_items", hostile_items)
    tab = phone.open(written(tmp_path, "en"))
    assert tab.locator("#lines .text").inner_text().startswith("</script><script>")
    assert tab.locator("#lines img").count() == 0
    tab.tap("[data-verdict=right]")
    assert tab.locator("#key").inner_text() == "__proto__"
    tab.tap("[data-verdict=wrong]")
    assert tab.evaluate("window.hacked") is None
    record = json.loads(downloaded(tab, tmp_path / "hostile.json").read_text(encoding="utf-8"))
    assert [answer["verdict"] for answer in record["answers"].values()] == ["right", "wrong"]
