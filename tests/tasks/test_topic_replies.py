"""Topics in free-text replies: made-up sentences for every rule, and real replies judged by hand."""

import csv
from collections import Counter
from hashlib import sha256
from pathlib import Path

import pytest

from isogloss.reply_outcomes import Outcome
from isogloss.tasks.kinds import Reading, Reply, kind_of
from isogloss.tasks.registry import task as find_task
from isogloss.tasks.task import Task
from test_answer_shapes import calls

SCIENCE = "science/technology"
TOPICS = (SCIENCE, "travel", "politics", "sports", "health", "entertainment", "geography")


def topics() -> Task:
    return find_task("sib200")


def read(*texts: str, language: str = "en", **facts: bool) -> list[Reading]:
    task = topics()
    return kind_of(task).read_replies(task, language, [Reply(text, **facts) for text in texts], {})


STRICT, TOLERANT = Outcome.STRICT, Outcome.TOLERANT


@pytest.mark.parametrize(
    ("text", "topic", "outcome"),
    [
        # The answer and nothing else.
        ("sports", "sports", STRICT),
        ("Sports.", "sports", STRICT),
        (' "Science/Technology" ', SCIENCE, STRICT),
        ("**Politics**", "politics", STRICT),
        ("Science and technology", SCIENCE, STRICT),
        # Frames.
        ("The article belongs to the category of health.", "health", TOLERANT),
        ("I would file this under geography.", "geography", TOLERANT),
        ("The main topic is sport.", "sports", TOLERANT),
        ("Category: Travel", "travel", TOLERANT),
        ("That could be classified as politics.", "politics", TOLERANT),
        ("It would most likely fall under Politics.", "politics", TOLERANT),
        ("The best fit for the text is health.", "health", TOLERANT),
        ("I'd go with sports.", "sports", TOLERANT),
        ("Health, because it describes a vaccine.", "health", TOLERANT),
        ('<think>"sports" or "health"?</think>It is about "health".', "health", TOLERANT),
        ("This report concerns the travel industry.", "travel", TOLERANT),
        ("Both paragraphs deal with science & technology.", SCIENCE, TOLERANT),
        # Explanations may name other topics.
        ("It is about sports, as it mentions the health of a goalkeeper.", "sports", TOLERANT),
        ("This is related to politics. It discusses a travel ban and its costs.", "politics", TOLERANT),
        ("The text is about a new telescope, which falls under science/technology.", SCIENCE, TOLERANT),
        ("The item seems to be about health (a study on travel and sleep).", "health", TOLERANT),
        # Apologies and caveats do not take an answer back.
        ("Sorry, the text is not in English, but it seems to be about sports.", "sports", TOLERANT),
        ("I am unable to translate all of it. Still, the article is about politics.", "politics", TOLERANT),
        ("It appears to be related to travel. However, it is hard to be certain.", "travel", TOLERANT),
        # Other topics that are denied.
        ("It is about sports, not politics.", "sports", TOLERANT),
        ('This is "health" rather than "travel".', "health", TOLERANT),
        ("The text is neither about sports nor politics; it is about health.", "health", TOLERANT),
        # Something else beside the topic, asserted as well.
        ("The piece is about politics and history.", "politics", TOLERANT),
        ("This is about travel or tourism.", "travel", TOLERANT),
        ("It is about science or technology.", SCIENCE, TOLERANT),
        # Marked answers count alone.
        ("It mentions travel and sports and might be either.\nFinal answer: health", "health", TOLERANT),
        ("None of the categories fits well. Answer: geography", "geography", TOLERANT),
        ('{"topic": "sports"}', "sports", TOLERANT),
    ],
)
def test_topics_are_read(text: str, topic: str, outcome: Outcome) -> None:
    assert read(text) == [Reading(topic, outcome)]


@pytest.mark.parametrize(
    "text",
    [
        "sports and travel",
        "Sports, health",
        "Politics or geography.",
        'The article can be put under "Health" and "Politics".',
        "It is about sports and possibly travel.",
        "It is about travel. It could also be categorized under geography.",
        "This concerns politics, but it also touches on health.",
        "It is not only about sports but also about politics.",
        "The report is about health, education, sports and music.",
        'It falls under "sports" as it reports a match, and "health" as it describes an injury.',
        "politics\nhealth",
        "Answer: sports\nAnswer: travel",
        "It might be about politics or geography.",
    ],
)
def test_several_topics(text: str) -> None:
    assert read(text) == [Reading(None, Outcome.SEVERAL)]


@pytest.mark.parametrize(
    "text",
    [
        "None of these.",
        "None of the categories applies: it is a recipe.",
        "The text does not fit into any of the given categories.",
        "It isn't related to any of the listed topics.",
        "This is not a news item about science/technology, travel, politics, sports, health, or geography.",
        "I'm sorry, but the sentence doesn't belong to any of the options (science, travel, politics, sports, health).",
        "It is about cooking rather than any of the categories you mentioned.",
        "This would be entertainment. However, it does not fall under any of the categories in your list.",
        "Answer: none of the above",
    ],
)
def test_no_topic_fits(text: str) -> None:
    assert read(text) == [Reading(None, Outcome.NONE)]


@pytest.mark.parametrize(
    "text",
    [
        "I'm sorry, but I can't read Amharic.",
        "I do not understand this language. Please send an English version.",
        "As an AI, I only work with English texts.",
        "It is difficult to determine the topic of the text.",
        "The text lacks the context needed to decide.",
        "It is not clear which of the categories applies.",
        "I am unable to classify it as science/technology, travel, politics, sports, health or geography.",
        "There is not enough information to say whether it is about sports.",
        "It's hard to tell, but it might be about health.",
        "The words suggest it may be related to sports; more context is needed.",
        "Which language is this? Could you please provide a translation so that I can put it under sports or health?",
        "Sorry, it could be categorized under sports, but it is hard to say.",
        "Lo siento, no puedo clasificar este texto.",
        "对不起，我无法回答。",
    ],
)
def test_refusals(text: str) -> None:
    assert read(text) == [Reading(None, Outcome.REFUSAL)]


@pytest.mark.parametrize(
    "text",
    [
        "The text is about a famine.",
        "It is possibly sports.",
        "Perhaps travel?",
        "Is it about sports?",
        "It is about weather or geography.",  # one of two, and only one is a topic
        "not sports",
        "The article is about travel agencies.",  # part of another noun
        "It mentions a minister for health.",
        "It is a travel-related text.",
        "It is about various things such as food, travel, and music.",
        "If it reported a result, it would be about sports.",
        "The options are science/technology, travel, politics, sports, health and geography.",
        "sportswear",
        "The text is a mix of science (a probe), travel (a trip), and music (a song).",
        "It has no reference to sports.",
        "The report shows how politics shaped the city.",
        "1. Science/technology\n2. Travel\n3. Politics\n4. Sports\n5. Health",
    ],
)
def test_nothing_is_guessed(text: str) -> None:
    assert read(text) == [Reading(None, Outcome.UNPARSED)]


def test_reasons_outside_the_text() -> None:
    assert read("", "  \n") == [Reading(None, Outcome.EMPTY)] * 2
    assert read("The topic of this te", cut=True) == [Reading(None, Outcome.CUT)]
    assert read("", cut=True) == [Reading(None, Outcome.CUT)]
    assert read("", filtered=True) == [Reading(None, Outcome.FILTERED)]
    assert read("sports", cut=True, filtered=True) == [Reading("sports", STRICT)]


def test_other_languages() -> None:
    task = topics()
    spellings = {"deporte": "sports", "política": "politics", "体育": "sports", "政治": "politics", "खेल": "sports"}

    def topic(text: str, language: str) -> object:
        return kind_of(task).read_replies(task, language, [Reply(text)], spellings)[0].answer

    assert topic("Deporte.", "es") == "sports"
    assert topic("El tema es el deporte.", "es") == "sports"
    assert topic("No es deporte.", "es") is None
    assert topic("Deporte y política", "es") is None
    assert topic("这条新闻属于体育类。", "zh") == "sports"
    assert topic("这不是体育新闻。", "zh") is None
    assert topic("यह खबर खेल से संबंधित है।", "hi") == "sports"
    assert topic("यह खाल है।", "hi") is None  # vowel signs tell words apart
    # The negations of this language are not known, so a label in the middle of a sentence may be denied.
    assert topic('ບໍ່ແມ່ນ "sports" ດອກ', "lo") is None
    assert topic("Ñuqaqa akllani: sports", "qxx") == "sports"
    assert topic("Akllana: travel, politics, sports, health, y geography.", "qxx") is None


@pytest.mark.parametrize(
    "piece",
    [
        "sports ", "sports and ", "sports or the ", "related to the ", "about sports, ", "not ", "it is about sports. ",
        '"sports" ', "as it ", "(", "(sports) ", "the category of ", "science ", "science/", "I'm sorry ",
        "not x any of ", "difficult ", "体育", "any of the ", "Answer: sports ", "might be sports, it ", "\n- sports",
    ],
)  # fmt: skip
def test_effort_grows_with_the_text_and_no_faster(piece: str) -> None:
    """Count operations on hostile replies of two sizes; quadratic effort would grow sixteenfold."""
    small, large = piece * 500, piece * 2_000
    read(small)  # fills caches
    assert calls(lambda: read(large)) <= 4.5 * calls(lambda: read(small)) + 200


JUDGED = Path(__file__).with_name("judged_topics.tsv")


def test_real_topics_agree_with_human_judgements(data_dir: Path) -> None:
    """Compare 200 replies of GPT-4 and GPT-3.5 on SIB-200, of which a half are of difficult form."""
    folder = data_dir / "sib200" / "llm"
    if not folder.exists():
        pytest.skip("needs the published answers")
    with JUDGED.open(encoding="utf-8", newline="") as file:
        judged = list(csv.DictReader(file, delimiter="\t"))
    assert len(judged) == 200
    assert len({row["language"] for row in judged}) == 103
    agree, wrong = 0, []
    for row in judged:
        with (folder / row["model"] / f"{row['language']}.tsv").open(encoding="utf-8", newline="") as file:
            text = list(csv.reader(file, delimiter="\t"))[1:][int(row["row"])][-1]
        assert sha256(text.encode()).hexdigest().startswith(row["sha256"])
        (answer, outcome), judgement = read(text)[0], row["judgement"]
        agree += (answer or str(outcome)) == judgement
        if answer not in (None, judgement):
            wrong.append(row)
    assert not wrong
    assert agree / len(judged) >= 0.99


@pytest.mark.parametrize(
    ("model", "least"),
    [
        ("gpt4", {"read": 46.0, "several": 7.0, "none": 4.2, "refusal": 40.0}),
        ("gpt3.5", {"read": 48.0, "several": 3.0, "none": 4.2, "refusal": 38.5}),
    ],
)
def test_shares_of_real_outcomes(data_dir: Path, model: str, least: dict[str, float]) -> None:
    folder = data_dir / "sib200" / "llm" / model
    if not folder.exists():
        pytest.skip("needs the published answers")
    counts: Counter[str] = Counter()
    for path in sorted(folder.glob("*.tsv")):
        with path.open(encoding="utf-8", newline="") as file:
            texts = [row[-1] for row in csv.reader(file, delimiter="\t")][1:]
        counts.update("read" if reading.answer else str(reading.outcome) for reading in read(*texts))
    shares = {outcome: 100 * count / counts.total() for outcome, count in counts.items()}
    assert all(share <= shares[outcome] <= share + 2 for outcome, share in least.items()), shares
    assert shares["unparsed"] < 4
