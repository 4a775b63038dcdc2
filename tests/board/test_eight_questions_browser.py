"""Answer the questions that readers bring, each in at most two clicks or choices from the landing page."""

from pathlib import Path
from typing import Any

import pytest

from board.opened_board import Open, settle
from report.browser import BROWSER

pytestmark = [pytest.mark.slow, pytest.mark.skipif(BROWSER is None, reason="no Chromium is installed")]


# Whether a text is on the screen, without scrolling: the innermost element that shows it.
_ON_SCREEN = """text => {
  const shown = (node) => (node.innerText ?? "").replace(/\\s+/g, " ").includes(text);
  const inner = [...document.querySelectorAll("main, main *, dialog[open] *")].filter(shown).at(-1);
  const place = inner?.getBoundingClientRect();
  return Boolean(place) && place.top >= 0 && place.top < innerHeight && place.left < innerWidth;
}"""


class Reader:
    """Reader on the landing page who has two clicks or choices."""

    def __init__(self, tab: Any) -> None:
        self.tab = tab
        self.left = 2

    def act(self) -> None:
        self.left -= 1
        assert self.left >= 0

    def click(self, selector: str) -> None:
        self.act()
        self.tab.locator(selector).first.click()
        settle(self.tab)

    def choose(self, label: str, value: str) -> None:
        self.act()
        self.tab.get_by_label(label, exact=True).first.select_option(value)
        settle(self.tab)

    def sees(self, *texts: str) -> None:
        """Check that texts are on the screen, and again after the address is opened anew."""
        self._on_screen(texts)
        if self.tab.locator("dialog[open]").count() == 0:
            self.tab.reload()
            self.tab.wait_for_selector("html[data-ready]")
            settle(self.tab)
            self._on_screen(texts)

    def _on_screen(self, texts: tuple[str, ...]) -> None:
        for text in texts:
            assert self.tab.evaluate(_ON_SCREEN, text), text


@pytest.fixture
def reader(open_page: Open, published: Path) -> Reader:
    tab = open_page(index=published)
    settle(tab)
    return Reader(tab)


def test_which_is_best_for_question_answering_in_swahili(reader: Reader) -> None:
    reader.choose("Task", "qa")
    reader.choose("Language", "sw")
    reader.sees(
        "mT5-XXL (zero-shot) has the highest score on TyDiQA-GoldP: 87.2, of 5 systems", "The order is not tested"
    )


def test_is_a_better_than_b_and_where(reader: Reader) -> None:
    reader.click(".finding >> text=XLM-R Large has the best average overall")
    reader.sees(
        "Not tested: XLM-R Large has the better average, +0.7",
        "mT5-XXL is significantly better in 1 of 10 tasks, XLM-R Large in 0; 4 are not distinguishable and 5 not",
        "because of Retrieval (54.6 vs 37.4)",
    )
    assert reader.tab.locator(".forest tr.task").count() == 10
    first, last = (reader.tab.locator(".forest tr.task").nth(at).bounding_box() for at in (0, 9))
    assert first["y"] < 700 and last["y"] < 1100


def test_is_any_system_better_than_the_leader(reader: Reader) -> None:
    reader.click("#menu >> text=Compare")
    reader.act()
    picker = reader.tab.get_by_role("combobox", name="System B")
    picker.fill("mBERT zero")
    picker.press("Enter")
    settle(reader.tab)
    reader.sees("XLM-R Large is significantly better in similar languages: +11.2")


def test_where_does_the_best_stop_working(reader: Reader) -> None:
    reader.sees("31 of 50 languages reach 80 % of English")
    reader.click(".finding >> text=31 of 50 languages")
    reader.sees("31 of 50 languages served", "4.8 of 7.8 billion speakers · 18 not served")
    assert reader.tab.locator("path.isogloss.on-land").get_attribute("d")
    place = reader.tab.locator(".map svg").bounding_box()
    assert place["y"] + place["height"] < 900


def test_how_far_from_people(reader: Reader) -> None:
    reader.sees("22.0 points below people on UD-POS", "The best score is closest on XNLI (5.3 points below).")
    reader.click(".finding >> text=22.0 points below people")
    reader.sees("No system reaches the human score on any of 5 tasks", "3 of 5 an estimate in English")


def test_what_changed_since_xtreme(reader: Reader) -> None:
    reader.click("text=What changed since XTREME?")
    reader.sees("Dropped: PAWS-X and BUCC 2018. Added: XCOPA, Mewsli-X and LAReQA.", "XTREME's best average was 68.2")


def test_which_languages_does_no_system_serve(reader: Reader) -> None:
    reader.click("text=Languages without a working system")
    reader.sees("Not served at 80 % (18)")
    assert reader.tab.locator("[data-key^=unserved-]").first.inner_text().startswith("Chinese")


def test_which_open_system_below_a_billion_parameters(reader: Reader) -> None:
    reader.click("text=Open weights under 1 B")
    reader.sees(
        "41 of 229 tested systems have open weights and up to 1 B parameters",
        "XLM-R Large (zero-shot) is best on the full",
    )


def test_cite_this_view(reader: Reader) -> None:
    reader.click("#cite")
    fields = reader.tab.locator("dialog[open] textarea").evaluate_all("all => all.map((each) => each.value)")
    assert any(text.startswith("@misc{") and "data SHA-256" in text for text in fields), fields


def test_all_on_a_phone(open_page: Open, published: Path) -> None:
    tab = open_page(index=published, width=390, has_touch=True)
    landing = tab.url
    for taps, answer in (
        ([".finding >> text=XLM-R Large has the best average"], "mT5-XXL is significantly better in 1 of 10 tasks"),
        ([".finding >> text=31 of 50 languages"], "31 of 50 languages served"),
        ([".finding >> text=22.0 points below people"], "No system reaches the human score on any of 5 tasks"),
        (["text=What changed since XTREME?"], "Added: XCOPA, Mewsli-X and LAReQA."),
        (["text=Languages without a working system"], "Not served at 80 % (18)"),
        (["text=Open weights under 1 B"], "XLM-R Large (zero-shot) is best on the full"),
        ([], "mT5-XXL (zero-shot) has the highest score on TyDiQA-GoldP: 87.2"),
        (["#cite"], "BibTeX"),
    ):
        tab.goto(landing)
        settle(tab)
        reader = Reader(tab)
        for selector in taps:
            reader.click(selector)
        if not taps:
            reader.choose("Task", "qa")
            reader.choose("Language", "sw")
        reader.sees(answer)
