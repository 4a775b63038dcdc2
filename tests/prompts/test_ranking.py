"""Orders of candidates: replies in many shapes, and the prompt that asks for one."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from isogloss.endpoints.replies import ModelReply
from isogloss.prompts.formats.base import PromptReply
from isogloss.prompts.formats.ranking import Ranking
from isogloss.prompts.literals import literals
from isogloss.prompts.render import NotPromptedError, Prompts, not_prompted
from isogloss.prompts.settings import PromptSettings
from isogloss.reply_outcomes import Outcome
from isogloss.tasks import task

FOUR = {"text": "sea", "candidates": ["la mer", "le sel", "le ciel", "la terre"]}
KEPT = None


def read(text: str, *, schema: bool = False, count: int = 4, **state: bool) -> tuple[list[int] | None, Outcome]:
    row = {"candidates": [f"text {number}" for number in range(count)]}
    [reading] = Ranking("en", literals("en"), schema=schema).read([row], [PromptReply(text, **state)])
    return reading.answer, reading.outcome


@pytest.mark.parametrize(
    ("text", "order", "outcome"),
    [
        ("3, 1, 2, 4", [2, 0, 1, 3], Outcome.STRICT),
        (" 3,1,2,4.\n", [2, 0, 1, 3], Outcome.STRICT),
        ("３、１、２、４", [2, 0, 1, 3], Outcome.STRICT),
        ("٣، ١، ٢، ٤", [2, 0, 1, 3], Outcome.STRICT),
        ("<think>2 or 3?</think>3, 1, 2, 4", [2, 0, 1, 3], Outcome.STRICT),
        # Missing ones follow in their order.
        ("4, 2", [3, 1, 0, 2], Outcome.TOLERANT),
        ("3, 1, 2", [2, 0, 1, 3], Outcome.TOLERANT),
        ("4", [3, 0, 1, 2], Outcome.PARTIAL),
        # Repeated and unknown numbers.
        ("3, 3, 1, 2, 4", [2, 0, 1, 3], Outcome.TOLERANT),
        ("3, 9, 1, 2, 4, 0", [2, 0, 1, 3], Outcome.TOLERANT),
        ("9, 3", [2, 0, 1, 3], Outcome.PARTIAL),
        # Other shapes.
        ("[3] > [1] > [2] > [4]", [2, 0, 1, 3], Outcome.TOLERANT),
        ("[3, 1, 2, 4]", [2, 0, 1, 3], Outcome.TOLERANT),
        ("3 1 2 4", [2, 0, 1, 3], Outcome.TOLERANT),
        ("Answer: 3, 1, 2, 4", [2, 0, 1, 3], Outcome.TOLERANT),
        ("The order of the 4 candidates is **3, 1, 2, 4**, since 3 is a translation.", [2, 0, 1, 3], Outcome.TOLERANT),
        ("Candidate 3, Candidate 1, Candidate 2, Candidate 4", [2, 0, 1, 3], Outcome.TOLERANT),
        ("First I thought of 1, 2, 3, 4. Better: 3, 1, 2, 4", [2, 0, 1, 3], Outcome.TOLERANT),
        ('{"answer": [3, 1, 2, 4]}', [2, 0, 1, 3], Outcome.TOLERANT),
        ("3\n1\n2\n4", [2, 0, 1, 3], Outcome.TOLERANT),
        ("3. text\n1. text\n2. text\n4. text", [2, 0, 1, 3], Outcome.TOLERANT),
        ("1. Candidate 3\n2. Candidate 1\n3. Candidate 2\n4. Candidate 4", [2, 0, 1, 3], Outcome.TOLERANT),
        ("1. 3\n2. 1\n3. 2\n4. 4", [2, 0, 1, 3], Outcome.TOLERANT),
        ("- 3\n- 1\n- 2\n- 4", [2, 0, 1, 3], Outcome.TOLERANT),
        ("1\n2\n3\n4", [0, 1, 2, 3], Outcome.TOLERANT),
        ("The best one is candidate 3.", [2, 0, 1, 3], Outcome.PARTIAL),
        # No order.
        ("1. the sea\n2. the salt\n3. the sky\n4. the earth", KEPT, Outcome.UNPARSED),
        ("Of the 4 candidates, none was read before 2020, or after 3 days.", KEPT, Outcome.UNPARSED),
        ("", KEPT, Outcome.EMPTY),
        ("  \n", KEPT, Outcome.EMPTY),
        ("The sea.", KEPT, Outcome.UNPARSED),
        ("7, 8, 9", KEPT, Outcome.UNPARSED),
        ("I'm sorry, but I cannot rank these 4 candidates.", KEPT, Outcome.REFUSAL),
        ("12345678901234567890", KEPT, Outcome.UNPARSED),
    ],
)
def test_replies(text: str, order: list[int] | None, outcome: Outcome) -> None:
    assert read(text) == (order, outcome)


@pytest.mark.parametrize(
    ("text", "order", "outcome"),
    [
        ('{"answer": [3, 1, 2, 4]}', [2, 0, 1, 3], Outcome.SCHEMA),
        ('{"answer": [3, 1]}', [2, 0, 1, 3], Outcome.TOLERANT),
        ('{"answer": [3]}', [2, 0, 1, 3], Outcome.PARTIAL),
        ('{"answer": ["x", true]}', KEPT, Outcome.UNPARSED),
        ('{"answer": []}', KEPT, Outcome.UNPARSED),
        ("3, 1, 2, 4", [2, 0, 1, 3], Outcome.STRICT),
    ],
)
def test_schema(text: str, order: list[int] | None, outcome: Outcome) -> None:
    assert read(text, schema=True) == (order, outcome)


def test_the_end_of_a_reply_counts() -> None:
    assert read("", cut=True) == (None, Outcome.CUT)
    assert read("3, 1, 2, 4", filtered=True) == (None, Outcome.FILTERED)
    assert read("3, 1", cut=True, count=9) == ([2, 0, 1, 3, 4, 5, 6, 7, 8], Outcome.PARTIAL)


@given(st.permutations(range(12)), st.booleans())
def test_written_orders_are_read_back(order: list[int], schema: bool) -> None:
    row = {"candidates": ["text"] * 12}
    text = Ranking("en", literals("en"), schema=schema).write(row, order)
    assert read(text, schema=schema, count=12) == (order, Outcome.SCHEMA if schema else Outcome.STRICT)


@given(st.text(max_size=60), st.integers(1, 30))
def test_any_reply_gives_every_candidate_once_or_none(text: str, count: int) -> None:
    order, outcome = read(text, count=count)
    assert (order is None) != outcome.is_answer
    assert order is None or sorted(order) == list(range(count))


def ranking_prompts(**settings: object) -> Prompts:
    return Prompts(task("tatoeba"), "fr", PromptSettings(model="m", **settings), reranking=True)  # type: ignore[arg-type]


def test_the_prompt_shows_query_and_candidates() -> None:
    system, user = ranking_prompts().request(FOUR).body["messages"]
    assert system["content"] == (
        "Order the candidates by how well they fit the query, the best first. "
        "Answer with the numbers of the candidates, separated by commas, and nothing else."
    )
    assert user["content"] == "Query: sea\n\nCandidates:\n1. la mer\n2. le sel\n3. le ciel\n4. la terre"


def test_native_words_and_other_wordings() -> None:
    [message] = ranking_prompts(wording="question", prompt_language="native").request(FOUR).body["messages"]
    words = literals("fr")
    lines = message["content"].splitlines()
    assert lines[0] == words.field("query", "sea")
    assert lines[-1] == f"{words.word('asks.rank.question')} {words.word('formats.ranking')}"


def test_a_schema_allows_only_the_numbers_of_candidates() -> None:
    body = ranking_prompts(tags="schema").request(FOUR).body
    schema = body["response_format"]["json_schema"]["schema"]
    assert schema["properties"]["answer"] == {"type": "array", "items": {"type": "integer", "enum": [1, 2, 3, 4]}}
    assert 'key "answer"' in body["messages"][0]["content"]


def test_replies_of_the_server_are_read() -> None:
    [reading] = ranking_prompts().read_rows([FOUR], [ModelReply(text="2, 1, 4, 3")])
    assert reading == ([1, 0, 3, 2], Outcome.STRICT)


def test_rankings_have_prompts_for_reranking_only() -> None:
    assert not_prompted(task("tatoeba")) == "no prompts for the ranking of tatoeba"
    assert not_prompted(task("tatoeba"), reranking=True) == ""
    for name, reranking in [("tatoeba", False), ("xnli", True), ("bucc", True)]:
        with pytest.raises(NotPromptedError, match="no prompts for the"):
            Prompts(task(name), "fr", PromptSettings(model="m"), reranking=reranking)
