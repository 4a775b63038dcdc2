"""An independent implementation of the reference's scoring rules, for the end-to-end tests.

It does not import the package under test, and prefers clarity to speed; all scores are on the 0..100 scale.
"""

import re
import string
import unicodedata
from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from statistics import fmean

import numpy as np
import numpy.typing as npt

Tags = Sequence[str]
Pair = tuple[str, str]
Matrix = npt.NDArray[np.float64]

# ---------------------------------------------------------------------------------------------------------------
# The suites: tasks, their languages, and the rules of the overall score.

XTREME_R = {
    "xnli": "ar bg de el en es fr hi ru sw th tr ur vi zh",
    "xcopa": "et ht id it qu sw ta th tr vi zh",
    "udpos": "af ar bg de el en es et eu fa fi fr he hi hu id it ja kk ko mr nl pt ru ta te th tl tr ur vi yo zh "
    "lt pl uk wo ro",
    "wikiann": "ar he vi id jv ms tl eu ml ta te af nl en de el bn hi mr ur fa fr it pt es bg ru ja ka ko th sw yo "
    "my zh kk tr et fi hu qu pl uk az lt pa gu ro",
    "xquad": "en es de el ru tr ar vi th zh hi",
    "mlqa": "en es de ar hi vi zh",
    "tydiqa": "en ar bn fi id ko ru sw te",
    "tatoeba": "ar he vi id jv tl eu ml ta te af nl de el bn hi mr ur fa fr it pt es bg ru ja ka ko th sw zh kk tr "
    "et fi hu az lt pl uk ro",
    "mewslix": "ar de en es fa ja pl ro ta tr uk",
    "lareqa": "ar de el en es hi ru th tr vi zh",
}
CATEGORIES = (("xnli", "xcopa"), ("udpos", "wikiann"), ("xquad", "mlqa", "tydiqa"), ("mewslix", "lareqa", "tatoeba"))

# The metrics averaged into a task's score.
MAIN: dict[str, tuple[str, ...]] = dict.fromkeys(("xnli", "xcopa", "pawsx", "mldoc", "tatoeba"), ("accuracy",))
MAIN |= dict.fromkeys(("udpos", "wikiann", "bucc"), ("f1",))
MAIN |= dict.fromkeys(("xquad", "mlqa", "tydiqa"), ("f1", "em"))
MAIN |= dict.fromkeys(("mewslix", "lareqa"), ("map@20",))


def task_score(task: str, cells: Collection[Mapping[str, float]]) -> float:
    """Return a task's score: each main metric averaged over the languages, then the mean of those."""
    return fmean(fmean(scores[metric] for scores in cells) for metric in MAIN[task])


def category_mean(task_scores: Mapping[str, float]) -> float:
    """Return the paper's overall score: the mean over the four categories of the mean over their tasks."""
    return fmean(fmean(task_scores[task] for task in tasks) for tasks in CATEGORIES)


# ---------------------------------------------------------------------------------------------------------------
# Labels and pairs


def accuracy(gold: Sequence[object], predicted: Sequence[object]) -> float:
    """Return the share of equal labels."""
    assert len(gold) == len(predicted) > 0
    return 100 * sum(g == p for g, p in zip(gold, predicted, strict=True)) / len(gold)


def pair_scores(gold: Collection[Pair], predicted: Collection[Pair]) -> dict[str, float]:
    """Return F1, precision and recall over sets of pairs; all 0 if no pair is correct."""
    right = len(set(gold) & set(predicted))
    if not right:
        return {"f1": 0.0, "precision": 0.0, "recall": 0.0}
    precision, recall = right / len(set(predicted)), right / len(set(gold))
    return {
        "f1": 100 * 2 * precision * recall / (precision + recall),
        "precision": 100 * precision,
        "recall": 100 * recall,
    }


# ---------------------------------------------------------------------------------------------------------------
# Question answering

_ARTICLES = {
    "en": "a an the",
    "es": "un una unos unas el la los las",
    "de": "ein eine einen einem eines einer der die das den dem des",
    "vi": "của là cái chiếc những",
}


def squad_tokens(text: str) -> list[str]:
    """SQuAD 1.1: lower-case, remove ASCII punctuation and English articles, split at white space; any language."""
    text = "".join(char for char in text.lower() if char not in string.punctuation)
    return re.sub(r"\b(a|an|the)\b", " ", text).split()


def mlqa_tokens(text: str, language: str) -> list[str]:
    """MLQA: remove all punctuation and the language's articles; Chinese has one token per ideograph."""
    kept = [c for c in text.lower() if c not in string.punctuation and not unicodedata.category(c).startswith("P")]
    text = "".join(kept)
    if language in _ARTICLES:
        text = re.sub(rf"\b({_ARTICLES[language].replace(' ', '|')})\b", " ", text)
    elif language == "ar":
        text = text.replace("\N{ARABIC LETTER ALEF}\N{ARABIC LETTER LAM}", " ")
    elif language == "zh":
        text = "".join(f" {c} " if "\u4e00" <= c <= "\u9fa5" else c for c in text)
    return text.split()


def overlap_f1(predicted: Sequence[str], gold: Sequence[str]) -> float:
    """Return the harmonic mean of token precision and recall, 0..1; 0 for two empty answers."""
    same = sum((Counter(predicted) & Counter(gold)).values())
    if not same:
        return 0.0
    precision, recall = same / len(predicted), same / len(gold)
    return 2 * precision * recall / (precision + recall)


def qa_scores(
    gold: Mapping[str, Sequence[str]], predicted: Mapping[str, str], mlqa_language: str | None = None
) -> dict[str, float]:
    """Return F1 and exact match, each the best over the gold answers; a question without a prediction scores 0."""

    def tokens(text: str) -> list[str]:
        return mlqa_tokens(text, mlqa_language) if mlqa_language else squad_tokens(text)

    f1 = em = 0.0
    for identifier, answers in gold.items():
        if identifier in predicted:
            given = tokens(predicted[identifier])
            f1 += max(overlap_f1(given, tokens(answer)) for answer in answers)
            em += max(float(given == tokens(answer)) for answer in answers)
    return {"f1": 100 * f1 / len(gold), "em": 100 * em / len(gold)}


# ---------------------------------------------------------------------------------------------------------------
# Tagging


def chunks(tags: Tags) -> set[tuple[str, int, int]]:
    """Return conlleval's chunks of a sentence; the type follows the last hyphen, or is the whole tag without one."""
    found = set()
    begin, before, before_type = 0, "O", "O"
    for place, tag in enumerate([*tags, "O"]):
        prefix, kind = tag[0], tag.rsplit("-", 1)[-1]
        if _ends(before, prefix, before_type != kind):
            found.add((before_type, begin, place - 1))
        if _starts(before, prefix, before_type != kind):
            begin = place
        before, before_type = prefix, kind
    return found


def _ends(before: str, now: str, other_type: bool) -> bool:
    if before in "ES":
        return True
    if before in "BI" and now in "BSO":
        return True
    return before not in "O." and other_type


def _starts(before: str, now: str, other_type: bool) -> bool:
    if now in "BS":
        return True
    if before in "ESO" and now in "EI":
        return True
    return now not in "O." and other_type


def tagging_scores(gold: Sequence[Tags], predicted: Sequence[Tags]) -> dict[str, float]:
    """Return micro chunk F1 and token accuracy of a corpus."""
    right = wanted = given = equal = tokens = 0
    for gold_tags, predicted_tags in zip(gold, predicted, strict=True):
        assert len(gold_tags) == len(predicted_tags)
        in_gold, in_predicted = chunks(gold_tags), chunks(predicted_tags)
        right += len(in_gold & in_predicted)
        wanted += len(in_gold)
        given += len(in_predicted)
        equal += sum(g == p for g, p in zip(gold_tags, predicted_tags, strict=True))
        tokens += len(gold_tags)
    f1 = 2 * right / (wanted + given) if right else 0.0
    return {"f1": 100 * f1, "accuracy": 100 * equal / tokens}


def span_scores(
    gold: Sequence[Iterable[tuple[int, int, str]]], predicted: Sequence[Iterable[tuple[int, int, str]]]
) -> dict[str, float]:
    """Return micro F1 over exact (start, end, type) and over (start, end)."""
    scores = {}
    for name, width in (("f1", 3), ("boundary_f1", 2)):
        wanted = {(row, *span[:width]) for row, spans in enumerate(gold) for span in spans}
        given = {(row, *span[:width]) for row, spans in enumerate(predicted) for span in spans}
        scores[name] = 100 * 2 * len(wanted & given) / (len(wanted) + len(given))
    return scores


# ---------------------------------------------------------------------------------------------------------------
# Retrieval


def average_precision(ranked: Sequence[str], targets: Collection[str], k: int = 20) -> float:
    """(sum over hit ranks r <= k of hits so far / r) / min(number of targets, k), 0..1."""
    hits, total = 0, 0.0
    for rank, item in enumerate(ranked[:k], 1):
        if item in targets and item not in ranked[: rank - 1]:
            hits += 1
            total += hits / rank
    return total / min(len(targets), k)


def one_target(ranked: Sequence[str], target: str, targets: Collection[str], k: int = 20) -> float:
    """Return 1 / rank of a target in the ranking without the query's other targets, 0 beyond rank k; 0..1."""
    others = set(targets) - {target}
    left = [item for item in ranked if item not in others][:k]
    return 1 / (1 + left.index(target)) if target in left else 0.0


def ranking_scores(rankings: Sequence[Sequence[str]], targets: Sequence[Sequence[str]]) -> dict[str, float]:
    """Return mean AP@20; for Mewsli-X, with one target, this is the mean reciprocal rank."""
    pairs = zip(rankings, targets, strict=True)
    return {"map@20": 100 * fmean(average_precision(ranked, wanted) for ranked, wanted in pairs)}


def one_target_scores(
    rankings: Sequence[Sequence[str]], targets: Sequence[Sequence[str]], language: str
) -> dict[str, tuple[float, int]]:
    """Return the one-target scores with the number of (question, target) pairs: all, same language, other languages."""
    values: dict[str, list[float]] = {"one-target": [], "one-target-same": [], "one-target-different": []}
    for ranked, wanted in zip(rankings, targets, strict=True):
        for target in wanted:
            value = one_target(ranked, target, wanted)
            same = target.startswith(f"{language}_")
            values["one-target"].append(value)
            values["one-target-same" if same else "one-target-different"].append(value)
    return {name: (100 * fmean(found), len(found)) for name, found in values.items()}


def ranked_rows(queries: Matrix, candidates: Matrix, k: int) -> list[list[int]]:
    """Return the k rows with the largest inner product per query by a full sort; ties go to the lowest row."""
    return [np.argsort(-(candidates @ query), kind="stable")[:k].tolist() for query in queries]


def unit_rows(matrix: Matrix) -> Matrix:
    """Return the rows scaled to unit length."""
    lengths: Matrix = np.sqrt((matrix**2).sum(axis=1, keepdims=True))
    return matrix / lengths


# ---------------------------------------------------------------------------------------------------------------
# Bitext mining


def mined_pairs(
    source: Mapping[str, tuple[str, npt.ArrayLike]], target: Mapping[str, tuple[str, npt.ArrayLike]]
) -> list[tuple[str, str, float]]:
    """Return pairs (source id, target id, score) mined by margin from {id: (text, vector)}, best first.

    A repeated text keeps its last vector during mining, and is in no pair.
    """
    (x_ids, x), (y_ids, y) = _unified(source), _unified(target)
    cosine = unit_rows(x) @ unit_rows(y).T
    near_x = np.sort(cosine, axis=1)[:, -4:].mean(axis=1)
    near_y = np.sort(cosine, axis=0)[-4:].mean(axis=0)
    margin = cosine / ((near_x[:, None] + near_y[None, :]) / 2)
    proposals = set()
    for i in range(len(x)):
        nearest = np.argsort(-cosine[i], kind="stable")[:4]
        proposals.add((i, int(nearest[margin[i, nearest].argmax()])))
    for j in range(len(y)):
        nearest = np.argsort(-cosine[:, j], kind="stable")[:4]
        proposals.add((int(nearest[margin[nearest, j].argmax()]), j))
    pairs, used_i, used_j = [], set(), set()
    for i, j in sorted(proposals, key=lambda pair: (-margin[pair], pair)):
        if i not in used_i and j not in used_j and margin[i, j] > 0:
            used_i.add(i)
            used_j.add(j)
            pairs.append((x_ids[i], y_ids[j], float(margin[i, j])))
    return [(a, b, score) for a, b, score in pairs if a and b]


def _unified(side: Mapping[str, tuple[str, npt.ArrayLike]]) -> tuple[list[str], Matrix]:
    """Return ids ("" if the text occurs more than once) and vectors of the distinct texts."""
    counts = Counter(text for text, _ in side.values())
    last = {text: (identifier, vector) for identifier, (text, vector) in side.items()}
    ids = [identifier if counts[text] == 1 else "" for text, (identifier, _) in last.items()]
    return ids, np.array([vector for _, vector in last.values()], dtype=np.float64)


def tuned_threshold(mined: Sequence[tuple[str, str, float]], gold: Collection[Pair]) -> float:
    """Return the midpoint of the last score of the first prefix with the best F1 and the next score."""
    best, threshold = 0.0, 0.0
    for size in range(1, len(mined) + 1):
        f1 = pair_scores(gold, [(a, b) for a, b, _ in mined[:size]])["f1"]
        if f1 > best:
            following = mined[size][2] if size < len(mined) else mined[-1][2]
            best, threshold = f1, (mined[size - 1][2] + following) / 2
    return threshold
