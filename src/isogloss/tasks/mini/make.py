"""Build the suite once: every file of every task, in a folder of the user's cache."""

import hashlib
import json
import random
import tempfile
from collections.abc import Iterable
from functools import cache
from importlib.resources import files
from pathlib import Path

from isogloss.data.location import cache_dir
from isogloss.grammar.file import CODES
from isogloss.tasks.mini import LAREQA, MEWSLIX, POOL, SIZES, TEST
from isogloss.tasks.mini import sentences as made
from isogloss.tasks.readers.split_files import corpus_iso3
from isogloss.version import __version__


def folder() -> Path:
    """Return the suite's data folder, built on first use and moved into place when complete."""
    return _built(cache_dir())


@cache
def _built(home: Path) -> Path:
    target = home / f"mini-{_edition()}"
    if not target.is_dir():
        home.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=home, prefix=".mini-") as scratch:
            make(Path(scratch) / "mini")
            try:
                (Path(scratch) / "mini").rename(target)
            except OSError:
                if not target.is_dir():  # otherwise another process built the same folder first
                    raise
    return target


@cache
def _edition() -> str:
    """Return a name derived from the suite's content, so that changed language files give a new suite."""
    digest = hashlib.sha256(__version__.encode())
    for package in ("isogloss.grammar", "isogloss.tasks.mini"):
        home = Path(str(files(package)))
        for path in sorted((*home.rglob("*.toml"), *home.rglob("*.py"))):
            digest.update(path.read_bytes())
    return digest.hexdigest()[:12]


def make(root: Path) -> None:
    """Write all tasks."""
    for split, languages in (("test", CODES), ("dev", ("en",)), ("train", ("en",))):
        for code in languages:
            for name in ("xquad", "mlqa", "tydiqa"):
                _lines(root / f"{name}/{split}.{code}.json", [_dump(made.squad(name, code, split, SIZES[split]))])
            _lines(root / f"xnli/{split}-{code}.tsv", made.inference(code, split, SIZES[split]))
            _lines(root / f"wikiann/{split}-{code}.tsv", made.named(code, split, SIZES[split]))
            if code in made.pos_languages():
                _lines(root / f"udpos/{split}-{code}.tsv", made.tagged(code, split, SIZES[split]))
    for code in CODES:
        if code != "en":
            iso3 = corpus_iso3(code)
            english, other = made.bitext(code, TEST)
            _lines(root / f"tatoeba/tatoeba.{iso3}-eng.eng", english)
            _lines(root / f"tatoeba/tatoeba.{iso3}-eng.{iso3}", other)
    for code in LAREQA:
        content = made.squad("xquad", code, "test", TEST, sentence_breaks=True)
        _lines(root / f"lareqa/xquad-r/{code}.json", [_dump(content)])
    _choices(root / "xcopa/data")
    make_mewslix(root / "mewslix", POOL)


def make_mewslix(root: Path, pool: int, mentions: int = TEST) -> None:
    """Write mentions in some languages over a pool of entity descriptions in randomly drawn languages."""
    _lines(root / "candidate_set_entities.jsonl", map(_dump, made.entities(pool)))
    rows = (row for code in MEWSLIX for row in made.mentions(code, pool, mentions))
    _lines(root / "wikinews_mentions-test.jsonl", map(_dump, rows))


def _choices(root: Path) -> None:
    for code in made.choice_languages():
        items = made.causes_and_effects(code)
        rows = (_dump({**item, "idx": number}) for number, item in enumerate(items[:TEST]))
        _lines(root / code / f"test.{code}.jsonl", rows)
    pairs = list(made.effects())
    for split, name in (("train", "train"), ("dev", "val")):
        rng = random.Random(f"mini/xcopa/{split}")  # noqa: S311 - reproducible, not secret
        _lines(root / "en" / f"{name}.en.jsonl", made.plausible_pairs(pairs, SIZES[split], rng))


def _dump(row: object) -> str:
    return json.dumps(row, ensure_ascii=False)


def _lines(path: Path, lines: Iterable[str]) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("w", encoding="utf-8", newline="\n") as stream:
        stream.writelines(f"{line}\n" for line in lines)
