"""Code blocks of documentation pages: run in order, in one folder, with what they print compared with what is shown.

- `bash` and `python` blocks run. A `text` block right after one is its output: `…` stands for any text within a line
  and, on a line of its own, for any lines.
- A block with `title="FILE"` is written to that file.
- `<!-- not run: REASON -->` before a block leaves it out; REASON starts with one of `NEEDS`.
- On pages of the reference, only blocks after `<!-- runs as written … -->` run.

python scripts/docs/page_blocks.py docs/tutorial.md FOLDER    prints every block and its output
"""

import os
import re
import subprocess
import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path

ROOT = Path(__file__).parents[2]
# Why a block may be left out: what it needs and a test does not have.
NEEDS = ("needs a GPU", "needs a network", "needs a model", "needs a server", "needs a cluster", "installs packages")
_BLOCK = re.compile(
    r'(?:<!-- (?P<mark>not run: [^>]*|runs as written[^>]*) -->\n+)?^```(?P<kind>\w+)(?: title="(?P<title>[^"]+)")?\n'
    r"(?P<code>.*?)^```$",
    re.DOTALL | re.MULTILINE,
)


@dataclass(frozen=True, kw_only=True)
class Block:
    """A code block: what it is, what is to happen with it, and the output shown for it."""

    kind: str
    title: str
    code: str
    runs: bool
    line: int
    reason: str = ""
    shown: str | None = None


def blocks(page: Path) -> list[Block]:
    """Return the code blocks of a page, with the outputs shown as parts of the blocks that print them."""
    text = page.read_text(encoding="utf-8")
    guide = page.parent.name in {"how-to", "explanation"} or page.name in GUIDES
    found: list[Block] = []
    end = 0
    for match in _BLOCK.finditer(text):
        mark, kind, code = match["mark"] or "", match["kind"], match["code"]
        if kind == "text" and found and found[-1].shown is None and not text[end : match.start()].strip():
            found[-1] = replace(found[-1], shown=code)
        else:
            reason = mark.removeprefix("not run: ") if mark.startswith("not run: ") else ""
            marked = mark.startswith("runs as written") or (guide and not reason)
            runs = marked and (kind in {"bash", "python"} or bool(match["title"]))
            line = text.count("\n", 0, match.start()) + 1
            found.append(Block(kind=kind, title=match["title"] or "", code=code, runs=runs, line=line, reason=reason))
        end = match.end()
    return found


# Pages outside how-to/ and explanation/ whose blocks all run.
GUIDES = {"index.md", "tutorial.md", "faq.md", "peers.md"}


def guides() -> list[Path]:
    """Return all pages whose blocks run unless a comment says why not."""
    docs = ROOT / "docs"
    named = [docs / name for name in sorted(GUIDES)]
    return named + sorted((docs / "how-to").glob("*.md")) + sorted((docs / "explanation").glob("*.md"))


def environment(folder: Path, cache: Path) -> dict[str, str]:
    """Return the environment of a reader without data, in whose shell `isogloss` is this source tree."""
    programs = folder / ".bin"
    programs.mkdir()
    for name, line in {
        "isogloss": f'exec "{sys.executable}" -m isogloss "$@"',
        "python": f'exec "{sys.executable}" "$@"',
    }.items():
        (programs / name).write_text(f"#!/bin/sh\n{line}\n", encoding="utf-8")
        (programs / name).chmod(0o755)
    kept = {name: value for name, value in os.environ.items() if not name.startswith("ISOGLOSS_")}
    paths = f"{ROOT / 'src'}{os.pathsep}{kept.get('PYTHONPATH', '')}".rstrip(os.pathsep)
    return kept | {
        "PATH": f"{programs}{os.pathsep}{kept['PATH']}",
        "PYTHONPATH": paths,
        "ISOGLOSS_CACHE": str(cache),
        "COLUMNS": "100",
        "NO_COLOR": "1",
    }


def run(block: Block, folder: Path, env: Mapping[str, str]) -> str:
    """Run a block, or write its file; return what it printed."""
    if block.title:
        target = folder / block.title
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(block.code, encoding="utf-8")
        return ""
    command = ["bash", "-euo", "pipefail", "-c"] if block.kind == "bash" else [sys.executable, "-c"]
    done = subprocess.run(
        [*command, block.code], cwd=folder, env=dict(env), capture_output=True, text=True, check=False, timeout=300
    )
    if done.returncode:
        raise AssertionError(
            f"line {block.line}: exit code {done.returncode}\n{block.code}\n{done.stdout}{done.stderr}"
        )
    return done.stdout


def differs(shown: str, printed: str) -> str:
    """Return the first shown line that was not printed where it should have been, or an empty text."""
    lines = [line.rstrip() for line in printed.splitlines()]
    at, anywhere = 0, True
    for line in (line.rstrip() for line in shown.splitlines()):
        if line.strip() == "…":
            anywhere = True
            continue
        pattern = re.compile(".*".join(map(re.escape, line.split("…"))))
        places = range(at, len(lines)) if anywhere else range(at, min(at + 1, len(lines)))
        place = next((place for place in places if pattern.fullmatch(lines[place])), None)
        if place is None:
            return line or "(an empty line)"
        at, anywhere = place + 1, False
    return ""


def outputs(page: Path, folder: Path, env: Mapping[str, str]) -> Iterator[tuple[Block, str]]:
    """Run the blocks of a page in order; yield each with what it printed."""
    for block in blocks(page):
        if block.runs:
            yield block, run(block, folder, env)


if __name__ == "__main__":
    where = Path(sys.argv[2]).resolve()
    where.mkdir(parents=True)
    for each, printed in outputs(Path(sys.argv[1]), where, environment(where, where.parent / "cache")):
        wrong = differs(each.shown or "", printed)
        print(f"--- line {each.line}\n{each.code}--- printed{f', but shown: {wrong}' if wrong else ''}\n{printed}")  # noqa: T201
