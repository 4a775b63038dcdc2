"""Importers return answers or an error that names the file, for any content."""

import json
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from isogloss.errors import IsoglossError
from isogloss.predictions.importers import TOOLS, import_files

# Keys that importers look for, so that generated files resemble real ones.
WORDS = st.sampled_from(
    "doc_id doc filtered_resps filter target acc id idx label premise question de deu-eng eng-deu test validation "
    "mteb_model_meta sentence1-sentence2 corpus_id score predictions predicted_label predicted_answers text true_label "
    "user_defined_metadata_configs language task_name scores results configs eval_f1 xnli entailment Yes 0 1".split()
)
LEAVES = st.none() | st.booleans() | st.integers(-2, 3) | st.floats() | WORDS
VALUES = st.recursive(
    LEAVES, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(WORDS, inner, max_size=4), max_leaves=12
)
TASKS = ("xnli", "pawsx", "xcopa", "wikiann", "mlqa", "tatoeba", "lareqa", "bucc")


def attempt(tool: str, task: str, name: str, content: bytes) -> None:
    with TemporaryDirectory() as folder:
        path = Path(folder) / name
        path.write_bytes(content)
        try:
            found = import_files(tool, [path], task, "zh" if task == "xcopa" else "de")
        except IsoglossError as error:
            assert str(path) in str(error)
        else:
            assert len(found.ids) == len(found.values) == len(set(found.ids)) > 0


@pytest.mark.slow
@pytest.mark.parametrize("tool", ["auto", *TOOLS])
@settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(st.sampled_from(TASKS), st.sampled_from(["p.json", "p.jsonl", "p.txt"]), VALUES)
def test_any_json(tool: str, task: str, name: str, value: Any) -> None:
    attempt(tool, task, name, json.dumps(value).encode())


@pytest.mark.parametrize("tool", ["auto", *TOOLS])
@settings(max_examples=50, deadline=None)
@given(st.sampled_from(TASKS), st.sampled_from(["p.json", "p.jsonl", "p.txt", "p.npy", "p.json.xz"]), st.binary())
def test_any_bytes(tool: str, task: str, name: str, content: bytes) -> None:
    attempt(tool, task, name, content)


DIGITS = "9" * 5_000
SAMPLE = '{"doc_id": %s, "doc": {}, "filtered_resps": [[1], [2], [3]], "target": "%s", "acc": 1.0}'


@pytest.mark.parametrize("tool", ["auto", *TOOLS])
@pytest.mark.parametrize("task", TASKS)
@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("p.json", f'{{"a": {DIGITS}}}'),
        ("p.json", f'{{"q": {{"{DIGITS}": 1.0, "7": 1.0}}}}'),
        ("p.json", f'{{"de": {{"test": {{"q": {{"{DIGITS}": 1}}}}}}}}'),
        ("p.json", f'["{DIGITS}"]'),
        ("p.json", "[" * 100_000),
        ("p.jsonl", "[" * 100_000),
        ("p.jsonl", SAMPLE % (DIGITS, 0)),
        ("p.jsonl", SAMPLE % (DIGITS[:4000], 0)),
        ("p.jsonl", SAMPLE % (0, DIGITS)),
        ("p.txt", f"index\tprediction\n{DIGITS}\t0\n"),
        ("p.txt", f"index\tprediction\n0\tLABEL_{DIGITS}\n"),
        ("p.txt", f"index\tprediction\n0\t{DIGITS}\n"),
    ],
)
def test_long_numbers_and_deep_nesting(tool: str, task: str, name: str, content: str) -> None:
    attempt(tool, task, name, content.encode())
