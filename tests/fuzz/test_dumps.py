"""Dumps of wikis: a build from damaged ones writes a dataset that loads, or fails with one clear error."""

import bz2
import gzip
from pathlib import Path

from building import made_dumps
from fuzz.campaign import Campaign, Case
from fuzz.mutators import spoil_bytes
from fuzz.oracle import FaultError, attempt, check_tidy, command
from isogloss.tasks.loading import load

PACKERS = {".bz2": (bz2.compress, bz2.decompress), ".gz": (gzip.compress, gzip.decompress)}


def write_dumps(folder: Path) -> None:
    folder.mkdir()
    articles = [
        made_dumps.page(f"Town {number}", number, f"'''Town {number}''' is a town. It has [[Town 1]].")
        for number in range(9)
    ]
    articles.append(made_dumps.page("Old", 20, "#REDIRECT [[Town 3]]", redirect="Town 3"))
    made_dumps.write_pages(folder / "enwiki-x-pages-articles.xml.bz2", articles, made_dumps.header("enwiki"), 3)
    text = "In [[w:Town 1|one]], {{w|Town 2}} and [[w:Old|three]] [[File:x.jpg|a [[w:Town 4|b]]]]. "
    text += "<ref>x</ref> {{t|[[y]]}}\n* z"
    news = [made_dumps.page(f"News {number}", number, text) for number in range(3)]
    made_dumps.write_pages(folder / "enwikinews-x-pages-articles.xml.bz2", news, made_dumps.header("enwikinews"), 1)
    items = b"\n".join(made_dumps.item(number + 1, {"en": f"Town {number}"}) for number in range(8))
    (folder / "all.json.gz").write_bytes(gzip.compress(items))
    rows = ["(8,'wikibase_item','Q9',NULL)", r"(7,'a\'b','c',NULL)"]
    columns = ["pp_page", "pp_propname", "pp_value", "pp_sortkey"]
    made_dumps.write_table(folder / "enwiki-x-page_props.sql.gz", "page_props", columns, rows)


def fuzz(case: Case) -> None:
    dumps, out = case.folder / "dumps", case.folder / "out"
    write_dumps(dumps)
    for path in case.rng.sample(sorted(dumps.iterdir()), case.rng.choice([1, 1, 2])):
        pack, unpack = PACKERS[path.suffix]
        content = path.read_bytes()
        if case.rng.random() < 0.7:
            content, done = spoil_bytes(case.rng, unpack(content))
            content = pack(content)
        else:
            content, done = spoil_bytes(case.rng, content)
        path.write_bytes(content)
        case.tell(f"{path.name}: {done}")
    sizes = ["--test", "5", "--dev", "3", "--candidates", "7", "--pair-pages", "1", "--part-size", "100B"]
    outcome = command("build", "mewslix", dumps, "-o", out, *sizes, "-l", "en", "--description-languages", "en")
    check_tidy(case.folder, set())
    if not outcome.refused and (out / "mewslix/wikinews_mentions-test.jsonl").exists():
        loaded = attempt(lambda: load("mewslix", "en", "test", out, allow_partial=True))
        if loaded.refused:
            raise FaultError("unreadable", loaded.text, "a build that does not load")
        examples = loaded.value
        if not all(target[0] in set(examples.pool.ids) for target in examples["targets"]):
            raise FaultError("candidates", "a gold entity is missing", "a build without its answers")
        attempt(lambda: [*examples["text"], *examples.pool.text])


def test_dumps(campaign: Campaign) -> None:
    campaign.run(fuzz, share=0.03)
