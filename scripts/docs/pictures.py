"""Pictures of the README and the gallery, light and dark, made by the commands that the gallery shows.

python scripts/docs/pictures.py [NAME …]    needs Chromium
"""

import io
import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

from page_blocks import ROOT, blocks, environment, run

GALLERY = ROOT / "docs" / "gallery.md"
PICTURES = ROOT / "docs" / "pictures"
SCHEMES = ("light", "dark")
# The first and the last element of a page that its picture shows.
_SHOWN = {"map": (".map-head", ".map-legend"), "leaderboard": (".purpose", ".ways")}
_WIDTH, _MARGIN = 1320, 5
_COLUMNS = 100
# Foreground and background, and the 16 colours of the terminal.
_COLOURS = {
    "light": ("1f2328", "ffffff", "1f2328 b3261e 116329 7d4e00 0550ae 8250df 1b7c83 57606a".split()),
    "dark": ("e6edf3", "0d1117", "848d97 ff7b72 3fb950 d29922 58a6ff bc8cff 39c5cf e6edf3".split()),
}
_SVG = """\
<svg xmlns="http://www.w3.org/2000/svg" viewBox="-16 -12 {room} {tall}">
<style>.{unique_id}-matrix {{ font: {char_height}px/{line_height}px ui-monospace, Menlo, Consolas, monospace }}
{styles}</style>
<defs>{lines}</defs>
<rect x="-16" y="-12" width="{room}" height="{tall}" rx="8" fill="{background}"/>
{backgrounds}<g class="{unique_id}-matrix">{matrix}</g>
</svg>
"""


class Made(NamedTuple):
    """A picture of the gallery: the command that makes what it shows, and the address if that is a page."""

    command: str
    address: str


def gallery() -> dict[str, Made]:
    """Return the pictures of the gallery by name."""
    pattern = r"```bash\n(isogloss [^`]*?)\n```\n(.*?)<picture>.*?pictures/([a-z-]+)-light\."
    found = re.findall(pattern, GALLERY.read_text(encoding="utf-8"), re.DOTALL)
    addresses = {name: re.search(r"index\.html(#/\w*)", text) for _, text, name in found}
    return {name: Made(line, at[1] if (at := addresses[name]) else "") for line, _, name in found}


def _photograph(made: Mapping[str, Made], folder: Path, env: Mapping[str, str]) -> None:
    """Write the pictures of pages in a browser."""
    from playwright.sync_api import sync_playwright

    program = shutil.which("chromium-headless-shell") or shutil.which("chromium") or shutil.which("chromium-browser")
    for command in {each.command for each in made.values()}:
        subprocess.run(["bash", "-c", command], cwd=folder, env=dict(env), check=True, stdout=subprocess.DEVNULL)
    with sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=program, args=["--no-sandbox"])
        for scheme in SCHEMES:
            for name, each in made.items():
                out = each.command.rpartition(" ")[2]
                tab: Any = browser.new_page(viewport={"width": _WIDTH, "height": 1000}, color_scheme=scheme)
                tab.goto((folder / out / "index.html").as_uri() + each.address)
                tab.wait_for_selector("html[data-ready]")
                tab.wait_for_timeout(200)  # parts that a page adds after its first rendering
                first, last = (tab.locator(part).first.bounding_box() for part in _SHOWN[name])
                top, bottom = first["y"] - _MARGIN, last["y"] + last["height"] + _MARGIN
                clip = {"x": 0, "y": top, "width": _WIDTH, "height": bottom - top}
                tab.screenshot(path=PICTURES / f"{name}-{scheme}.png", clip=clip)
                tab.close()
        browser.close()


def on_terminal(command: str, folder: Path, env: Mapping[str, str]) -> str:
    """Return what a command prints on a terminal, with its colours."""
    ours, theirs = os.openpty()
    process = subprocess.Popen(
        ["bash", "-c", command], cwd=folder, env=dict(env), stdout=theirs, stderr=subprocess.DEVNULL
    )
    os.close(theirs)
    printed = b"".join(_read_all(ours))
    if process.wait():
        raise RuntimeError(f"exit code {process.returncode}: {command}")
    return printed.decode().replace("\r\n", "\n")


def _read_all(terminal: int) -> Iterator[bytes]:
    while True:
        try:
            if not (piece := os.read(terminal, 65536)):
                return
        except OSError:  # Linux reports the end of a terminal as an error
            return
        yield piece


def drawing(command: str, printed: str, scheme: str) -> str:
    """Return an SVG drawing of a terminal with a command and its output."""
    from rich.console import Console
    from rich.terminal_theme import TerminalTheme
    from rich.text import Text

    front, back, colours = _COLOURS[scheme]
    rgb = [(int(each[:2], 16), int(each[2:4], 16), int(each[4:], 16)) for each in (back, front, *colours)]
    console = Console(record=True, width=_COLUMNS, file=io.StringIO())
    console.print(Text.assemble(("$ ", "green"), (command, "bold")))
    console.print(Text.from_ansi(printed.strip("\n")))
    height = 24.4 * len(console.export_text(clear=False).splitlines()) + 24
    layout = _SVG.replace("{background}", f"#{back}").replace("{tall}", f"{height:.0f}")
    layout = layout.replace("{room}", f"{12.2 * _COLUMNS + 32:.0f}")
    theme = TerminalTheme(rgb[0], rgb[1], rgb[2:], rgb[2:])
    return console.export_svg(theme=theme, code_format=layout, unique_id="t")


def _draw(made: Mapping[str, Made], folder: Path, env: Mapping[str, str]) -> None:
    """Write the pictures of a terminal, after the commands of the tutorial that come before."""
    commands = {each.command: name for name, each in made.items()}
    for block in blocks(ROOT / "docs" / "tutorial.md"):
        if not block.runs:
            continue
        if name := commands.get(block.code.strip()):
            terminal = {key: value for key, value in env.items() if key != "NO_COLOR"} | {"TERM": "xterm"}
            printed = on_terminal(block.code, folder, terminal | {"COLUMNS": str(_COLUMNS)})
            for scheme in SCHEMES:
                target = PICTURES / f"{name}-{scheme}.svg"
                target.write_text(drawing(block.code.strip(), printed, scheme), encoding="utf-8")
        else:
            run(block, folder, env)


def main() -> None:
    """Make all pictures, or those named."""
    wanted = {name: each for name, each in gallery().items() if name in (sys.argv[1:] or gallery())}
    PICTURES.mkdir(exist_ok=True)
    with tempfile.TemporaryDirectory() as folder:
        env = environment(Path(folder), Path(folder, ".cache"))
        if pages := {name: each for name, each in wanted.items() if each.address}:
            _photograph(pages, Path(folder), env)
        if outputs := {name: each for name, each in wanted.items() if not each.address}:
            _draw(outputs, Path(folder), env)


if __name__ == "__main__":
    main()
