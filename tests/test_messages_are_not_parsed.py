"""Failures are told apart by type, code and fields; no module of ours parses a message of ours."""

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

SOURCE = Path(__file__).parents[1] / "src/isogloss"

# Attributes of errors, problems, cells and examples that hold sentences.
TEXTS = {"what", "where", "fix", "notes", "reason", "detail", "advice"}
STRING_TESTS = {
    "startswith",
    "endswith",
    "removeprefix",
    "removesuffix",
    "partition",
    "split",
    "find",
    "index",
    "count",
    "replace",
}
PATTERN_TESTS = {"match", "search", "fullmatch", "findall", "finditer", "sub"}

# Messages of other libraries, which have no codes; and the notes of scores.csv, which are part of the file format.
ALLOWED = {
    ("decoding.py", "'integer string conversion' in reason"),
    ("runs/ray_workers.py", "str(error).strip().partition"),
    ("runs/slurm_workers.py", "line.removeprefix"),
    ("runs/slurm_workers.py", "line.removeprefix('sbatch: ').removeprefix"),
    ("scoring/results.py", "note.partition"),
    ("systems/pretrained.py", "str(error).strip().split"),
    ("systems/pretrained.py", "'trust_remote_code' not in str(error)"),
    ("training/errors.py", "'DefaultCPUAllocator' in str(error)"),
    ("training/train_step.py", "str(error).split"),
    ("workers.py", "'pickle' in str(error)"),
}


def is_message(node: ast.expr) -> bool:
    """Return True for `x.what`, `x.notes`, `str(error)`, and a method call on one of these."""
    if isinstance(node, ast.Attribute):
        return node.attr in TEXTS
    if isinstance(node, ast.Call):
        if isinstance(node.func, ast.Name) and node.func.id == "str" and node.args:
            argument = node.args[0]
            return isinstance(argument, ast.Name) and "err" in argument.id
        return isinstance(node.func, ast.Attribute) and is_message(node.func.value)
    return False


def message_names(tree: ast.AST) -> set[str]:
    """Return the names that are assigned from messages or loop over notes."""
    names = {"note", "reason"}
    for node in ast.walk(tree):
        if isinstance(node, ast.Assign) and is_message(node.value):
            names |= {target.id for target in node.targets if isinstance(target, ast.Name)}
        if (
            isinstance(node, ast.For | ast.comprehension)
            and is_message(node.iter)
            and isinstance(node.target, ast.Name)
        ):
            names.add(node.target.id)
    return names


def parsed_messages(code: str) -> Iterator[str]:
    """Yield the expressions that look into a message."""
    tree = ast.parse(code)
    names = message_names(tree)

    def reads(node: ast.expr) -> bool:
        return is_message(node) or (isinstance(node, ast.Name) and node.id in names)

    for node in ast.walk(tree):
        if isinstance(node, ast.Compare) and any(isinstance(op, ast.In | ast.NotIn) for op in node.ops):
            if any(map(reads, node.comparators)):
                yield ast.unparse(node)
        elif isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
            on_text = node.func.attr in STRING_TESTS and reads(node.func.value)
            by_pattern = node.func.attr in PATTERN_TESTS and any(map(reads, node.args))
            if on_text or by_pattern:
                yield ast.unparse(node.func if on_text else node)


@pytest.mark.parametrize(
    "code",
    [
        "problem.what.startswith('no answer')",
        "error.where.split(' (')[0]",
        "'label' in str(error)",
        "UNREVIEWED in cell.notes",
        "re.match('[0-9]+ of', problem.what)",
        "[note for note in cell.notes if note.startswith('partial')]",
        "text = error.what\nif text.endswith('missing'): pass",
        "str(error).lower().startswith('no')",
    ],
)
def test_parsing_is_recognised(code: str) -> None:
    assert list(parsed_messages(code))


def test_ordinary_code_passes() -> None:
    code = "query.where(x).match(y)\nif problem.code is Code.UNANSWERED: show(problem.what)\nname in names"
    assert list(parsed_messages(code)) == []


def test_no_module_parses_our_messages() -> None:
    found = {
        (str(path.relative_to(SOURCE)), expression)
        for path in sorted(SOURCE.rglob("*.py"))
        for expression in parsed_messages(path.read_text(encoding="utf-8"))
    }
    assert sorted(found - ALLOWED) == []
