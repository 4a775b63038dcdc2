"""Examples from one article are correlated, within a language and across languages."""

import numpy as np
import pytest

from isogloss.metrics.estimate import estimate, mean
from isogloss.metrics.statistics import MEAN, Statistics, merge
from isogloss.scoring.cells import Cell
from isogloss.scoring.request import Request
from isogloss.scoring.score import score_cells
from isogloss.scoring.sources import Sources, design_effect
from isogloss.tasks.kinds import Judgement


def cell(
    task: str, language: str, right: np.ndarray, units: list[str] | None = None, clusters: list[str] | None = None
) -> Cell:
    names = {"xquad": ("f1", "em"), "mlqa": ("f1", "em"), "tydiqa": ("f1", "em")}
    rows = Statistics(np.asarray(right, dtype=float)[:, None], MEAN)
    metrics = dict.fromkeys(names.get(task, ("accuracy",)), rows)
    return Cell(
        task=task,
        language=language,
        split="test",
        n=len(right),
        judgement=Judgement(metrics),
        units=units,
        checksum="0" * 64,
        clusters=clusters,
    )


def articles(count: int, size: int, language: str = "") -> list[str]:
    return [f"{language}{row // size}" for row in range(count * size)]


def test_questions_of_one_article_widen_the_interval() -> None:
    rng = np.random.default_rng(0)
    right = np.repeat(rng.random(50) < 0.6, 4)
    one = cell("tydiqa", "en", right, clusters=articles(50, 4))
    by_source, by_example = (Sources([one], kind).estimate(one, one.metrics["f1"]) for kind in ("source", "example"))
    assert design_effect(by_source, by_example) == pytest.approx(4, rel=0.02)
    request = Request.of(tasks=["tydiqa"])
    new_articles = score_cells([one], request, {"name": "a"})["tydiqa", "en"].metrics["f1"]
    by_example = Request.of(tasks=["tydiqa"], resample="example")
    new_questions = score_cells([one], by_example, {"name": "a"})["tydiqa", "en"].metrics["f1"]
    assert new_articles.value == new_questions.value
    assert (new_articles.high - new_articles.low) / (new_questions.high - new_questions.low) == pytest.approx(
        2, abs=0.1
    )
    found = score_cells([one], request, {"name": "a"})
    assert (found.resample, found.cells[0].design_effect) == ("source", pytest.approx(4, rel=0.02))
    assert found["tydiqa"].design_effect == pytest.approx(4, rel=0.02)
    assert score_cells([one], by_example, {"name": "a"}).cells[0].design_effect is None


def test_few_articles_have_no_interval() -> None:
    one = cell("tydiqa", "en", np.tile([1, 1, 0], 200), clusters=articles(10, 60))
    number = score_cells([one], Request.of(tasks=["tydiqa"]), {"name": "a"}).cells[0].metrics["f1"]
    assert (number.low, number.high) == (None, None)
    assert number.n == 600


def test_languages_sharing_sentences_are_correlated() -> None:
    rng = np.random.default_rng(0)
    right = rng.random(300) < 0.7
    names = [f"s{row}" for row in range(300)]
    shared = [cell("udpos", code, right, clusters=names) for code in ("en", "de")]
    apart = [cell("udpos", code, right, clusters=[f"{code}:{name}" for name in names]) for code in ("en", "de")]
    variances = []
    for cells in (shared, apart):
        sources = Sources(cells)
        variances.append(mean([sources.estimate(each, each.metrics["accuracy"]) for each in cells]).variance)
    assert variances[0] == pytest.approx(2 * variances[1])
    singly = Sources(shared, "example")
    alone = mean([singly.estimate(each, each.metrics["accuracy"]) for each in shared])
    assert alone.variance == pytest.approx(variances[1])


def test_articles_with_translated_questions_are_merged() -> None:
    right = np.random.default_rng(0).random(90) < 0.6
    units = [f"q{row}" for row in range(90)]
    english = cell("mlqa", "en", right, units, articles(30, 3, "en:"))
    # The German articles have the same questions, except for one that belongs to another English article.
    names = articles(30, 3, "de:")
    names[3] = "de:0"
    german = cell("mlqa", "de", right, units, names)
    sources = Sources([english, german])
    codes, size, _ = sources.of_examples(english)
    assert size == 29
    assert codes is not None
    assert codes[0] == codes[3]
    other, _, _ = sources.of_examples(german)
    assert other is not None
    assert (codes == other).all()
    # A single language uses its own articles.
    assert Sources([english]).of_examples(english)[1] == 30
    alone = score_cells([english], Request.of(tasks=["mlqa"]), {"name": "a"}).cells[0]
    both = score_cells([english, german], Request.of(tasks=["mlqa"]), {"name": "a"}).cells[0]
    assert alone == both


def test_cells_without_sources_are_independent() -> None:
    right = np.random.default_rng(0).random(60) < 0.5
    cells = [cell("wikiann", code, right) for code in ("en", "de")]
    sources = Sources(cells)
    assert {sources.of_examples(each)[2] for each in cells} == {"wikiann/en", "wikiann/de"}
    # After merging, the first examples of the two languages stay distinct.
    merged = merge([sources.by_source(each, each.metrics["accuracy"]) for each in cells])
    assert estimate(merged).sources == 120
    again = merge([sources.by_source(each, each.metrics["accuracy"]) for each in cells])
    assert (again.units == merged.units).all()


def test_rounding_error_gives_no_design_effect() -> None:
    same = cell("tydiqa", "en", np.full(1000, 0.1), clusters=articles(50, 20))
    found = score_cells([same], Request.of(tasks=["tydiqa"]), {"name": "a"})
    assert found.cells[0].design_effect is None
    assert found["tydiqa"].design_effect is None
    assert found.clustered == ["tydiqa"]
