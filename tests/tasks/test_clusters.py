"""Which examples are drawn together: those made from one source, under one name wherever that source is."""

import json
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

import isogloss
from isogloss.data import squad
from isogloss.predictions.gold import gold_examples
from isogloss.tasks.examples import Examples
from isogloss.tasks.registry import TASKS, task


def write(path: Path, *lines: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")


def read(name: str, language: str, data: Path, split: str = "test") -> Examples:
    return isogloss.load(name, language, split, data=data, allow_partial=True)


def article(title: str | None, *paragraphs: Sequence[str]) -> dict[str, Any]:
    """Each paragraph by the ids of its questions, which are asked about the first letter."""
    made = [
        {
            "context": f"a paragraph about {ids[0]}.",
            "sentence_breaks": [[0, 10], [11, 30]],
            "qas": [{"id": key, "question": "?", "answers": [{"text": "a", "answer_start": 0}]} for key in ids],
        }
        for ids in paragraphs
    ]
    return {"paragraphs": made} if title is None else {"title": title, "paragraphs": made}


TWO_ARTICLES = [article("Rain", ["q0", "q1"], ["q2"]), article("Wind", ["q3"])]
SAME_ARTICLE = [[0, 1, 2], [3]]


def groups(examples: Examples) -> list[list[int]]:
    """The rows of each cluster, whatever its name."""
    assert examples.clusters is not None
    rows: dict[str, list[int]] = {}
    for row, name in enumerate(examples.clusters):
        rows.setdefault(name, []).append(row)
    return list(rows.values())


@pytest.mark.parametrize(
    ("name", "split", "file"),
    [
        ("xquad", "test", "xquad/xquad.{}.json"),
        ("mlqa", "dev", "mlqa/dev/dev-context-{0}-question-{0}.json"),
        ("tydiqa", "test", "tydiqa/tydiqa-goldp-v1.1-dev/tydiqa.{}.dev.json"),
    ],
)
def test_questions_share_an_article(tmp_path: Path, name: str, split: str, file: str) -> None:
    for language in ("en", "ar"):
        write(tmp_path / file.format(language), json.dumps({"data": TWO_ARTICLES}))
    english, arabic = (read(name, language, tmp_path, split) for language in ("en", "ar"))
    assert groups(english) == groups(arabic) == SAME_ARTICLE
    assert english.clusters is not None
    assert arabic.clusters is not None
    # Only XQuAD's titles are the same article in every language.
    assert (english.clusters == arabic.clusters) == (name == "xquad")
    assert bool(set(english.clusters) & set(arabic.clusters)) == (name == "xquad")
    assert english.keep([3, 1]).clusters == [english.clusters[3], english.clusters[1]]


def test_one_file_of_all_languages(tmp_path: Path) -> None:
    articles = [
        article("Sade", ["finnish-1", "finnish-2"]),
        article("Tuuli", ["finnish-3"]),
        article("Rain", ["english-1"]),
    ]
    write(tmp_path / "tydiqa/tydiqa-goldp-v1.1-dev.json", json.dumps(articles))
    assert groups(read("tydiqa", "fi", tmp_path)) == [[0, 1], [2]]
    assert read("tydiqa", "en", tmp_path).clusters is None


def test_without_titles_a_paragraph_is_what_questions_share() -> None:
    files = [article(None, ["a"]), article(None, ["b"]), article(None, ["a"], ["c", "d"])]
    assert squad.article_names(squad.parse(json.dumps(files).encode(), "here")) == ["0", "1", "0", "2", "2"]


def test_label_folder_knows_the_articles_too(tmp_path: Path) -> None:
    write(tmp_path / "xquad/test-en.json", json.dumps({"data": TWO_ARTICLES}))
    write(tmp_path / "mlqa/test-de.json", json.dumps({"data": TWO_ARTICLES}))
    write(tmp_path / "xnli/test-en.tsv", "neutral", "entailment")
    found = {
        name: gold_examples(task(name), code, "test", tmp_path) for name, code in (("xquad", "en"), ("mlqa", "de"))
    }
    assert found["xquad"] is not None
    assert found["xquad"].clusters == ["Rain", "Rain", "Rain", "Wind"]
    assert found["mlqa"] is not None
    assert found["mlqa"].clusters == ["de:0", "de:0", "de:0", "de:3"]
    labels = gold_examples(task("xnli"), "en", "test", tmp_path)
    assert labels is not None
    assert labels.clusters is None


def test_lareqa_names_articles_as_xquad_does(tmp_path: Path) -> None:
    for language in task("lareqa").languages:
        write(tmp_path / f"lareqa/xquad-r/{language}.json", json.dumps({"data": TWO_ARTICLES}))
    write(tmp_path / "xquad/xquad.de.json", json.dumps({"data": TWO_ARTICLES}))
    lareqa = isogloss.load(replace(task("lareqa"), counts={}), "de", data=tmp_path)
    xquad = read("xquad", "de", tmp_path)
    assert (lareqa.units, lareqa.clusters) == (xquad.units, xquad.clusters)


def test_hypotheses_share_a_premise(tmp_path: Path) -> None:
    rows = ["it rains\twet", "it rains\tdry", "it rains\tlate", "it snows\twet", "it rains\tcold"]
    write(tmp_path / "xnli/dev-en.tsv", *(f"{row}\tneutral" for row in rows))
    write(tmp_path / "xnli/train-en.tsv", *(f"{row}\tneutral" for row in rows))
    # Rows of a premise follow each other; one that comes back later is another example of the dataset's.
    assert read("xnli", "en", tmp_path, "dev").clusters == ["dev-0", "dev-0", "dev-0", "dev-3", "dev-4"]
    assert read("xnli", "en", tmp_path, "train").clusters is None


def test_pairs_share_a_sentence(tmp_path: Path) -> None:
    rows = ["a\tb\t1", "c\td\t0", "d\te\t1", "f\ta\t0", "e\tb\t1", "NS\tg\t0", "h\tNS\t0"]
    write(tmp_path / "pawsx/dev-en.tsv", *rows)
    assert groups(read("pawsx", "en", tmp_path, "dev")) == [[0, 1, 2, 3, 4], [5], [6]]
    write(tmp_path / "pawsx/dev-de.tsv", "a\tb\t1", "c\td\t1")
    assert read("pawsx", "de", tmp_path, "dev").clusters is None


def test_translations_share_the_english_sentence(tmp_path: Path) -> None:
    for iso3, english in (("deu", ["Hello.", "Rain."]), ("fra", ["Rain.", "Wind."])):
        write(tmp_path / f"tatoeba/tatoeba.{iso3}-eng.eng", *english)
        write(tmp_path / f"tatoeba/tatoeba.{iso3}-eng.{iso3}", "eins", "deux")
    german, french = read("tatoeba", "de", tmp_path).clusters, read("tatoeba", "fr", tmp_path).clusters
    assert german is not None
    assert french is not None
    assert german[1] == french[0]
    assert len({*german, *french}) == 3


def sentence(*words: str, **comments: str) -> list[str]:
    rows = (f"{n}\t{word}\t_\tNOUN\t_\t_\t0\troot\t_\t_" for n, word in enumerate(words, 1))
    return [*(f"# {key} = {value}" for key, value in comments.items()), *rows, ""]


def test_treebanks_share_translated_sentences(tmp_path: Path) -> None:
    home = tmp_path / "udpos/conllu"
    write(home / "de_gsd-ud-test.conllu", *sentence("Regen", sent_id="s1"), *sentence("Wind", sent_id="s2"))
    write(home / "de_pud-ud-test.conllu", *sentence("Nebel", newdoc_id="n01001", sent_id="n01001011"))
    # Polish PUD numbers its sentences anew.
    write(home / "pl_pud-ud-test.conllu", *sentence("mgła", sent_id="s1", orig_file_sentence="n01001011#1"))
    write(home / "it_partut-ud-test.conllu", *sentence("vento", sent_id="it_partut-ud-9"))
    write(home / "fr_partut-ud-test.conllu", *sentence("vent", sent_id="fr_partut-ud-9"))
    write(home / "af_afribooms-ud-test.conllu", *sentence("reën", sent_id="n01001011"))
    assert read("udpos", "de", tmp_path).clusters == ["de:0", "de:1", "n01001011"]
    assert read("udpos", "pl", tmp_path).clusters == ["n01001011"]
    assert read("udpos", "it", tmp_path).clusters == read("udpos", "fr", tmp_path).clusters == ["partut-ud-9"]
    assert read("udpos", "af", tmp_path).clusters is None


def test_sentence_in_two_scripts_is_one(tmp_path: Path) -> None:
    home = tmp_path / "udpos/conllu"
    write(home / "zh_gsd-ud-test.conllu", *sentence("風", sent_id="s1"), *sentence("雨", sent_id="s2"))
    write(home / "zh_gsdsimp-ud-test.conllu", *sentence("风", sent_id="s1"), *sentence("雨", sent_id="s2"))
    assert groups(read("udpos", "zh", tmp_path)) == [[0, 2], [1, 3]]


def test_part_with_gold_keeps_the_clusters_of_the_gold(tmp_path: Path) -> None:
    write(tmp_path / "udpos/conllu/de_pud-ud-test.conllu", *sentence("Nebel", sent_id="n01001011"))
    write(tmp_path / "udpos/xtreme_r_tsv/test-de.tsv", *(word for _ in range(22357) for word in ("Wind", "")), "Nebel")
    part = read("udpos", "de", tmp_path)
    assert (part.ids, part.clusters) == (["test-22357"], ["n01001011"])


def test_same_words_are_one_sentence(tmp_path: Path) -> None:
    write(tmp_path / "panx/dev-yo.tsv", "a\tO", "b\tO", "", "c\tO", "", "a\tO", "b\tB-PER", "")
    assert groups(read("wikiann", "yo", tmp_path, "dev")) == [[0, 2], [1]]


def test_mentions_share_a_document(tmp_path: Path) -> None:
    def record(document: str | None, *ids: str) -> str:
        context = {"language": "en", "text": "x", "sentence_spans": []} | (
            {"document_id": document} if document else {}
        )
        span = {"start": 0, "end": 1, "text": "x"}
        mentions = [{"example_id": name, "entity_id": "Q1", "mention_span": span} for name in ids]
        return json.dumps({"context": context, "mentions": mentions})

    path = tmp_path / "mewslix/wikinews_mentions-test.jsonl"
    write(path, record("en-1", "a", "b"), record("en-2", "c"))
    assert groups(read("mewslix", "en", tmp_path)) == [[0, 1], [2]]
    write(path, record("en-1", "a", "b"), record(None, "c"), record(None, "d"))
    assert read("mewslix", "en", tmp_path).clusters is None


def test_questions_of_the_checklist_share_a_case() -> None:
    examples = isogloss.load("checklist-comparisons", "en")
    assert examples.clusters == examples.units


def test_clustered_tasks_name_the_cluster() -> None:
    alone = {"xcopa", "bucc", "mldoc", "sib200", "nusax"}
    assert {name for name in TASKS if not task(name).cluster and not task(name).edition_of} == alone


def test_sources_of_the_real_files(data_dir: Path) -> None:
    def count(name: str, language: str, split: str = "test") -> tuple[int, int]:
        clusters = read(name, language, data_dir, split).clusters
        assert clusters is not None
        return len(set(clusters)), max(Counter(clusters).values())

    assert {count("xquad", language) for language in ("en", "ar", "zh")} == {(48, 74)}
    assert {count("xnli", language) for language in ("en", "sw", "ur")} == {(1670, 3)}
    assert count("tydiqa", "fi") == (516, 14)
    assert count("mlqa", "en", "dev") == (520, 20)
    assert count("pawsx", "en") == (1238, 7)
    assert count("tatoeba", "de") == (1000, 1)
    assert count("wikiann", "fa") == (8415, 681)
    assert count("udpos", "zh") == (2921, 5)
    lareqa, xquad = read("lareqa", "th", data_dir), read("xquad", "ru", data_dir)
    assert dict(zip(lareqa.units or (), lareqa.clusters or (), strict=True)) == dict(
        zip(xquad.units or (), xquad.clusters or (), strict=True)
    )


def test_seventeen_languages_share_the_thousand_sentences_of_pud(data_dir: Path) -> None:
    seen: Counter[str] = Counter()
    for language in "ar de en es fi fr hi id it ja ko pl pt ru th tr zh".split():
        clusters = set(read("udpos", language, data_dir).clusters or ())
        seen.update(name for name in clusters if name[0] in "nw" and len(name) == 9)
    assert len(seen) == 1000
    # A few sentences of partial gold are not in the prepared files.
    assert min(seen.values()) >= 16
