"""Records made by hand for the report's tests: two systems, two tasks, the scripts that are hard to set."""

from statistics import fmean
from typing import Any

import msgspec

from isogloss.explain.bias import DatasetBias, Distances, Distribution
from isogloss.explain.examples import ListedExample
from isogloss.explain.model import AttributeScores, Bucket, BucketScore, Explanation
from isogloss.explain.pairwise import AttributeContrasts, BucketContrast, Disagreement, PairwiseExplanation
from isogloss.report.explain_io import ExplainRecords
from isogloss.report.inputs import ReportInputs
from isogloss.scoring.results import AverageScore, CellScore, Number, Overall, PairScores, Results
from isogloss.tasks import task as find_task

HOSTILE = "</script><script>window.hacked = 1</script><img src=x onerror='window.hacked = 1'>{{data}} עברית"
LANGUAGES = ("en", "ar", "he", "ur", "th", "my", "hi")


def number(value: float, n: int = 100) -> Number:
    return Number(value, value - 2, value + 2, n)


def cell(task: str, language: str, value: float, *, partial: bool = False) -> CellScore:
    metrics = {"accuracy": number(value)} if task == "xnli" else {"f1": number(value + 5), "em": number(value - 5)}
    return CellScore(task, language, "test", metrics, f"task:{task}|lang:{language}|version:0", partial)


def results(name: str, shift: float = 0, **system: Any) -> Results:
    """XNLI 80, 70, 60, 50 in en, ar, ur, th; XQuAD 90, 40 in en, hi; wikiann only in he and my."""
    cells = [
        cell("xnli", code, value + shift)
        for code, value in zip(("en", "ar", "ur", "th"), (80, 70, 60, 50), strict=True)
    ]
    cells += [cell("xquad", "en", 90 + shift), cell("xquad", "hi", 40 + shift), cell("xquad", "th", 7, partial=True)]
    cells += [
        CellScore("wikiann", code, "test", {"f1": number(33.3)}, f"task:wikiann|lang:{code}|version:0")
        for code in ("he", "my")
    ]
    tasks = [
        AverageScore(
            "xnli",
            number(65 + shift, 400),
            {"accuracy": number(65 + shift)},
            ["en", "ar", "ur", "th"],
            ["sw"],
            number(20),
        ),
        AverageScore("xquad", number(65 + shift, 200), {"f1": number(70), "em": number(60)}, ["en", "hi"], []),
    ]
    pairs = [
        PairScores(
            "lareqa",
            "map@20",
            {"all": number(44)},
            {"en": {"en": number(71), "ar": number(22)}, "ar": {"en": number(23)}},
        )
    ]
    overall = Overall("category", number(65 + shift), ["xnli/sw", "mewslix"])
    categories = [
        AverageScore("classification", number(65 + shift), {}, ["xnli"], ["xnli/sw"]),
        AverageScore("qa", number(65 + shift), {}, ["xquad"], []),
    ]
    return Results("xtreme-r", {"name": name, **system}, "test", cells, tasks, categories, overall, pairs, "0.1.0")


def facet(task: str, language: str, attribute: str, *, insight: str = "", ids: int = 3) -> AttributeScores:
    values = (80.0, 70.0, 60.0, 40.0)
    buckets = [
        BucketScore(
            Bucket(name, 3.0 * place, 3.0 * place + 2, 25),
            value,
            value - 5,
            value + 5,
            [f"{language}-{place * ids + row}" for row in range(ids)],
        )
        for place, (name, value) in enumerate(zip(("XS", "S", "L", "XL"), values, strict=True))
    ]
    return AttributeScores(task, language, "score", attribute, f"title of {attribute}", False, buckets, insight)


def explanation(name: str) -> Explanation:
    facets = [
        facet(task, code, a) for task in ("xnli", "xquad") for code in ("en", "ar") for a in ("qLen", "aLen/qLen")
    ]
    facets.append(facet("xnli", "th", "qLen", insight="XL is 40.0 points below XS."))
    confusion = {"xnli/en": {"neutral": {"neutral": 3, "entailment": 1}}}
    return Explanation({"name": name}, "xtreme-r", "test", facets, confusion)


def pair_made(first: str = "plain", second: str = HOSTILE) -> PairwiseExplanation:
    """XNLI in en and ar: the first is 5 points ahead; in en the second is surely ahead in XL, and probably in L."""
    facets = []
    for language in ("en", "ar"):
        single = facet("xnli", language, "qLen").buckets
        differences = ((12.0, 0.001), (4.0, 0.2), (-1.0, 1.0), (-9.0, 0.01)) if language == "en" else ((5.0, 0.5),) * 4
        rows = [
            BucketContrast(
                score.value + gap, score.value, gap, gap - 3, gap + 3, p, score.bucket, flips=gap < 0, ids=score.ids
            )
            for score, (gap, p) in zip(single, differences, strict=True)
        ]
        facets.append(AttributeContrasts("xnli", language, "score", "qLen", "title of qLen", False, rows))
    cells = [
        Disagreement("xnli", "en", 100, 5.0, 12, 7, ["en-0", "en-1"], ["en-9"]),
        Disagreement("xnli", "ar", 100, 5.0, 9, 4, ["ar-0"], []),
    ]
    return PairwiseExplanation(first, second, facets, cells)


def bias() -> DatasetBias:
    """XNLI in three languages and XCOPA in one: a length (Thai's largest far out), a share, and a label."""
    found = []
    for task, code, mean in (("xnli", "en", 10.0), ("xnli", "ar", 12.0), ("xnli", "th", 40.0), ("xcopa", "th", 30.0)):
        about = (task, code, "test")
        most = 400.0 if (task, code) == ("xnli", "th") else 2 * mean
        title = "length of the first text in tokens, or in characters where no blanks are written"
        quartiles = [1.0, mean - 4, mean - 1, mean + 4, most]
        found.append(Distribution(*about, "t1Len", title, False, 100, mean=mean, quartiles=quartiles))
        shares = {"entailment": 0.5, "neutral": 0.3, "": 0.2} if task == "xnli" else {"0": 0.5, "1": 0.5}
        found.append(Distribution(*about, "label", "gold label", True, 100, shares=shares))
    found.append(Distribution("xnli", "en", "test", "overlap", "overlap of the texts", False, 100))
    table = [[0.0, 2.0, 30.0], [2.0, 0.0, 28.0], [30.0, 28.0, 0.0]]
    same = [[0.0] * 3] * 3
    apart = [
        Distances("xnli", "t1Len", "wasserstein-1", ["en", "ar", "th"], table, [[3.0] * 3] * 3),
        Distances("xnli", "label", "total variation", ["en", "ar", "th"], same),
    ]
    return DatasetBias("test", found, apart, ["xcopa/sw"])


def explained() -> ExplainRecords:
    """Two systems, the pair of them, a survey, and examples that are kept with their texts."""
    said = {"plain": "neutral", HOSTILE: "entailment"}
    cases = {
        "xnli/ar": {
            "ar-0": ListedExample("ar-0", {"premise": "جملة <b>"}, "neutral", {HOSTILE: "entailment"}, {HOSTILE: 0.0})
        },
        "xnli/en": {
            "en-9": ListedExample("en-9", {"premise": "so"}, "entailment", said, {"plain": 0.0, HOSTILE: 100.0})
        },
    }
    explanations = {"plain": explanation("plain"), HOSTILE: explanation(HOSTILE)}
    return ExplainRecords(explanations, [pair_made()], cases, "language", bias())


def inputs() -> ReportInputs:
    """Two systems, one of them hostile, with everything a report can show."""
    return ReportInputs({"plain": results("plain"), HOSTILE: results(HOSTILE, -10)}, explained())


def scored(name: str, scores: dict[tuple[str, str], float], *, missing: tuple[str, ...] = (), **other: Any) -> Results:
    """A record of these cells, by task and language: averages are plain means."""
    by_task: dict[str, dict[str, float]] = {}
    for (of, code), value in scores.items():
        by_task.setdefault(of, {})[code] = value
    data = other.pop("data", "d")
    cells = [
        CellScore(of, code, "test", dict.fromkeys(find_task(of).main, number(value)), f"task:{of}|data:{data}")
        for (of, code), value in scores.items()
    ]
    means = {of: number(fmean(found.values())) for of, found in by_task.items()}
    lacking = {of: [each.split("/")[1] for each in missing if each.startswith(f"{of}/")] for of in by_task}
    tasks = [AverageScore(of, means[of], {}, list(found), lacking[of]) for of, found in by_task.items()]
    value, width = fmean(each.value for each in means.values()), other.pop("width", 1.0)
    top = Number(value, value - width, value + width, 100) if width else Number(value, None, None, 100)
    categories = [AverageScore("all", top, {}, list(by_task), list(missing))]
    made = Results(
        "two-tasks", {"name": name}, "test", cells, tasks, categories, Overall("flat", top, list(missing)), [], "0"
    )
    return msgspec.structs.replace(made, **other)
