"""Detokenisation: one example per rule, and exact offsets for any tokens."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from isogloss.data import files
from isogloss.data.detokenize import UNSEGMENTED, join


@pytest.mark.parametrize(
    ("language", "tokens", "text"),
    [
        ("en", "Hello , world !", "Hello, world!"),
        ("en", "Ann ( born 1900 ) [ 1 ] { x }", "Ann (born 1900) [1] {x}"),
        ("en", "a : b ; c ? d . e ...", "a: b; c? d. e..."),
        ("en", "10 % of it )) .", "10% of it))."),
        ("en", "he said “ yes ” , ‘ no ’", "he said “yes”, ‘no’"),
        ("es", "¿ Qué ? ¡ Sí !", "¿Qué? ¡Sí!"),
        ("fr", "« Oui » , dit-il", "«Oui», dit-il"),
        ("ar", "نعم ، لا ؛ لماذا ؟ 5 ٪", "نعم، لا؛ لماذا؟ 5٪"),
        ("ur", "ہاں ۔", "ہاں۔"),
        ("hi", "हाँ । नहीं ॥", "हाँ। नहीं॥"),
        ("my", "ဟုတ် ၊ ကဲ ။", "ဟုတ်၊ ကဲ။"),
        ("ko", "그 《 책 》 。", "그 《책》。"),
        # Wiki quotes alternate, each kind separately; backquotes always open.
        ("en", "the '' Iliad '' and '' Odyssey ''", "the ''Iliad'' and ''Odyssey''"),
        ("en", "' '' Ann '' ' was", "'''Ann''' was"),
        ("en", 'a " b " c', 'a "b" c'),
        ("he", "x `` y '' z", "x ``y'' z"),
        ("en", "x ` y ' z", "x `y' z"),
        ("en", "`` a `` b '' c '' d", "``a ``b'' c ''d"),
        # English clitics join in any language; other apostrophes, hyphens and dashes do nothing.
        ("en", "Ann 's dog does n't , we 'll", "Ann's dog doesn't, we'll"),
        ("it", "Ann ’s dog", "Ann’s dog"),
        ("af", "dit is 'n hond", "dit is 'n hond"),
        ("fr", "l' eau d'Ann", "l' eau d'Ann"),
        ("en", "a - b – c well-known / -1", "a - b – c well-known / -1"),
        # Only a token that is all punctuation joins.
        ("en", "Game]] , .com a", "Game]], .com a"),
        # One character per token: no spaces, except between words of Latin letters or digits.
        ("zh", "我 在 2 0 1 3 年 ， （ A B ）", "我在2013年，（AB）"),
        ("ja", "A B C None D 語 None 2 0", "ABC None D語None 20"),
        ("th", "ก ั น abc 12 ข É t é", "กันabc 12ขÉté"),
        ("th", "été Été", "été Été"),
        ("ko", "대 한 A B", "대 한 A B"),
    ],
)
def test_rules(language: str, tokens: str, text: str) -> None:
    joined, offsets = join(tokens.split(), language)
    assert joined == text
    assert [joined[start:end] for start, end in offsets] == tokens.split()


def test_empty_tokens_leave_no_trace() -> None:
    assert join(["", "a", "", "b", "", ",", ""], "en") == (
        "a b,",
        [(0, 0), (0, 1), (1, 1), (2, 3), (3, 3), (3, 4), (4, 4)],
    )
    assert join(["ab", "", "cd"], "zh") == ("ab cd", [(0, 2), (2, 2), (3, 5)])
    assert join(["(", "", "a"], "en")[0] == "(a"
    assert join([], "en") == ("", [])


TOKENS = st.lists(
    st.one_of(
        st.text(max_size=4),
        st.sampled_from([",", "(", "''", "``", "'", '"', "'s", "«", "»", "a", "é1", "語", "。"]),
    ),
    max_size=12,
)


@given(TOKENS, st.sampled_from(["en", "ar", "zh", "ja", "th"]))
def test_offsets_are_exact_and_only_single_spaces_are_added(tokens: list[str], language: str) -> None:
    text, offsets = join(tokens, language)
    assert [text[start:end] for start, end in offsets] == tokens
    ends = [0, *(end for _, end in offsets)]
    gaps = [text[end:start] for end, (start, _) in zip(ends, offsets, strict=False)]
    assert set(gaps) <= {"", " "}
    assert "".join(gap + token for gap, token in zip(gaps, tokens, strict=True)) == text
    assert join(tokens, language) == (text, offsets)


@pytest.mark.parametrize("language", ["en", "he", "ja", "ko", "th", "zh"])
def test_real_sentences(language: str, data_dir: Path) -> None:
    [path] = files.find_all(data_dir / "panx", f"test-{language}.tsv")
    for block in files.read_text(path).strip("\n").split("\n\n"):
        tokens = block.split("\n")
        text, offsets = join(tokens, language)
        assert [text[start:end] for start, end in offsets] == tokens
        spaces = text.count(" ")
        assert spaces < len(tokens)
        if language in UNSEGMENTED and "None" not in tokens:
            assert spaces == 0
