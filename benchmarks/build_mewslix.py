"""Throughput of `isogloss build mewslix` per core, against bz2 decompression alone, and an estimate for 50 Wikipedias.

Run it: `python benchmarks/build_mewslix.py [DUMP] [--megabytes N] [--repeats N]`. DUMP is a pages-articles .bz2 of
English Wikipedia; without one, a dump of N megabytes of random articles is written, the worst case: every link is new.
Each step is measured in one process by its CPU time. The steps take turns, so that other load affects all of them, and
the best of the repeats counts:

- floor: Python's bz2 over the file, which every reader of dumps pays;
- pages: the floor, and cutting out the pages;
- scan: what a build does with a Wikipedia: pages, links, redirects, first sentences;
- scan with documents: the same with the running text of every page, as for Wikinews and for training pairs;
- mwparserfromhell: running text of the same pages by a full parser, on a sample of them (if installed).

The estimate is for 50 Wikipedias of 85 GB packed, of which English has a quarter: a round figure from memory.
"""

import argparse
import bz2
import math
import random
import tempfile
import time
from collections import Counter
from collections.abc import Callable
from importlib.util import find_spec
from pathlib import Path

from isogloss.building.dumps import DumpStream, FilePart
from isogloss.building.inputs import DumpFile
from isogloss.building.pages import namespaces_of, pages_of
from isogloss.building.parts import ScanJob, ScanSettings
from isogloss.building.scan import scan_part
from isogloss.building.titles import LinkResolver, Wiki
from isogloss.building.wikitext import prose_of
from isogloss.data.files import stamp

GIGABYTES = 85
ENGLISH = Wiki("wikipedia", "en")


def made_up_pages(megabytes: float) -> list[str]:
    rng = random.Random(0)
    words = ["".join(rng.choices("etaoinshrdlu", k=rng.randint(2, 9))) for _ in range(20_000)]
    pages, size = [], 0
    while size < megabytes * 1e6:
        title = " ".join(rng.choices(words, k=2)).capitalize()
        paragraphs = []
        for _ in range(8):
            text = rng.choices(words, k=120)
            for place in rng.sample(range(120), 12):
                text[place] = f"[[{text[place]} {rng.choice(words)}|{text[place]}]]"
            paragraphs.append(" ".join(text).capitalize() + ".<ref>{{cite|a=b}}</ref>")
        body = f"{{{{Infobox|a=b}}}}\n{paragraphs[0]}\n\n== Section ==\n" + "\n\n".join(paragraphs[1:])
        escaped = body.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
        number = len(pages) + 1
        pages.append(
            f"<page><title>{title}</title><ns>0</ns><id>{number}</id><revision><id>{number}</id>"
            f"<text>{escaped}</text></revision></page>\n"
        )
        size += len(pages[-1])
    return pages


def best(steps: dict[str, Callable[[], object]], repeats: int) -> dict[str, float]:
    seconds = dict.fromkeys(steps, math.inf)
    for _ in range(repeats):
        for name, step in steps.items():
            start = time.process_time()
            step()
            seconds[name] = min(seconds[name], time.process_time() - start)
    return seconds


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("dump", nargs="?", type=Path)
    parser.add_argument("--megabytes", type=float, default=10)
    parser.add_argument("--repeats", type=int, default=3)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "enwiki-x-pages-articles-multistream.xml.bz2"
        if options.dump:
            path.write_bytes(options.dump.read_bytes())
        else:
            pages = "".join(made_up_pages(options.megabytes))
            path.write_bytes(bz2.compress(f"<mediawiki>{pages}</mediawiki>".encode()))
        measure(path, Path(folder), options.repeats)


def measure(path: Path, folder: Path, repeats: int) -> None:
    part = FilePart(path)
    size = sum(map(len, DumpStream(part, Counter())))
    packed = path.stat().st_size
    number = 0

    def scan(documents: float) -> None:
        nonlocal number
        number += 1
        settings = ScanSettings(links=True, descriptions=True, documents=documents)
        dump = DumpFile(path, "pages", ENGLISH)
        scan_part(
            ScanJob(dump=dump, part=part, stamp=stamp(path), settings=settings, folder=folder / f"parts-{number}")
        )

    steps: dict[str, Callable[[], object]] = {
        "floor": lambda: sum(map(len, DumpStream(part, Counter()))),
        "pages": lambda: sum(1 for _ in pages_of(DumpStream(part, Counter()))),
        "scan": lambda: scan(0.0),
        "scan with documents": lambda: scan(1.0),
    }
    seconds = best(steps, repeats)
    print(f"{packed / 1e6:.1f} MB packed, {size / 1e6:.1f} MB unpacked, one core\n")
    print("| step | MB/s packed | MB/s unpacked | times the floor |\n| --- | ---: | ---: | ---: |")
    for name, each in seconds.items():
        print(f"| {name} | {packed / each / 1e6:.2f} | {size / each / 1e6:.1f} | {each / seconds['floor']:.2f} |")
    columns = ["packed GB", "floor, core hours", "scan, core hours", "scan, hours on 32 cores"]
    print(f"\n| dumps | {' | '.join(columns)} |\n| --- |{' ---: |' * len(columns)}")
    floor, ours = (GIGABYTES * 1e9 * seconds[name] / packed / 3600 for name in ("floor", "scan"))
    print(f"| 50 Wikipedias | {GIGABYTES} | {floor:.1f} | {ours:.1f} | {ours / 32:.2f} |")
    compare_parser(part)


def compare_parser(part: FilePart) -> None:
    if find_spec("mwparserfromhell") is None:
        print("\nmwparserfromhell is not installed")
        return
    import mwparserfromhell

    pages = [each for _, each in zip(range(60), pages_of(DumpStream(part, Counter())), strict=False)]
    resolver = LinkResolver(ENGLISH, namespaces_of(part))
    steps: dict[str, Callable[[], object]] = {
        "ours": lambda: [prose_of(each.text, resolver, Counter()) for each in pages],
        "theirs": lambda: [mwparserfromhell.parse(each.text).strip_code() for each in pages],
    }
    seconds = best(steps, 2)
    print(f"\nrunning text of {len(pages)} pages: {seconds['ours']:.3f} s; mwparserfromhell: {seconds['theirs']:.3f} s")


if __name__ == "__main__":
    main()
