"""Escaping of hostile names in every output format."""

import csv
import io
import re
from html.parser import HTMLParser

import pytest

from hostile import ACTING, NAMES
from isogloss.escaping import (
    NAME_LENGTH,
    csv_text,
    html_text,
    latex_text,
    markdown_text,
    printable,
    printable_system,
    printable_values,
    tooltip_title,
)
from isogloss.notebooks import html_table

pytestmark = pytest.mark.parametrize("name", NAMES.values(), ids=NAMES)


def test_printable_output_is_harmless_and_stable(name: str) -> None:
    shown = printable(name)
    assert not ACTING.search(shown)
    assert "\n" not in shown
    assert printable(shown) == shown
    assert len(printable(name, 50)) <= 50
    assert not ACTING.search(printable(name, lines=True))
    assert printable_values({name: [name, {"x": name}, 3]}) == {shown: [shown, {"x": shown}, 3]}
    assert len(printable_system({"name": name, "about": name})["name"]) <= NAME_LENGTH


def test_ordinary_text_is_unchanged(name: str) -> None:
    for text in ("xlm-r", "می\u200cخواهم", "क्\u200dष", "العربية", "👩\u200d🔬", f"{len(name)} % – ü"):
        assert printable(text) == text


def test_names_are_not_latex_commands(name: str) -> None:
    text = latex_text(name)
    commands = {"textbackslash", "textasciitilde", "textasciicircum", "dots"}
    assert set(re.findall(r"\\([a-zA-Z]+)", text)) <= commands
    assert not re.search(r"(?<!\\)[%#_&^~]", text)
    assert not text.startswith(("[", "*"))


def test_names_are_neither_html_nor_markdown(name: str) -> None:
    text = markdown_text(name)
    assert not re.search(r"[<>]", text)
    assert not re.search(r"(?<!\\)(?:\\\\)*[`*\[\]|~]", text)
    assert not re.search(r"(?<![\w\\])_|^#", text)


def test_csv_has_no_formulas_and_round_trips(name: str) -> None:
    stream = io.StringIO()
    csv.writer(stream).writerow([csv_text(name), csv_text("-1.5")])
    [[found, number]] = list(csv.reader(io.StringIO(stream.getvalue())))
    assert not found.lstrip().startswith(("=", "+", "-", "@"))
    assert found.removeprefix("'") == printable(name)
    assert float(number) == -1.5


def test_signed_numbers_stay_numbers(name: str) -> None:
    for number in ("-9.0", "+5.0", "-12.0 to -6.0", "+0.3*", "-1,000"):
        assert csv_text(number) == number
    assert csv_text(f"-{name}=1").startswith("'-")


class _Tags(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.text = ""

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)

    def handle_data(self, data: str) -> None:
        self.text += data


def test_notebooks_show_text(name: str) -> None:
    reader = _Tags()
    reader.feed(html_table(name, [name], [[name]]))
    assert reader.tags == ["table", "caption", "tr", "th", "tr", "td"]
    assert reader.text == printable(name) * 3
    assert html_text("\"'") == "&quot;&#x27;"


def test_titles_do_not_end_strings(name: str) -> None:
    # Vega-Lite escapes quotes only.
    inside = tooltip_title(name).replace('"', '\\"')
    assert not re.search(r'(?<!\\)(?:\\\\)*"', inside)
    assert not re.search(r"(?<!\\)(?:\\\\)*\\$", inside)
