"""Prose in the package, its documentation and its pages avoids the patterns that CONTRIBUTING's style page lists."""

import ast
import io
import re
import tokenize
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
DOCUMENTS = [*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md"), *(ROOT / "benchmarks").glob("*.md")]
SOURCES = sorted((ROOT / "src").rglob("*.py"))
PAGES = sorted(path for kind in ("js", "html", "css") for path in (ROOT / "src").rglob(f"*.{kind}"))
TESTS = sorted((ROOT / "tests").rglob("*.py"))

COUNTED = "line|row|text|number|language|cell|task|example|file|question|query|case|word|token|system"
# Each with what to write instead.
PATTERNS = {
    r"\b[Nn]obody\b|\bno ?one else\b": "name the subject, or use the passive",
    r"\b[Ww]hoever\b|\b[Ww]hosoever\b": "name the subject: the lock's owner, the caller, users",
    r"\b[Ww]hose\b": "the token's owner; a file with …",
    r"(?<![Tt]here )\b(?:is|are|was|were) no (?!longer\b|(?:more|less|fewer) than\b)[a-z]+": "is not a …; incomplete …",
    r"\b(?:that|which) (?:is|are) none\b": "invalid …; missing …",
    rf"\bone \w+ an? (?:{COUNTED})\b": "one … per …",
    r"\b(?:told|asked|said) of\b": "say what is reported",
    r"\bfor want of\b|\blest\b|\bthereof\b|\bupon\b|\bbe it\b": "use everyday words",
}
OPENING = re.compile(r"(?:What|Whether|Which|Where|How|Who|Whose|That)\b")
# Variables named after a verb or a preposition instead of what they hold.
NAMES = {"found", "of", "told", "asked", "said"}


def prose(path: Path) -> Iterator[tuple[int, str]]:
    """Yield the comments and strings of a module with their line numbers."""
    for token in tokenize.generate_tokens(io.StringIO(path.read_text(encoding="utf-8")).readline):
        if token.type in (tokenize.COMMENT, tokenize.STRING):
            yield token.start[0], token.string


def faults(path: Path, pieces: Iterator[tuple[int, str]]) -> Iterator[str]:
    for line, text in pieces:
        for pattern, advice in PATTERNS.items():
            for match in re.finditer(pattern, " ".join(text.split())):
                yield f"{path.relative_to(ROOT)}:{line}: {match[0]!r} ({advice})"


def test_strings_and_comments() -> None:
    assert [fault for path in SOURCES for fault in faults(path, prose(path))] == []


def test_pages() -> None:
    pieces = {path: enumerate(path.read_text(encoding="utf-8").splitlines(), 1) for path in PAGES}
    assert [fault for path, lines in pieces.items() for fault in faults(path, lines)] == []


@pytest.mark.parametrize("path", DOCUMENTS, ids=lambda path: path.name)
def test_documents(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    if path.name == "CONTRIBUTING.md":  # its style page quotes what to avoid
        text = re.sub(r"## Style\n.*?(?=\n## )", "", text, flags=re.DOTALL)
    paragraphs, line = [], 1
    for paragraph in text.split("\n\n"):
        paragraphs.append((line, paragraph))
        line += paragraph.count("\n") + 2
    assert list(faults(path, iter(paragraphs))) == []


def test_docstrings_open_with_an_imperative_or_a_noun() -> None:
    openings = [
        f"{path.relative_to(ROOT)}:{node.body[0].lineno}: {text.splitlines()[0]}"
        for path in SOURCES
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef)
        and (text := ast.get_docstring(node))
        and OPENING.match(text)
    ]
    assert openings == []


def test_variables_are_named_after_what_they_hold() -> None:
    names = [
        f"{path.relative_to(ROOT)}:{node.lineno}: {name}"
        for path in SOURCES
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if (name := node.arg if isinstance(node, ast.arg) else getattr(node, "id", "")) in NAMES
        and (isinstance(node, ast.arg) or isinstance(node.ctx, ast.Store))  # type: ignore[attr-defined]
    ]
    assert names == []


def test_test_names() -> None:
    pattern = re.compile(
        r"def (test_\w*(?:nobody|whoever|whose|that_is_none|that_are_none|_is_no_(?!longer)|_are_no_)\w*)"
    )
    names = [match for path in TESTS for match in pattern.findall(path.read_text(encoding="utf-8"))]
    assert names == []
