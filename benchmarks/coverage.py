"""Coverage of the intervals and false alarms of the tests, on synthetic answers.

Run it: `python benchmarks/coverage.py [--quick] [--out FILE] [--before FILE] [--part NAME …] [--data FOLDER]`. It
prints Markdown tables and writes the same figures as JSON; given the JSON of an earlier run it shows both, before →
after. The same seed gives the same data sets. The simulators are `coverage_simulator.py`, the cases
`coverage_cases.py`, and all calls of the package are in `coverage_package.py`; with --data, `coverage_real.py` adds
the design effect of articles on real answers.
"""

import argparse
import json
import sys
import zlib
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from time import process_time
from typing import Any

import numpy as np
from coverage_cases import PARTS, Case
from coverage_extremes import extremes
from coverage_real import design_effects

Line = dict[str, Any]
# Data sets per case by the number of examples; each case is one figure of a table.
SETS = {20: 1000, 50: 1000, 80: 1000, 200: 1000, 1000: 500, 5000: 300}
HEAVY_SETS = {20: 1000, 50: 1000, 200: 400, 1000: 300, 5000: 300}
# Numbers of languages, not of examples.
OTHER_SETS = 1000
QUICK_SETS = 5


def lines_of(case: Case, sets: int, seed: int) -> list[Line]:
    """Return the shares of a case, one line per count."""
    counted: dict[str, list[float | None]] = defaultdict(list)
    start = process_time()
    for place in range(sets):
        rng = np.random.default_rng([seed, zlib.crc32(case.name.encode()), place])
        for what, answers in case.simulate(rng).items():
            counted[what] += answers
    seconds = process_time() - start
    return [_line(case, what, answers, sets, seconds) for what, answers in counted.items()]


def _line(case: Case, what: str, answers: Sequence[float | None], sets: int, seconds: float) -> Line:
    values = [answer for answer in answers if answer is not None]
    return {
        "counted": what,
        "figure": case.what,
        "level": case.level,
        "clusters": case.clusters,
        "n": case.n,
        "share": float(np.mean(values)) if values else None,
        "silent": 1 - len(values) / len(answers),
        "answers": len(answers),
        "sets": sets,
        "seconds": round(seconds, 2),
    }


def tables(lines: Iterable[Line], before: Iterable[Line] = ()) -> str:
    """Return a Markdown table per count, with one column per number of examples."""
    earlier = {_key(line): line for line in before}
    by_counted: dict[str, list[Line]] = defaultdict(list)
    for line in lines:
        by_counted[line["counted"]].append(line)
    parts = []
    for counted, group in by_counted.items():
        columns = sorted({line["n"] for line in group})
        heading = ["figure", "true", "clusters", *(f"n = {n:,}" for n in columns)]
        rows: dict[tuple[str, ...], dict[int, str]] = defaultdict(dict)
        for line in group:
            place = (line["figure"], line["level"], line["clusters"])
            rows[place][line["n"]] = _shown(line, earlier.get(_key(line)))
        body = [[*place, *(cells.get(n, "") for n in columns)] for place, cells in rows.items()]
        parts.append(f"### {counted[0].upper()}{counted[1:]}\n\n{markdown(heading, body, left=3)}")
    return "\n\n".join(parts)


def _key(line: Line) -> tuple[Any, ...]:
    return tuple(line[name] for name in ("counted", "figure", "level", "clusters", "n"))


def _shown(line: Line, before: Line | None) -> str:
    return _share(line) if before is None else f"{_share(before)} → {_share(line)}"


def _share(line: Line) -> str:
    """Format a percentage, with the share without an interval in brackets."""
    share = "–" if line["share"] is None else f"{100 * line['share']:.1f}"
    return f"{share} (none: {100 * line['silent']:.0f})" if line["silent"] > 0.005 and share != "–" else share


def markdown(heading: Sequence[str], rows: Iterable[Sequence[str]], left: int = 1) -> str:
    """Return a Markdown table."""
    rule = ["---" if place < left else "---:" for place in range(len(heading))]
    return "\n".join(f"| {' | '.join(cells)} |" for cells in [heading, rule, *rows])


def text_table(rows: Sequence[dict[str, str]], before: Sequence[dict[str, str]] = ()) -> str:
    """Return rows of text as a Markdown table; differing entries of an earlier run precede an arrow."""
    earlier = {next(iter(row.values())): row for row in before}
    shown = []
    for row in rows:
        old = earlier.get(next(iter(row.values())), {})
        shown.append([f"{old[name]} → {text}" if old.get(name, text) != text else text for name, text in row.items()])
    return markdown(list(rows[0]), shown)


def saved(path: Path | None) -> dict[str, Any]:
    """Return the report of an earlier run, or an empty one."""
    return json.loads(path.read_text(encoding="utf-8")) if path and path.is_file() else {"lines": []}


def save(path: Path, report: dict[str, Any]) -> None:
    """Write the report."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(report, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")


def arguments() -> argparse.Namespace:
    """Parse the command line."""
    parser = argparse.ArgumentParser(description="Measure the coverage of intervals and the level of tests.")
    parser.add_argument("--quick", action="store_true", help=f"{QUICK_SETS} data sets per case, at most 200 examples")
    parser.add_argument("--part", action="append", choices=PARTS, help="only this part; others in --out stay unchanged")
    parser.add_argument("--out", type=Path, default=Path("out/coverage.json"), help="JSON output")
    parser.add_argument("--before", type=Path, help="JSON of an earlier run to compare with")
    parser.add_argument("--data", type=Path, help="data folder with real answers to XQuAD")
    parser.add_argument("--seed", type=int, default=0)
    return parser.parse_args()


def _measured(part: str, options: argparse.Namespace) -> Iterator[Line]:
    """Return the lines of a part, reporting its cases as they finish."""
    for case in PARTS[part]():
        if options.quick and case.n > 200:
            continue
        usual = (HEAVY_SETS if case.heavy else SETS).get(case.n, OTHER_SETS)
        sets = QUICK_SETS if options.quick else case.sets or usual
        for line in lines_of(case, sets, options.seed):
            yield {"part": part, **line}
        print(f"{process_time():6.0f} s  {part}: {case.name}", file=sys.stderr, flush=True)


def main() -> int:
    options = arguments()
    before = saved(options.before)
    kept = saved(options.out)["lines"] if options.part else []
    by_part = {part: [line for line in kept if line.get("part") == part] for part in PARTS}
    articles = design_effects(options.data) if options.data else []
    report: dict[str, Any] = {"lines": kept, "extremes": extremes(), "articles": articles}
    for part in options.part or PARTS:
        by_part[part] = list(_measured(part, options))
        report["lines"] = [line for lines in by_part.values() for line in lines]
        save(options.out, report)
    print(tables(report["lines"], before["lines"]))
    print(f"\n### The ends of the scale\n\n{text_table(report['extremes'], before.get('extremes', ()))}")
    if report["articles"]:
        print(f"\n### Design effect of articles on real answers\n\n{text_table(report['articles'])}")
    print(f"\n{process_time():.0f} s of CPU")
    return 0


if __name__ == "__main__":
    sys.exit(main())
