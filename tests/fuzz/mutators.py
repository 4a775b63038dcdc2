"""Corruptions of files by byte, line or JSON value; and rewrites that preserve the content."""

import copy
import csv
import gzip
import io
import json
import lzma
import random
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import zstandard

# A page that shows this unescaped has an injection fault.
MARKUP = "</script><script>fuzz()</script><img src=x onerror=fuzz()>"

STRINGS = (
    "",
    " ",
    "\x00",
    "\x1b[2J\x1b]0;fuzz\x07",
    "\x9b31m",
    "\u202eabc",
    "a\nb",
    "a\r\nb",
    "\t",
    "\ud800",
    "\ufeff",
    "\u2028",
    "e\u0301" * 50,
    "=cmd|' /C calc'!A0",
    "\\input{/etc/passwd}",
    "a\\",
    "%s{0}{x!r}",
    "[bold]x[/bold]",
    "[/]",
    "../../../fuzz",
    "/",
    ".",
    "NaN",
    "1e999",
    "null",
    "x" * 100_000,
    "😀" * 300,
    MARKUP,
)
# Placeholders for values that json.dumps cannot write.
_RAW = {
    "@deep@": "[" * 20_000 + "]" * 20_000,
    "@deep-object@": '{"a":' * 5_000 + "1" + "}" * 5_000,
    "@digits@": "9" * 5_000,
    "@exponent@": "1e400",
    "@minus-zero@": "-0.0",
    "@twice@": '{"id": "a", "id": "b"}',
}
VALUES: tuple[Any, ...] = (
    *STRINGS,
    *_RAW,
    None,
    True,
    False,
    0,
    -1,
    1,
    1.5,
    2**31,
    2**63,
    2**64,
    -(2**70),
    10**300,
    1e308,
    -1e-320,
    float("nan"),
    float("inf"),
    float("-inf"),
    [],
    {},
    [[]],
    [None],
    [0] * 2_000,
    {"": ""},
    {"a": {"b": {"c": []}}},
)
_BYTES = (
    b"\x00",
    b"\xff",
    b"\xff\xfe",
    b"\xef\xbb\xbf",
    b"\xed\xa0\x80",
    b"\xc3",
    b"\x1b[31m",
    b"\r",
    b"\n",
    b"\n\n\n",
    b"\t",
    b'"',
    b"\\",
    b"\\ud800",
    b"{",
    b"}",
    b"[" * 3_000,
    b"9" * 5_000,
    b"-",
    b"NaN",
    b"\x85",
    b"\xe2\x80\xa8",
    b" " * 1_000,
    b"a" * 70_000,
)
_ENCODINGS = ("utf-16", "utf-16-le", "utf-32", "latin-1", "cp037", "utf-7")

Bytes = Callable[[random.Random, bytes], bytes]


def _cut(rng: random.Random, content: bytes) -> tuple[int, int]:
    start = rng.randrange(len(content) + 1)
    return start, min(len(content), start + rng.choice((1, 2, 8, 100, 5_000)))


def _flip(rng: random.Random, content: bytes) -> bytes:
    changed = bytearray(content)
    for _ in range(rng.choice((1, 1, 2, 20))):
        if changed:
            changed[rng.randrange(len(changed))] ^= 1 << rng.randrange(8)
    return bytes(changed)


def _truncate(rng: random.Random, content: bytes) -> bytes:
    return content[: rng.randrange(len(content) + 1)]


def _remove(rng: random.Random, content: bytes) -> bytes:
    start, end = _cut(rng, content)
    return content[:start] + content[end:]


def _repeat(rng: random.Random, content: bytes) -> bytes:
    start, end = _cut(rng, content)
    return content[:end] + content[start:end] * rng.choice((1, 2, 50)) + content[end:]


def _insert(rng: random.Random, content: bytes) -> bytes:
    start = rng.choice((0, len(content), rng.randrange(len(content) + 1)))
    return content[:start] + rng.choice(_BYTES) + content[start:]


def _replace(rng: random.Random, content: bytes) -> bytes:
    start, end = _cut(rng, content)
    return content[:start] + rng.choice(_BYTES) + content[end:]


def _noise(rng: random.Random, content: bytes) -> bytes:
    return rng.randbytes(rng.choice((0, 1, 10, 1_000)))


def _encode(rng: random.Random, content: bytes) -> bytes:
    return content.decode("utf-8", "replace").encode(rng.choice(_ENCODINGS), "replace")


def _empty(rng: random.Random, content: bytes) -> bytes:
    return rng.choice((b"", b"\n", b"\x00" * 64, b"\xef\xbb\xbf", b"{}", b"[]", b"null", b"\n" * 5_000))


def _lines(change: Callable[[random.Random, list[bytes]], object]) -> Bytes:
    def mutated(rng: random.Random, content: bytes) -> bytes:
        lines = content.split(b"\n")
        change(rng, lines)
        return b"\n".join(lines)

    mutated.__name__ = change.__name__
    return mutated


def _drop_line(rng: random.Random, lines: list[bytes]) -> None:
    lines.pop(rng.randrange(len(lines)))


def _double_line(rng: random.Random, lines: list[bytes]) -> None:
    lines.insert(rng.randrange(len(lines) + 1), rng.choice(lines))


def _swap_cells(rng: random.Random, lines: list[bytes]) -> None:
    place = rng.randrange(len(lines))
    cells = lines[place].split(b"\t")
    rng.shuffle(cells)
    lines[place] = b"\t".join(cells)


def _more_cells(rng: random.Random, lines: list[bytes]) -> None:
    place = rng.randrange(len(lines))
    lines[place] = lines[place] + b"\t" + rng.choice((b"", b"x", *_BYTES))


def _hostile_line(rng: random.Random, lines: list[bytes]) -> None:
    lines[rng.randrange(len(lines))] = rng.choice(STRINGS).encode("utf-8", "surrogatepass")


_BYTE_MUTATORS: tuple[Bytes, ...] = (
    _flip,
    _truncate,
    _remove,
    _repeat,
    _insert,
    _insert,
    _replace,
    _noise,
    _encode,
    _empty,
    *map(_lines, (_drop_line, _double_line, _swap_cells, _more_cells, _hostile_line)),
)


def spoil_bytes(rng: random.Random, content: bytes) -> tuple[bytes, str]:
    """Corrupt bytes of the content; return it with a description."""
    names = []
    for _ in range(rng.choice((1, 1, 1, 2, 3))):
        mutator = rng.choice(_BYTE_MUTATORS)
        content = mutator(rng, content)
        names.append(mutator.__name__.strip("_"))
    return content, "+".join(names)


def spoil_json(rng: random.Random, value: Any, values: tuple[Any, ...] = VALUES) -> tuple[Any, str]:
    """Return a copy of a decoded JSON value with one to three changes, and their description."""
    changed = [copy.deepcopy(value)]
    names = []
    for _ in range(rng.choice((1, 1, 1, 2, 3))):
        holder, key = rng.choice(list(_places(changed)))
        names.append(f"{_change(rng, holder, key, values)} {key!r}")
    return changed[0], "+".join(names)


def _places(root: Any) -> list[tuple[Any, Any]]:
    found: list[tuple[Any, Any]] = []
    waiting = [root]
    while waiting:
        holder = waiting.pop()
        keys = range(len(holder)) if isinstance(holder, list) else list(holder)
        for key in keys:
            found.append((holder, key))
            if isinstance(holder[key], list | dict):
                waiting.append(holder[key])
    return found


def _change(rng: random.Random, holder: Any, key: Any, values: tuple[Any, ...]) -> str:
    kind = rng.choice(("replace", "replace", "replace", "remove", "wrap", "double", "rename", "nudge"))
    if kind == "remove" and not (isinstance(holder, list) and len(holder) == 1):
        del holder[key]
    elif kind == "wrap":
        holder[key] = rng.choice(([holder[key]], {"x": holder[key]}, str(holder[key])))
    elif kind == "double" and isinstance(holder, list):
        holder.insert(key, copy.deepcopy(holder[key]))
    elif kind == "rename" and isinstance(holder, dict):
        holder[rng.choice(STRINGS)] = holder.pop(key)
    elif kind == "nudge" and isinstance(holder[key], int | float):
        holder[key] = rng.choice((-holder[key], holder[key] + 1, holder[key] * 1_000_000))
    else:
        kind = "replace"
        holder[key] = copy.deepcopy(rng.choice(values))
        return f"{kind} by {str(holder[key])[:20]!r} at"
    return kind


def json_text(value: Any) -> bytes:
    """Encode a value as JSON or nearly so: NaN, long numbers, deep nesting, lone surrogates."""
    text = json.dumps(value, ensure_ascii=False)
    for name, raw in _RAW.items():
        text = text.replace(f'"{name}"', raw)
    return text.encode("utf-8", "surrogatepass")


def spoil_json_lines(rng: random.Random, content: bytes) -> tuple[bytes, str]:
    """Change one record of JSON lines."""
    lines = content.rstrip(b"\n").split(b"\n")
    place = rng.randrange(len(lines))
    value, name = spoil_json(rng, json.loads(lines[place]))
    lines[place] = json_text(value).replace(b"\n", b"")
    return b"\n".join(lines) + b"\n", f"line {place + 1}: {name}"


def spoil_csv(rng: random.Random, content: bytes) -> tuple[bytes, str]:
    """Change one to three cells of a table, possibly in its header."""
    rows = list(csv.reader(io.StringIO(content.decode())))
    done = []
    for _ in range(rng.randint(1, 3)):
        row = rng.randrange(len(rows))
        cell, value = rng.randrange(len(rows[row])), rng.choice(VALUES)
        rows[row][cell] = _RAW.get(value, value) if isinstance(value, str) else str(value)
        done.append(f"cell {row}, {cell} = {rows[row][cell][:40]!r}")
    text = io.StringIO()
    csv.writer(text, lineterminator="\n").writerows(rows)
    return text.getvalue().encode(errors="surrogatepass"), "; ".join(done)


def spoil(rng: random.Random, name: str, content: bytes) -> tuple[bytes, str]:
    """Corrupt a file: half the time within its structure, by its suffix, otherwise anywhere."""
    if rng.random() < 0.5 and content:
        if name.endswith(".jsonl"):
            return spoil_json_lines(rng, content)
        if name.endswith(".json"):
            value, done = spoil_json(rng, json.loads(content))
            return json_text(value), done
        if name.endswith(".csv"):
            return spoil_csv(rng, content)
    return spoil_bytes(rng, content)


PACKERS: dict[str, Callable[[bytes], bytes]] = {
    "": lambda content: content,
    ".gz": lambda content: gzip.compress(content, 1, mtime=0),
    ".xz": lambda content: lzma.compress(content, preset=0),
    ".zst": lambda content: zstandard.compress(content, 1),
}


def same_lines(rng: random.Random, content: bytes, *, ordered: bool) -> tuple[bytes, str]:
    """Rewrite lines with the same content: line ends, a byte-order mark, no final line end, another order."""
    lines = content.removesuffix(b"\n").split(b"\n")
    names = []
    if not ordered and rng.random() < 0.7:
        rng.shuffle(lines)
        names.append("shuffle")
    end = rng.choice((b"\n", b"\r\n"))
    mark = rng.choice((b"", b"\xef\xbb\xbf"))
    last = rng.choice((b"", end))
    names.append(f"{end!r} {mark!r} {last!r}")
    return mark + end.join(lines) + last, "+".join(names)


def same_json(rng: random.Random, content: bytes) -> tuple[bytes, str]:
    """Rewrite JSON lines with the same content: key order, extra keys, escapes, blanks, blank lines."""
    records = [json.loads(line) for line in content.split(b"\n") if line]
    for record in records:
        if rng.random() < 0.3:
            record["further"] = rng.choice((None, [1], {"a": "b"}, "x"))
    shuffled = [dict(rng.sample(list(record.items()), len(record))) for record in records]
    separators = rng.choice(((",", ":"), (" , ", " : ")))
    escaped = rng.random() < 0.5
    lines = [json.dumps(record, ensure_ascii=escaped, separators=separators).encode() for record in shuffled]
    blank = rng.random() < 0.2
    return (b"\n\n" if blank else b"\n").join(lines) + b"\n", f"rewritten {separators} {escaped=} {blank=}"


def clear(path: Path) -> None:
    """Remove a file, folder or link."""
    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path)
    else:
        path.unlink(missing_ok=True)
