"""`make bench` runs every `bench_NAME.py`: each must define the function it calls."""

import ast
from pathlib import Path

import pytest

BENCHMARKS = sorted((Path(__file__).parents[1] / "benchmarks").glob("bench_*.py"))


@pytest.mark.parametrize("path", BENCHMARKS, ids=lambda path: path.stem)
def test_benchmark_can_be_run(path: Path) -> None:
    tree = ast.parse(path.read_text(encoding="utf-8"))
    assert ast.get_docstring(tree)
    assert "run" in {node.name for node in tree.body if isinstance(node, ast.FunctionDef)}
