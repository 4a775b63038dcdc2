"""Design effect of articles on real answers to XQuAD: the variance of a mean with clusters, divided by that without."""

import json
import lzma
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

from isogloss.metrics.qa import statistics


def design_effects(data: Path) -> list[dict[str, str]]:
    """Return one row per set of real answers in a data folder."""
    rows = []
    for system, language, answers in answer_sets(data):
        questions = [each for each in questions_of(data, language) if each["id"] in answers]
        metrics = statistics(
            [answers[each["id"]] for each in questions],
            [each["answers"] for each in questions],
            dialect="squad",
        )
        articles = np.array([each["article"] for each in questions])
        paragraphs = np.array([each["paragraph"] for each in questions])
        row = {"system": f"{system}, {language}", "questions": f"{len(questions):,}"}
        for metric, name in (("f1", "F1"), ("em", "EM")):
            values = metrics[metric].rows[:, 0]
            row[name] = f"{100 * values.mean():.1f}"
            row[f"{name}: articles"] = f"{design_effect(values, articles):.2f}"
            row[f"{name}: paragraphs"] = f"{design_effect(values, paragraphs):.2f}"
        rows.append(row)
    return rows


def design_effect(values: np.ndarray, clusters: np.ndarray) -> float:
    """Return the variance of the mean for new clusters, divided by that for new examples."""
    _, place = np.unique(clusters, return_inverse=True)
    count = int(place.max()) + 1
    residuals = np.bincount(place, weights=values - values.mean())
    clustered = count / (count - 1) * (residuals**2).sum() / len(values) ** 2
    return float(clustered / (values.var(ddof=1) / len(values)))


def read_json(path: Path) -> Any:
    """Read a JSON file, plain or packed with xz."""
    if path.is_file():
        return json.loads(path.read_text(encoding="utf-8"))
    return json.loads(lzma.open(path.with_name(f"{path.name}.xz"), "rt", encoding="utf-8").read())


def questions_of(data: Path, language: str) -> list[dict[str, Any]]:
    """Return the questions of XQuAD with their answers, articles and paragraphs."""
    articles = read_json(data / "xquad" / f"xquad.{language}.json")["data"]
    return [
        {
            "id": question["id"],
            "question": question["question"],
            "answers": [answer["text"] for answer in question["answers"]],
            "article": place,
            "paragraph": 1000 * place + number,
        }
        for place, article in enumerate(articles)
        for number, paragraph in enumerate(article["paragraphs"])
        for question in paragraph["qas"]
    ]


def answer_sets(data: Path) -> Iterator[tuple[str, str, dict[str, str]]]:
    """Yield every set of answers, by the ids of XQuAD."""
    for path in sorted((data / "squad_dev_predictions").glob("*.json*")):
        answers = read_json(path.with_name(path.name.removesuffix(".xz")))
        if isinstance(answers, dict):
            yield path.name.partition(".")[0], "en", answers
    for path in sorted((data / "explainaboard_outputs" / "multilingual").glob("*/xquad/*.json*")):
        language = path.name.removeprefix("test-").partition("_")[0]
        answers = read_json(path.with_name(path.name.removesuffix(".xz")))["predictions"]
        ids = [each["id"] for each in questions_of(data, language)]
        texts = [each["predicted_answers"]["text"] for each in answers]
        # These files are in the order of XQuAD and identify the examples by their index.
        yield path.parts[-3], language, dict(zip(ids, texts, strict=True))
    yield from _by_question(data)


def _by_question(data: Path) -> Iterator[tuple[str, str, dict[str, str]]]:
    """Read answers that identify the question only by its text; repeated texts are left out."""
    folder = data / "mbert_qa"
    if not folder.is_dir():
        return
    rows = read_json(folder / "SQUAD_prediction_results.json")
    questions = questions_of(data, "en")
    seen = Counter(each["squad-data"]["english-question"] for each in rows)
    occurrences = Counter(each["question"] for each in questions)
    answers = {each["squad-data"]["english-question"]: each["answer-predictions"]["original-squad"] for each in rows}
    once = [each for each in questions if seen[each["question"]] == occurrences[each["question"]] == 1]
    yield "mBERT", "en", {each["id"]: answers[each["question"]] for each in once}
