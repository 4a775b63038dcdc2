"""The built site works from disk: pages, search, no request to another host."""

import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from page_blocks import ROOT

pytestmark = pytest.mark.slow
CHROMIUM = shutil.which("chromium-headless-shell") or shutil.which("chromium") or shutil.which("chromium-browser")
ZENSICAL = shutil.which("zensical") or shutil.which(str(ROOT / ".venv-docs" / "bin" / "zensical"))  # `make docs-tools`


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The site, built as by `make docs`."""
    if ZENSICAL is None:
        pytest.skip("needs zensical")
    root = tmp_path_factory.mktemp("site")
    shutil.copyfile(ROOT / "zensical.toml", root / "zensical.toml")
    scripts = ROOT / "scripts" / "docs"
    for command in (
        [sys.executable, scripts / "stage.py", "out/docs/pages"],
        [ZENSICAL, "build", "--clean", "--strict"],
        [sys.executable, scripts / "offline.py", "out/docs/site"],
    ):
        done = subprocess.run(command, cwd=root, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stdout + done.stderr
    return root / "out" / "docs" / "site"


def test_broken_links_fail(tmp_path: Path) -> None:
    """The site's settings, with two pages of its own, stop the build at a link to a missing page or heading."""
    if ZENSICAL is None:
        pytest.skip("needs zensical")
    settings = (ROOT / "zensical.toml").read_text(encoding="utf-8")
    (tmp_path / "zensical.toml").write_text(re.sub(r"(?ms)^nav = \[.*?^\]", "", settings), encoding="utf-8")
    pages = tmp_path / "out" / "docs" / "pages"
    pages.mkdir(parents=True)
    (pages / "site.css").touch()
    (pages / "other.md").write_text("# Other\n\n## Here\n", encoding="utf-8")
    for link, works in {
        "other.md": True,
        "other.md#here": True,
        "nowhere.md": False,
        "other.md#nowhere": False,
    }.items():
        (pages / "index.md").write_text(f"# Home\n\n[link]({link})\n", encoding="utf-8")
        built = subprocess.run(
            [str(ZENSICAL), "build", "--clean", "--strict"], cwd=tmp_path, capture_output=True, check=False
        )
        assert (built.returncode == 0) == works, (link, built)


@pytest.mark.skipif(CHROMIUM is None, reason="needs chromium")
@pytest.mark.parametrize("width", [1440, 390])
def test_pages_and_search_work_from_disk(site: Path, width: int) -> None:
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM)
        page = browser.new_page(viewport={"width": width, "height": 900})
        requests: list[str] = []
        lines: list[int] = []
        page.on("request", lambda request: requests.append(request.url))
        for name in ("index", "tutorial", "how-to/compare", "reference/commands/score", "reference/python", "scoring"):
            page.goto(f"{site.as_uri()}/{name}.html")
            assert page.evaluate("document.documentElement.scrollWidth") <= width, name
            lines += page.evaluate("[...document.querySelectorAll('.option')].map(one => one.getClientRects().length)")
        assert set(lines) == {1}, "options of commands wrap"
        page.keyboard.press("Control+k")
        page.get_by_role("combobox").press_sequentially("jackknife")
        page.get_by_role("listitem").filter(has_text="Uncertainty").first.wait_for()
        assert page.get_by_role("combobox").input_value() == "jackknife"
        assert not [url for url in requests if not url.startswith(("file:", "data:", "blob:"))]
        browser.close()
