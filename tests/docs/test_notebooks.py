"""The notebooks run as stored, without outputs, and become pages of the site with them."""

import json
import re
from pathlib import Path

import pytest

from page_blocks import ROOT

pytest.importorskip("altair", reason="notebooks draw charts")
import notebook_pages  # in scripts/docs

NOTEBOOKS = sorted((ROOT / "docs" / "notebooks").glob("*.ipynb"))
# What the text of each says about its figures, as its outputs show it.
CLAIMS = {
    "checkpoint-study": [
        "<td>sw</td><td>English dev is not significantly better than chance</td>",
        "<td>tr</td><td>English dev tracks test</td>",
        "<td>de</td><td>English dev tracks test</td>",
        "<td>+3.2</td><td>+1.6 to +4.7</td>",  # Swahili's own dev set
        "<td>+1.0</td><td>+0.1 to +1.9</td><td>0.146</td>",  # not significant
    ],
    "explain-an-error": [
        "41.7 (29.7–54.7), n=60",  # includes 33
        "<td>contradiction</td><td>0</td><td>0</td><td>20</td>",
        "<td>entailment</td><td>15</td><td>5</td><td>0</td>",
        "<td>mini-xnli/th</td><td>41.7</td><td>100.0</td>",
    ],
    "score-and-compare": ["<td>71.2</td>", "41.7 in Thai, 71.2 on average", "is the better checkpoint"],
}


def test_every_notebook_is_checked() -> None:
    assert [path.stem for path in NOTEBOOKS] == sorted(CLAIMS)


@pytest.mark.parametrize("notebook", NOTEBOOKS, ids=lambda path: path.stem)
def test_page_has_the_outputs(notebook: Path, tmp_path: Path) -> None:
    page = notebook_pages.page(notebook, tmp_path)
    plain = page.replace(' style="text-align:left"', "")
    assert [claim for claim in CLAIMS[notebook.stem] if claim not in plain] == []
    assert re.match(r"# \w.*\n\n<a href=", page)
    assert "<table" in page
    images = re.findall(r'<img src="([^"]+)" alt="[^"]+">', page)
    assert sorted(images) == sorted(path.name for path in tmp_path.iterdir()) != []
    assert all((tmp_path / image).read_text(encoding="utf-8").startswith("<svg") for image in images)
    assert not re.search(r'(?:src|href)="http', page)


@pytest.mark.parametrize("notebook", NOTEBOOKS, ids=lambda path: path.stem)
def test_notebook_is_stored_without_outputs(notebook: Path) -> None:
    text = notebook.read_text(encoding="utf-8")
    decoded = json.loads(text)
    code = [cell for cell in decoded["cells"] if cell["cell_type"] == "code"]
    assert [cell for cell in code if cell["outputs"] or cell["execution_count"] is not None] == []
    assert text == json.dumps(decoded, ensure_ascii=False, indent=1) + "\n"
    assert len(" ".join(cell.text for cell in notebook_pages.cells(notebook)).split()) <= 450


@pytest.mark.slow
@pytest.mark.parametrize("notebook", NOTEBOOKS, ids=lambda path: path.stem)
def test_notebook_runs_in_a_kernel(notebook: Path, tmp_path: Path) -> None:
    nbformat = pytest.importorskip("nbformat", reason="needs nbclient and ipykernel")
    nbclient = pytest.importorskip("nbclient", reason="needs nbclient and ipykernel")
    stored = nbformat.read(notebook, as_version=4)
    nbformat.validate(stored)
    nbclient.NotebookClient(stored, resources={"metadata": {"path": str(tmp_path)}}, timeout=120).execute()
    shown = [output.get("data", {}) for cell in stored.cells for output in cell.get("outputs", [])]
    assert any("<table" in data.get("text/html", "") for data in shown)
