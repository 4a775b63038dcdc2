"""A build from dumps of a made-up world in eleven languages, where the right answer is known exactly."""

import json
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

import isogloss
from building import made_dumps
from building.made_dumps import BINS, WIKIS, World, make_world
from isogloss.building.mewslix import MewslixSettings, build_mewslix
from isogloss.errors import DataError
from isogloss.workers import ProcessWorkers

ALL = MewslixSettings(description_languages=tuple(WIKIS), test=10_000, dev=0, pair_pages=1.0, candidates=10_000)
FILES = ("wikinews_mentions-test.jsonl", "candidate_set_entities.jsonl", "wikipedia_pairs-train.jsonl")


@pytest.fixture(scope="module")
def world(tmp_path_factory: pytest.TempPathFactory) -> World:
    return make_world(tmp_path_factory.mktemp("dumps"))


@pytest.fixture(scope="module")
def everything(world: World, tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("everything")
    build_mewslix([world.folder], out=out, settings=ALL)
    return out


def lines(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


def mentions_in(path: Path) -> Counter[tuple[str, str, str, str]]:
    return Counter(
        (record["context"]["language"], each["mention_span"]["text"], each["entity_id"], each["metadata"]["bin_name"])
        for record in lines(path)
        for each in record["mentions"]
    )


def test_exactly_the_viable_mentions_with_their_frequencies(world: World, everything: Path) -> None:
    assert mentions_in(everything / "mewslix" / FILES[0]) == world.mentions


def test_positions_are_exact(everything: Path) -> None:
    for record in lines(everything / "mewslix" / FILES[0]):
        text = record["context"]["text"]
        assert text.startswith("News <1> & more\n\n")
        for mention in record["mentions"]:
            span = mention["mention_span"]
            assert text[span["start"] : span["end"]] == span["text"]
        assert "caption" not in text
        assert "[[" not in text.replace("[[w:", "", 1)  # only what <nowiki> protects


def test_candidates_and_their_first_sentences(world: World, everything: Path) -> None:
    candidates = lines(everything / "mewslix" / FILES[1])
    assert {each["entity_id"] for each in candidates} == set(world.descriptions)
    assert len(candidates) == len(world.descriptions)
    for each in candidates:
        assert each["description"] == world.descriptions[each["entity_id"]][each["description_language"]]
        assert each["sentence_spans"] == [{"start": 0, "end": len(each["description"])}]
    # Each of three languages at random: 70 entities, so none is missing.
    assert len({each["description_language"] for each in candidates}) == len(WIKIS)


def test_pairs_are_outside_the_candidates(world: World, tmp_path: Path) -> None:
    assert not (tmp_path / "mewslix").exists()
    settings = MewslixSettings(description_languages=tuple(WIKIS), test=10_000, dev=0, pair_pages=1.0, candidates=1)
    build_mewslix([world.folder], out=tmp_path, settings=settings)
    pairs = lines(tmp_path / "mewslix" / FILES[2])
    assert Counter(
        (each["entity"]["entity_id"], each["contextual_mention"]["mention"]["mention_span"]["text"]) for each in pairs
    ) == world.pairs  # fmt: skip
    # All gold entities are candidates, also when they are more than the size.
    gold = {item for _, _, item, _ in world.mentions}
    assert {each["entity_id"] for each in lines(tmp_path / "mewslix" / FILES[1])} == gold


def test_all_entities_as_candidates_leave_no_pairs(everything: Path) -> None:
    assert not (everything / "mewslix" / FILES[2]).exists()


def test_datasheet(world: World, everything: Path) -> None:
    sheet = json.loads((everything / "mewslix/datasheet.json").read_text(encoding="utf-8"))
    assert sheet["splits"]["test"]["tr"] == dict(zip(BINS, (2, 1, 1, 1, 3), strict=True))
    assert sheet["vocabulary"]["base"] == 14 * 5 + 2
    assert sheet["vocabulary"]["bin04_1000-inf"] == 14
    table = sheet["languages"]["test"]
    assert sum(sum(row.values()) for row in table.values()) == sum(world.mentions.values())
    assert sheet["extraction"]["pl"]["repeated in the document"] == 1
    assert sheet["extraction"]["pl"]["years"] == 3 - 1  # 2015 and the year's page; 2014 is a red link
    dumps = {each["name"]: each for each in sheet["inputs"]}
    assert dumps["enwiki:enwiki-20200301-pages-articles-multistream.xml.bz2"]["date"] == "20200301"
    assert dumps["wikidata-20200302-all.json.bz2"]["counts"] == {"items": 77, "items left out by class": 4}
    text = (everything / "mewslix/datasheet.md").read_text(encoding="utf-8")
    assert "| total | 22 | 11 | 11 | 11 | 33 | 88 |" in text


def test_load_and_score(everything: Path) -> None:
    for code in ("ja", "en", "ta"):
        examples = isogloss.load("mewslix", code, "test", everything, allow_partial=True)
        assert len(examples) == 8
        assert examples.pool is not None
        assert len(examples.pool.ids) == 72
        assert examples["text"][0].startswith("zero: ")
        assert "{ zero }" in examples["text"][0]
    predictions = everything / "predictions" / "mewslix"
    predictions.mkdir(parents=True)
    ids, targets = examples.ids, examples["targets"]
    # The first half finds its entity at rank 1, the second at rank 2: mean average precision 0.75.
    other = next(name for name in examples.pool.ids if all([name] != target for target in targets))
    rankings = [[*target] if row < 4 else [other, *target] for row, target in enumerate(targets)]
    with (predictions / "ta.jsonl").open("w", encoding="utf-8") as stream:
        for name, ranking in zip(ids, rankings, strict=True):
            stream.write(json.dumps({"id": name, "prediction": ranking}) + "\n")
    result = isogloss.score(
        everything / "predictions", data=everything, tasks=["mewslix"], languages=["ta"], allow_partial=True
    )
    assert result.cells[0].metrics["map@20"].value == 75.0


def small(seed: int) -> MewslixSettings:
    return MewslixSettings(
        description_languages=tuple(WIKIS),
        test=44,
        dev=11,
        candidates=60,
        pairs=5,
        pair_pages=1.0,
        seed=seed,
        part_bytes=1500,
    )


def built(world: World, out: Path, seed: int = 0, **options: Any) -> dict[str, bytes]:
    result = build_mewslix([world.folder], out=out, settings=small(seed), **options)
    return {path.name: path.read_bytes() for path in result.files}


def test_sampled_splits_have_different_entities(world: World, tmp_path: Path) -> None:
    built(world, tmp_path)
    test, dev = (mentions_in(tmp_path / "mewslix" / f"wikinews_mentions-{name}.jsonl") for name in ("test", "dev"))
    assert sum(test.values()) == 44
    assert not {item for _, _, item, _ in test} & {item for _, _, item, _ in dev}
    # 55 strata for 44 mentions, so almost every stratum that has a test entity gives one.
    assert set(Counter((code, bin_name) for code, _, _, bin_name in test.elements()).values()) <= {1, 2}
    candidates = lines(tmp_path / "mewslix/candidate_set_entities.jsonl")
    assert len(candidates) == 60
    assert len({each["description"] for each in candidates}) == 60


def test_same_bytes_for_any_workers_and_another_seed_differs(world: World, tmp_path: Path) -> None:
    alone = built(world, tmp_path / "alone")
    with ProcessWorkers(2) as workers:
        assert built(world, tmp_path / "together", workers=workers) == alone
    other = built(world, tmp_path / "alone", seed=1)
    assert other["wikinews_mentions-test.jsonl"] != alone["wikinews_mentions-test.jsonl"]


def test_parts_of_any_size_give_the_same_files(world: World, everything: Path, tmp_path: Path) -> None:
    settings = MewslixSettings(
        description_languages=tuple(WIKIS), test=10_000, dev=0, pair_pages=1.0, candidates=10_000, part_bytes=1
    )
    build_mewslix([world.folder], out=tmp_path, settings=settings)
    assert len(list((tmp_path / "mewslix-work/parts").iterdir())) > 100
    for name in FILES[:2]:
        assert (tmp_path / "mewslix" / name).read_bytes() == (everything / "mewslix" / name).read_bytes()


def test_interrupted_build_resumes(world: World, tmp_path: Path) -> None:
    def interrupt(done: int, total: int) -> None:
        if done == 7:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        built(world, tmp_path, progress=interrupt)
    parts = tmp_path / "mewslix-work/parts"
    kept = {path.name: path.stat().st_ino for path in parts.iterdir()}
    assert len(kept) == 7
    seen = []
    resumed = built(world, tmp_path, progress=lambda done, total: seen.append(done))
    assert seen[0] == 7
    assert all(path.stat().st_ino == kept[path.name] for path in parts.iterdir() if path.name in kept)
    assert resumed == built(world, tmp_path / "fresh")


def test_results_inside_the_folder_of_dumps_are_not_read(tmp_path: Path) -> None:
    folder = make_world(tmp_path / "dumps").folder
    first = build_mewslix([folder], out=folder, settings=small(0))
    again = build_mewslix([folder], out=folder, settings=small(0))
    assert again.datasheet == first.datasheet
    assert {each.kind for each in again.datasheet.inputs} == {"pages", "entities"}


def test_two_forms_of_one_dump_are_refused(world: World, tmp_path: Path) -> None:
    content = (world.folder / "dewiki-20200301-pages-articles.xml.bz2").read_bytes()
    (tmp_path / "dewiki-20200301-pages-articles-multistream.xml.bz2").write_bytes(content)
    with pytest.raises(DataError, match="pages are in other dumps of the same wiki"):
        build_mewslix([world.folder, tmp_path], out=tmp_path / "out", settings=small(0))


def test_dumps_without_mentions_are_refused(world: World, tmp_path: Path) -> None:
    pages = world.folder / "frwiki-20200301-pages-articles.xml.gz"
    with pytest.raises(DataError, match="no mentions"):
        build_mewslix([pages, world.folder / "wikidata-20200302-all.json.bz2"], out=tmp_path)


def test_tables_add_what_other_dumps_lack(tmp_path: Path) -> None:
    folder = tmp_path / "dumps"
    folder.mkdir()
    head = made_dumps.header("enwiki")
    article = made_dumps.page("Known", 1, "Known is a page.")
    by_props = made_dumps.page('O\'Props ("x")', 2, "Props is another page.")
    by_language = made_dumps.page("Über", 3, "Über ist eine Seite.")
    made_dumps.write_pages(folder / "enwiki-latest-pages-articles.xml", [article, by_props], head)
    made_dumps.write_pages(folder / "dewiki-latest-pages-articles.xml", [by_language], head)
    text = '[[w:Known|k]], [[w:O\'Props ("x")|p]], [[w:de:Über|l]], [[w:Moved\\title|m]] are here.'
    made_dumps.write_pages(folder / "enwikinews-latest-pages-articles.xml", [made_dumps.page("N", 1, text)], head)
    items = b"\n".join([made_dumps.item(10, {"en": "Known"}), made_dumps.item(20, {"fr": "Autre"})])
    (folder / "items.ndjson").write_bytes(items)
    tables = {
        "enwiki page_props": (
            "pp_page pp_propname pp_value pp_sortkey",
            ["(2,'wikibase_item','Q20',NULL)", r"(1,'displaytitle','a\'),(2,\'wikibase_item\',\'Q10',NULL)"],
        ),
        "dewiki langlinks": ("ll_from ll_lang ll_title", ["(3,'en','Known')"]),
        "enwiki page": ("page_id page_namespace page_title page_len", [r"(9,0,'Moved\\title',1)"]),
        "enwiki redirect": (
            "rd_from rd_namespace rd_title rd_interwiki rd_fragment",
            [r"(9,0,'O\'Props_(\"x\")','','')", "(8,0,'Known','de','')"],
        ),
    }
    for name, (columns, rows) in tables.items():
        wiki, table = name.split()
        made_dumps.write_table(folder / f"{wiki}-latest-{table}.sql.gz", table, columns.split(), rows)
    settings = MewslixSettings(languages=("en",), description_languages=("en", "de"), dev=0, pairs=0)
    build_mewslix([folder], out=tmp_path / "out", settings=settings)
    surfaces = {(surface, item) for _, surface, item, _ in mentions_in(tmp_path / "out/mewslix" / FILES[0])}
    assert surfaces == {("k", "Q10"), ("p", "Q20"), ("l", "Q10"), ("m", "Q20")}
