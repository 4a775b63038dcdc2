"""The examples of docs/python.md run as written, in order."""

import re
from importlib.util import find_spec
from pathlib import Path

import pytest

PAGE = Path(__file__).parents[1] / "docs" / "python.md"
# Libraries of extras, by the call that needs them.
EXTRAS = {".plot(": "altair", "to_datasets": "datasets"}


@pytest.mark.slow
def test_examples_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("ISOGLOSS_DATA", raising=False)
    blocks = re.findall(r"```python\n(.*?)```", PAGE.read_text(encoding="utf-8"), re.DOTALL)
    names: dict[str, object] = {}
    for block in blocks:
        lines = [
            line
            for line in block.splitlines()
            if all(find_spec(library) for call, library in EXTRAS.items() if call in line)
        ]
        exec(compile("\n".join(lines), str(PAGE), "exec"), names)  # noqa: S102 - our own page
    assert (tmp_path / "results.json").is_file()
    assert (tmp_path / "languages.html").is_file() == (find_spec("altair") is not None)
    assert len(blocks) >= 7


def test_values_in_comments_are_true() -> None:
    import isogloss

    shown = re.findall(r"^(isogloss\.metrics\..*)  # (.*)$", PAGE.read_text(encoding="utf-8"), re.MULTILINE)
    assert len(shown) == 2
    for expression, value in shown:
        assert eval(expression, {"isogloss": isogloss}) == eval(value)  # noqa: S307 - our own page


def test_the_page_is_short() -> None:
    assert len(PAGE.read_text(encoding="utf-8").split()) <= 700


def test_links_lead_somewhere() -> None:
    for target in re.findall(r"\]\(([^)#]+)", PAGE.read_text(encoding="utf-8")):
        assert (PAGE.parent / target).is_file()
