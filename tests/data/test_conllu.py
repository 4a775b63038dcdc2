"""CoNLL-U: handwritten sentences for every rule, random ones for the offsets."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from isogloss.data.conllu import Sentence, sentences, tagged_words
from isogloss.errors import DataError


def row(number: object, form: str, upos: str = "X", head: object = "_", deps: str = "_", misc: str = "_") -> str:
    return "\t".join((str(number), form, "_", upos, "_", "_", str(head), "_", deps, misc))


def fused_tag(language: str, *parts: str) -> str:
    """Return the tag of words 1-n fused into one; a part is `UPOS head` or `UPOS head enhanced`.

    The root of the sentence is the word after the parts; `r` is its id, so that a head can name it.
    """
    last = len(parts)
    rows = [row(f"1-{last}", "fused")]
    for number, part in enumerate(parts, 1):
        upos, *heads = part.replace("r", str(last + 1)).split()
        rows.append(row(number, "part", upos, *heads))
    rows.append(row(last + 1, "root", "VERB", 0))
    [[(word, tag), root]] = tagged_words(rows, language)
    assert (word, root) == ("fused", ("root", "VERB"))
    return tag


# Tags of fused tokens ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("language", "parts", "tag"),
    [
        # The part closest to the root wins, regardless of its tag.
        ("he", ("ADP 3", "DET 3", "NOUN r"), "NOUN"),
        ("he", ("SCONJ r", "VERB 1"), "SCONJ"),
        ("he", ("NOUN r", "ADP 3", "PRON 1"), "NOUN"),
        ("tr", ("NOUN r", "AUX 1"), "NOUN"),
        ("tr", ("VERB 2", "X r"), "X"),
        ("fa", ("NOUN 2", "AUX r"), "AUX"),
        ("pt", ("VERB r", "PRON 1"), "VERB"),
        ("es", ("NOUN r", "PRON 1"), "NOUN"),
        ("es", ("PRON 2", "SYM r"), "SYM"),
        # Equally close: the precedence list of the language decides, not the order of the parts.
        ("pt", ("ADP r", "DET r"), "ADP"),
        ("pt", ("DET r", "ADP r"), "ADP"),
        ("pt", ("ADP r", "NUM r"), "NUM"),
        ("fa", ("ADJ r", "PRON r"), "PRON"),
        ("tr", ("ADP r", "AUX r"), "AUX"),
        ("he", ("SCONJ r", "ADP 3", "PRON r"), "PRON"),
        ("he", ("SCONJ r", "CCONJ r"), "CCONJ"),
        ("he", ("ADV r", "NUM r"), "NUM"),
        ("it", ("PRON r", "ADV r"), "ADV"),
        ("en", ("PRON r", "ADV r"), "PRON"),
        ("fr", ("NOUN r", "PRON r"), "PRON"),
        ("en", ("NOUN r", "PRON r"), "NOUN"),
        ("es", ("PRON r", "AUX r"), "AUX"),
        ("en", ("PRON r", "AUX r"), "PRON"),
        ("it", ("INTJ r", "DET r"), "DET"),
        ("en", ("INTJ r", "DET r"), "INTJ"),
        # A tag outside the list of the language ranks after it, by the default list ...
        ("es", ("NOUN r", "PRON r"), "PRON"),
        ("es", ("ADJ r", "NOUN r"), "NOUN"),
        ("it", ("NUM r", "NOUN r"), "NOUN"),
        ("fr", ("INTJ r", "CONJ r"), "CONJ"),
        # ... and a tag outside both ranks last; remaining ties go to the first part.
        ("en", ("SYM r", "PUNCT r"), "PUNCT"),
        ("es", ("SYM r", "DET r"), "DET"),
        ("tr", ("SYM r", "_ r"), "SYM"),
        ("tr", ("_ r", "SYM r"), "_"),
    ],
)
def test_tag_of_fused_token(language: str, parts: tuple[str, ...], tag: str) -> None:
    assert fused_tag(language, *parts) == tag


@pytest.mark.parametrize(
    ("parts", "tag"),
    [
        # By basic heads only, both depend on the root word: DET and ADP have the ancestors {0, r}.
        (("DET r r:det", "ADP r r:case"), "ADP"),
        # An enhanced edge from another word adds an ancestor to ADP.
        (("DET r", "ADP r r:case|1:x"), "DET"),
        # Edges from existing ancestors and from empty nodes change nothing.
        (("DET r", "ADP r 0:x|r:case"), "ADP"),
        (("DET r", "ADP r 1.1:x|r:case"), "ADP"),
        # Ancestors are a union over all paths: NOUN has {r, 0} and {3, r, 0}, three; ADP has {r, 0}.
        (("NOUN r r:obj|3:obl", "PART 3", "ADP r"), "ADP"),
        # Subtypes and lemmas in the relation are not heads.
        (("DET r r:obl:3", "ADP r r:case:in|r:x"), "ADP"),
    ],
)
def test_enhanced_edges_count(parts: tuple[str, ...], tag: str) -> None:
    assert fused_tag("he", *parts) == tag


def test_cycles_end() -> None:
    # 1 and 2 are each other's only heads: one ancestor each, so the list decides.
    assert fused_tag("tr", "AUX 2", "NOUN 1") == "NOUN"
    # 2 is its own ancestor, which does not count: {r, 0} for both.
    assert fused_tag("tr", "AUX r", "NOUN r 2:x") == fused_tag("tr", "NOUN r", "AUX r 2:x") == "NOUN"
    # 2 and 3 are each other's heads: {r, 0, 3} and {r, 0, 2}; 1 depends on both: {r, 0, 2, 3}.
    assert fused_tag("tr", "NOUN r r:obj|3:obl", "PART r r:x|3:y", "X 2") == "PART"


def test_several_fused_tokens_in_one_sentence() -> None:
    lines = [
        row(1, "a", "VERB", 0),
        row("2-3", "bc"),
        row(2, "b", "ADP", 3),
        row(3, "c", "PRON", 1),
        row("3.1", "empty", "VERB"),
        row("4-6", "def"),
        row(4, "d", "DET", 1),
        row(5, "e", "NOUN", 1),
        row(6, "f", "PUNCT", 5),
        row(7, "g", "PUNCT", 1),
    ]
    assert tagged_words(lines, "tr") == [[("a", "VERB"), ("bc", "PRON"), ("def", "NOUN"), ("g", "PUNCT")]]


# Dropped, cleaned and rejected input -----------------------------------------------------------------------


def test_sentences_end_at_blank_lines_or_the_end() -> None:
    lines = ["# c", "\n", row(1, "a") + "\r\n", "\r\n", "\n", "# c\n", row(1, "b") + "\n", row(2, "c") + "\n"]
    assert tagged_words(lines, "en") == [[("a", "X")], [("b", "X"), ("c", "X")]]
    assert tagged_words([], "en") == []


def test_empty_nodes_and_comments_are_dropped() -> None:
    tabs = "# a comment\twith\tnine\ttabs" + "\t." * 6
    lines = [tabs, row("0.1", "e"), row(1, "a", "NOUN"), "# here too", row("1.1", "e"), row(2, "b", "VERB")]
    assert tagged_words(lines, "en") == [[("a", "NOUN"), ("b", "VERB")]]


@pytest.mark.parametrize(
    ("forms", "kept"),
    [("_", False), ("_ _ _", False), ("_ a _", False), ("_ a", False), ("a", True), ("_ a b", True)],
)
def test_sentences_without_their_text_are_dropped(forms: str, kept: bool) -> None:
    lines = [row(number, form) for number, form in enumerate(forms.split(), 1)]
    assert bool(tagged_words(lines, "en")) is kept


def test_blank_parts_of_a_fused_token_do_not_count() -> None:
    lines = [row("1-3", "abc"), row(1, "_", "NOUN", 0), row(2, "_", "ADP", 1), row(3, "_", "ADP", 1)]
    assert tagged_words(lines, "mr") == [[("abc", "NOUN")]]


def test_spaces_and_joiners_leave_the_word_but_not_the_text() -> None:
    lines = [
        "# text = a b، c\u200cd\u00a0e",
        row(1, "a b", misc="SpaceAfter=No"),
        row(2, "،"),
        row(3, "c\u200cd\u00a0e"),
    ]
    [sentence] = sentences(lines, "fa")
    assert sentence.words == ["ab", "،", "cd\u00a0e"]
    assert sentence.forms == ["a b", "،", "c\u200cd\u00a0e"]
    assert (sentence.text, sentence.offsets) == ("a b، c\u200cd\u00a0e", [(0, 3), (3, 4), (5, 10)])


def test_long_sentences_are_read_like_short_ones() -> None:
    lines = [row(number, f"w{number}", "NOUN") for number in range(1, 1001)]
    assert tagged_words(lines, "en") == [[(f"w{number}", "NOUN") for number in range(1, 1001)]]


@pytest.mark.parametrize(
    ("lines", "line", "what"),
    [
        ([row(1, "a"), "2\tb\tc"], 2, "expected 10 columns, got 3"),
        (["# c", row(1, "a") + "\t_"], 2, "expected 10 columns, got 11"),
        ([row(1, "a"), row(3, "b")], 2, "token id 3, expected 2"),
        ([row(1, "a"), "", row(2, "b")], 3, "token id 2, expected 1"),
        ([row(1, "a"), row("x", "b")], 2, "'x' is not a token id"),
        ([row("1-", "a")], 1, "'1-' is not a token id"),
        ([row(1, "a"), row("3-4", "b"), row(2, "c")], 2, "token id 3-4, expected 2"),
        ([row("1-2", "a"), row(1, "b"), row("2-3", "c"), row(2, "d"), row(3, "e")], 3, "overlaps"),
        ([row("1-0", "a"), row(1, "b")], 1, "range 1-0 is empty"),
        ([row("1-3", "a"), row(1, "b"), row(2, "c")], 1, "range 1-3 goes beyond the last word, 2"),
        (["# c", row(1, "a"), row(2, "")], 3, "missing word form"),
        ([row("1-2", "a"), row(1, "b"), row(2, "c"), row(3, "\u200c")], 4, "missing word form"),
    ],
)
def test_damage_is_reported_with_its_line(lines: list[str], line: int, what: str) -> None:
    with pytest.raises(DataError, match=what) as caught:
        tagged_words(lines, "en")
    assert caught.value.where == f"line {line}"
    with pytest.raises(DataError) as caught:
        list(sentences(lines, "en", source="xx.conllu"))
    assert caught.value.where == f"xx.conllu:{line}"


def test_reading_is_lazy() -> None:
    lines = iter([row(1, "a"), "", "broken"])
    assert next(sentences(lines, "en")).words == ["a"]
    assert next(lines) == "broken"


# Text and offsets -------------------------------------------------------------------------------------------


def only(*lines: str) -> Sentence:
    [sentence] = sentences(lines, "en")
    return sentence


def test_text_and_id_come_from_the_comments() -> None:
    sentence = only(
        "# newdoc",
        "# sent_id = s=1",
        "# text_en = other",
        "#text =  Is it ? ",
        row(1, "Is"),
        row(2, "it"),
        row(3, "?"),
    )
    assert (sentence.sent_id, sentence.text) == ("s=1", "Is it ?")
    assert sentence.offsets == [(0, 2), (3, 5), (6, 7)]
    assert not sentence.rebuilt


@pytest.mark.parametrize("text", ["don't go .", "don't  stop", "don't go! Now", "do n't go.", "go.", ""])
def test_text_that_disagrees_is_rebuilt(text: str) -> None:
    fused = (row("1-2", "don't"), row(1, "do", head=3), row(2, "n't", head=3))
    sentence = only(f"# text = {text}", *fused, row(3, "go", misc="Gloss=x|SpaceAfter=No\n"), row(4, "!", misc="_\n"))
    assert sentence.rebuilt
    assert sentence.text == "don't go!"
    assert sentence.offsets == [(0, 5), (6, 8), (8, 9)]


def test_id_and_text_may_be_missing() -> None:
    sentence = only(row(1, "a"), row(2, "b"))
    assert (sentence.sent_id, sentence.text, sentence.offsets) == ("", "a b", [(0, 1), (2, 3)])


FORMS = st.text(st.characters(exclude_categories=["Cs", "Cc", "Zl", "Zp", "Zs"]), min_size=1, max_size=6).filter(
    lambda form: form != "_" and form.strip("\u200c")
)
TOKENS = st.tuples(FORMS, st.sampled_from(["NOUN", "VERB", "SYM"]), st.booleans(), st.integers(1, 3), st.booleans())


@given(st.lists(st.lists(TOKENS, min_size=1, max_size=8), max_size=4), st.booleans())
def test_random_sentences_round_trip(drawn: list[list[tuple[str, str, bool, int, bool]]], with_text: bool) -> None:
    lines = []
    texts = []
    for tokens in drawn:
        text = "".join(form + " " * spaced for form, _, spaced, _, _ in tokens).rstrip(" ")
        texts.append(text)
        lines += [f"# text = {text}"] * with_text
        number = 1
        for form, tag, spaced, parts, empty in tokens:
            misc = "_" if spaced else "SpaceAfter=No"
            if parts > 1:
                lines.append(row(f"{number}-{number + parts - 1}", form, misc=misc))
                lines += [
                    row(number, "p", tag, 0),
                    *(row(number + n, "p", "X", number) for n in range(1, parts)),
                ]
            else:
                lines.append(row(number, form, tag, 0, misc=misc))
            number += parts
            lines += [row(f"{number - 1}.1", "e", "VERB")] * empty
        lines.append("")
    read = list(sentences(lines, "en"))
    assert [s.forms for s in read] == [[token[0] for token in tokens] for tokens in drawn]
    assert [s.words for s in read] == [[token[0].replace("\u200c", "") for token in tokens] for tokens in drawn]
    assert [s.tags for s in read] == [[token[1] for token in tokens] for tokens in drawn]
    assert [s.text for s in read] == texts
    for sentence in read:
        assert [sentence.text[start:end] for start, end in sentence.offsets] == sentence.forms
        assert sentence.rebuilt is not with_text


def fused_over(heads: list[str], deps: list[str] | None = None) -> list[str]:
    """Return a sentence with one fused token; each part has its own tag."""
    extra = deps or ["_"] * len(heads)
    rows = [f"1-{len(heads)}\tall" + "\t_" * 8]
    rows += [
        f"{place}\tw\t_\tT{place}\t_\t_\t{head}\tx\t{dep}\t_"
        for place, (head, dep) in enumerate(zip(heads, extra, strict=True), 1)
    ]
    return [*rows, ""]


@pytest.mark.parametrize("shape", ["chain", "ring", "ladder"])
def test_long_fused_token_takes_linear_time(shape: str) -> None:
    """Walking up from each of 20,000 words would take minutes."""
    n = 20_000
    heads = {
        "chain": [*range(2, n + 1), 0],  # the last is closest to the root
        "ring": [*range(2, n + 1), 1],  # all are equally far, so the first wins
        "ladder": list(range(n)),
    }[shape]
    deps = [f"{max(0, place - 1)}:x|{place // 2}:y" for place in range(n)] if shape == "ladder" else None
    found = tagged_words(fused_over([str(head) for head in heads], deps), "en")
    assert found == [[("all", f"T{n if shape == 'chain' else 1}")]]


def test_longer_sentence_is_refused() -> None:
    with pytest.raises(DataError, match="a sentence of more than 20,000 words"):
        tagged_words(fused_over(["0"] * 20_001), "en")


@given(st.lists(st.lists(st.integers(0, 8), max_size=3), min_size=1, max_size=8))
def test_part_with_fewest_ancestors_gives_the_tag(graph: list[list[int]]) -> None:
    """Compare with a walk up from every part, on graphs with cycles, loops, and heads that are not words."""

    def ancestors(start: int) -> int:
        seen, waiting = {start}, [start]
        while waiting:
            place = waiting.pop()
            heads = [head for head in (graph[place - 1] if place else []) if head <= len(graph)]
            waiting += [head for head in heads if head not in seen]
            seen.update(heads)
        return len(seen) - 1

    counts = [ancestors(place) for place in range(1, len(graph) + 1)]
    deps = ["|".join(f"{head}:x" for head in heads) or "_" for heads in graph]
    assert tagged_words(fused_over(["_"] * len(graph), deps), "en") == [[("all", f"T{counts.index(min(counts)) + 1}")]]


def test_numbers_of_thousands_of_digits() -> None:
    digits = "9" * 5_000
    assert tagged_words(fused_over([digits, "0"], ["_", f"{digits}:x"]), "en") == [[("all", "T1")]]
    with pytest.raises(DataError, match="is not a token id"):
        tagged_words([f"1-{digits}\tx" + "\t_" * 8, ""], "en")
