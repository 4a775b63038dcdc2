"""Hand-made records for the report's tests: two systems, two tasks, and scripts that are hard to typeset."""

from statistics import fmean
from typing import Any

import msgspec

from isogloss.explain.bias import DatasetBias, Distances, Distribution
from isogloss.explain.examples import ListedExample
from isogloss.explain.model import AttributeScores, Bucket, BucketScore, Explanation
from isogloss.explain.pairwise import AttributeContrasts, BucketContrast, Disagreement, PairwiseExplanation
from isogloss.results.readers import system_of_record
from isogloss.results.system import SystemResult
from isogloss.scoring.results import AverageScore, CellScore, Number, Overall, PairScores, Results
from isogloss.site.page_parts import ReportInputs
from isogloss.tables.explain_io import ExplainRecords
from isogloss.tasks import task as find_task

HOSTILE = "</script><script>window.hacked = 1</script><img src=x onerror='window.hacked = 1'>{{data}} עברית"
LANGUAGES = ("en", "ar", "he", "ur", "th", "my", "hi")


def number(value: float, n: int = 100) -> Number:
    return Number(value, value - 2, value + 2, n)


def cell(task: str, language: str, value: float, *, partial: bool = False) -> CellScore:
    metrics = {"accuracy": number(value)} if task == "xnli" else {"f1": number(value + 5), "em": number(value - 5)}
    return CellScore(
        task=task,
        language=language,
        split="test",
        metrics=metrics,
        signature=f"task:{task}|lang:{language}|version:0",
        partial=partial,
    )


def results(name: str, shift: float = 0, **system: Any) -> Results:
    """Return XNLI 80, 70, 60, 50 in en, ar, ur, th; XQuAD 90, 40 in en, hi; wikiann only in he and my."""
    cells = [
        cell("xnli", code, value + shift)
        for code, value in zip(("en", "ar", "ur", "th"), (80, 70, 60, 50), strict=True)
    ]
    cells += [cell("xquad", "en", 90 + shift), cell("xquad", "hi", 40 + shift), cell("xquad", "th", 7, partial=True)]
    cells += [
        CellScore(
            task="wikiann",
            language=code,
            split="test",
            metrics={"f1": number(33.3)},
            signature=f"task:wikiann|lang:{code}|version:0",
        )
        for code in ("he", "my")
    ]
    tasks = [
        AverageScore(
            name="xnli",
            score=number(65 + shift, 400),
            metrics={"accuracy": number(65 + shift)},
            members=["en", "ar", "ur", "th"],
            missing=["sw"],
            gap=number(20),
        ),
        AverageScore(
            name="xquad",
            score=number(65 + shift, 200),
            metrics={"f1": number(70), "em": number(60)},
            members=["en", "hi"],
            missing=[],
        ),
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
        AverageScore(
            name="classification", score=number(65 + shift), metrics={}, members=["xnli"], missing=["xnli/sw"]
        ),
        AverageScore(name="qa", score=number(65 + shift), metrics={}, members=["xquad"], missing=[]),
    ]
    return Results(
        suite="xtreme-r",
        system={"name": name, **system},
        split="test",
        cells=cells,
        tasks=tasks,
        categories=categories,
        overall=overall,
        pairs=pairs,
        isogloss="0.1.0",
    )


def facet(task: str, language: str, attribute: str, *, insight: str = "", ids: int = 3) -> AttributeScores:
    values = (80.0, 70.0, 60.0, 40.0)
    buckets = [
        BucketScore(
            bucket=Bucket(name, 3.0 * place, 3.0 * place + 2, 25),
            value=value,
            low=value - 5,
            high=value + 5,
            ids=[f"{language}-{place * ids + row}" for row in range(ids)],
        )
        for place, (name, value) in enumerate(zip(("XS", "S", "L", "XL"), values, strict=True))
    ]
    return AttributeScores(
        task=task,
        language=language,
        metric="score",
        attribute=attribute,
        title=f"title of {attribute}",
        discrete=False,
        buckets=buckets,
        insight=insight,
    )


def explanation(name: str) -> Explanation:
    facets = [
        facet(task, code, a) for task in ("xnli", "xquad") for code in ("en", "ar") for a in ("qLen", "aLen/qLen")
    ]
    facets.append(facet("xnli", "th", "qLen", insight="XL is 40.0 points below XS."))
    confusion = {"xnli/en": {"neutral": {"neutral": 3, "entailment": 1}}}
    return Explanation(system={"name": name}, suite="xtreme-r", split="test", facets=facets, confusion=confusion)


def pair_made(first: str = "plain", second: str = HOSTILE) -> PairwiseExplanation:
    """Return XNLI in en and ar: the first is 5 points ahead; in en the second leads significantly in XL, not in L."""
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
        facets.append(
            AttributeContrasts(
                task="xnli",
                language=language,
                metric="score",
                attribute="qLen",
                title="title of qLen",
                discrete=False,
                buckets=rows,
            )
        )
    cells = [
        Disagreement(
            task="xnli",
            language="en",
            n=100,
            difference=5.0,
            first_right=12,
            second_right=7,
            first_right_ids=["en-0", "en-1"],
            second_right_ids=["en-9"],
        ),
        Disagreement(
            task="xnli",
            language="ar",
            n=100,
            difference=5.0,
            first_right=9,
            second_right=4,
            first_right_ids=["ar-0"],
            second_right_ids=[],
        ),
    ]
    return PairwiseExplanation(first, second, facets, cells)


def bias() -> DatasetBias:
    """Return XNLI in three languages and XCOPA in one: a length (with an outlier in Thai), a share and a label."""
    distributions = []
    for task, code, mean in (("xnli", "en", 10.0), ("xnli", "ar", 12.0), ("xnli", "th", 40.0), ("xcopa", "th", 30.0)):
        about: dict[str, Any] = {"task": task, "language": code, "split": "test", "n": 100}
        most = 400.0 if (task, code) == ("xnli", "th") else 2 * mean
        title = "length of the first text in tokens, or in characters where no blanks are written"
        quartiles = [1.0, mean - 4, mean - 1, mean + 4, most]
        distributions.append(
            Distribution(**about, attribute="t1Len", title=title, discrete=False, mean=mean, quartiles=quartiles)
        )
        shares = {"entailment": 0.5, "neutral": 0.3, "": 0.2} if task == "xnli" else {"0": 0.5, "1": 0.5}
        distributions.append(Distribution(**about, attribute="label", title="gold label", discrete=True, shares=shares))
    distributions.append(
        Distribution(
            task="xnli",
            language="en",
            split="test",
            attribute="overlap",
            title="overlap of the texts",
            discrete=False,
            n=100,
        )
    )
    table = [[0.0, 2.0, 30.0], [2.0, 0.0, 28.0], [30.0, 28.0, 0.0]]
    same = [[0.0] * 3] * 3
    apart = [
        Distances(
            task="xnli",
            attribute="t1Len",
            measure="wasserstein-1",
            languages=["en", "ar", "th"],
            table=table,
            noise=[[3.0] * 3] * 3,
        ),
        Distances(task="xnli", attribute="label", measure="total variation", languages=["en", "ar", "th"], table=same),
    ]
    return DatasetBias("test", distributions, apart, ["xcopa/sw"])


def explained() -> ExplainRecords:
    """Return two systems, their pair, dataset bias, and examples with their texts."""
    predictions = {"plain": "neutral", HOSTILE: "entailment"}
    cases = {
        "xnli/ar": {
            "ar-0": ListedExample(
                id="ar-0",
                inputs={"premise": "جملة <b>"},
                gold="neutral",
                predictions={HOSTILE: "entailment"},
                scores={HOSTILE: 0.0},
            )
        },
        "xnli/en": {
            "en-9": ListedExample(
                id="en-9",
                inputs={"premise": "so"},
                gold="entailment",
                predictions=predictions,
                scores={"plain": 0.0, HOSTILE: 100.0},
            )
        },
    }
    explanations = {"plain": explanation("plain"), HOSTILE: explanation(HOSTILE)}
    return ExplainRecords(explanations=explanations, pairs=[pair_made()], cases=cases, edges="language", bias=bias())


def as_systems(records: dict[str, Results]) -> dict[str, SystemResult]:
    """Return the systems of some records, by name."""
    return {name: system_of_record(record, name) for name, record in records.items()}


def inputs() -> ReportInputs:
    """Return two systems, one with a hostile name, with everything a report can show."""
    return ReportInputs(as_systems({"plain": results("plain"), HOSTILE: results(HOSTILE, -10)}), explained())


def scored(name: str, scores: dict[tuple[str, str], float], *, missing: tuple[str, ...] = (), **other: Any) -> Results:
    """Return a record of these cells, by task and language; averages are plain means."""
    by_task: dict[str, dict[str, float]] = {}
    for (task, code), value in scores.items():
        by_task.setdefault(task, {})[code] = value
    data = other.pop("data", "d")
    cells = [
        CellScore(
            task=name,
            language=code,
            split="test",
            metrics=dict.fromkeys(find_task(name).main, number(value)),
            signature=f"task:{name}|data:{data}",
        )
        for (name, code), value in scores.items()
    ]
    means = {name: number(fmean(scores.values())) for name, scores in by_task.items()}
    lacking = {name: [each.split("/")[1] for each in missing if each.startswith(f"{name}/")] for name in by_task}
    tasks = [
        AverageScore(name=name, score=means[name], metrics={}, members=list(scores), missing=lacking[name])
        for name, scores in by_task.items()
    ]
    value, width = fmean(each.value for each in means.values()), other.pop("width", 1.0)
    top = Number(value, value - width, value + width, 100) if width else Number(value, None, None, 100)
    categories = [AverageScore(name="all", score=top, metrics={}, members=list(by_task), missing=list(missing))]
    made = Results(
        suite="two-tasks",
        system={"name": name},
        split="test",
        cells=cells,
        tasks=tasks,
        categories=categories,
        overall=Overall("flat", top, list(missing)),
        pairs=[],
        isogloss="0",
    )
    return msgspec.structs.replace(made, **other)
