"""Words, rules, templates and polishing, on small examples."""

import pytest

from isogloss.errors import IsoglossError
from isogloss.grammar.schema import parse
from isogloss.grammar.templates import (
    GrammarError,
    Join,
    Rewrite,
    TemplateWriter,
    Word,
    compiled,
    polisher,
    slots,
    with_degree,
)

# Turkish accusative: buffer y after vowels, four-fold harmony.
ACCUSATIVE = Rewrite(
    "acc",
    (
        ("([aı])$", r"\1yı"),
        ("([ei])$", r"\1yi"),
        ("([ou])$", r"\1yu"),
        ("([öü])$", r"\1yü"),
        ("([aı][^aeıioöuü]+)$", r"\1ı"),
        ("([ei][^aeıioöuü]+)$", r"\1i"),
        ("([ou][^aeıioöuü]+)$", r"\1u"),
        ("([öü][^aeıioöuü]+)$", r"\1ü"),
    ),
)


@pytest.mark.parametrize(
    ("word", "accusative"),
    [
        ("kedi", "kediyi"),
        ("at", "atı"),
        ("koyun", "koyunu"),
        ("otobüs", "otobüsü"),
        ("araba", "arabayı"),
        ("köpek", "köpeki"),
    ],
)
def test_vowel_harmony_is_a_list_of_steps(word: str, accusative: str) -> None:
    assert ACCUSATIVE(word) == accusative


def test_listed_form_wins_over_the_rule() -> None:
    dog = Word("dog", "köpek", {"acc": "köpeği"})
    assert dog.form("acc", "", {"acc": ACCUSATIVE}) == "köpeği"
    assert Word("cat", "kedi", {}).form("acc", "", {"acc": ACCUSATIVE}) == "kediyi"


def test_word_without_matching_rule_or_form_has_a_fix() -> None:
    with pytest.raises(GrammarError, match=r"rule 'acc' has no step for 'xyz'"):
        ACCUSATIVE("xyz")
    with pytest.raises(GrammarError, match=r"'dog' has no form 'gen'.*\[rules\.gen\]"):
        Word("dog", "dog", {}).form("gen", "", {})


RED = Word("red", "rot", {"acc.m": "roten", "acc": "rote", "m": "roter", "f": "rote"})


@pytest.mark.parametrize(
    ("form", "agree", "made"),
    [
        ("", "", "rot"),
        ("", "m", "roter"),
        ("", "f", "rote"),
        ("", "n", "rot"),
        ("acc", "m", "roten"),
        ("acc", "f", "rote"),
    ],
)
def test_agreement_prefers_the_most_specific_form(form: str, agree: str, made: str) -> None:
    assert RED.form(form, agree, {}) == made


@pytest.mark.parametrize(
    ("predicate", "degree", "made"),
    [
        ("est ~ fatigué", "très", "est très fatigué"),
        ("est ~ fatigué", "", "est fatigué"),
        ("~疲れている", "とても", "とても疲れている"),
        ("~疲れている", "", "疲れている"),
        ("é cansado ~", "", "é cansado"),
        ("müde", "", "müde"),
    ],
)
def test_degree_words_have_a_position(predicate: str, degree: str, made: str) -> None:
    assert with_degree(predicate, degree) == made


def test_degree_word_without_position_is_an_error() -> None:
    with pytest.raises(GrammarError, match="no position for a degree word"):
        with_degree("müde", "sehr")


def test_every_kind_of_slot() -> None:
    fillers = {
        "a": Word("f1", "Ana", {}, "f"),
        "noun": Word("cat", "gata", {}, "f"),
        "red": Word("red", "rojo", {"f": "roja"}),
        "state": Word("tired", "está ~ cansado", {"f": "está ~ cansada"}),
        "very": Word("very", "muy", {}),
        "adj": ("older", "old"),
        "animal": Word("dog", "kedi", {}),
    }
    template = "{a} {state@a+very}: {noun} {red@noun}, {adj[1]}, {animal.acc}, {state@a+'más'}"
    made = TemplateWriter({"acc": ACCUSATIVE}).say(template, fillers)
    assert made == "Ana está muy cansada: gata roja, old, kediyi, está más cansada"
    assert slots("{a} {state@b+very} {x.acc} {y+'mas'}") == {"a", "state", "b", "very", "x", "y"}


@pytest.mark.parametrize("template", ["{", "a}", "{A}", "{a b}", "{a@}", "{a+}", "{}"])
def test_braces_that_are_not_slots_are_errors(template: str) -> None:
    with pytest.raises(GrammarError, match="not a slot"):
        compiled(template)


def test_contractions_and_capitals() -> None:
    joins = [Join(r"\bde le ", "du ", []), Join(r"\bque (?=[AEIOUaeiou])", "qu'", [])]
    polish = polisher(joins, True, {}, [])
    assert polish("elle est plus grande que Alice. le chat de le roi dort ? oui.") == (
        "Elle est plus grande qu'Alice. Le chat du roi dort ? Oui."
    )
    assert polish("¿quién es? «ella».") == "¿Quién es? «Ella»."


def test_language_specific_capitals() -> None:
    assert polisher([], True, {"i": "İ"}, [])("istanbul büyük. ilk.") == "İstanbul büyük. İlk."
    assert polisher([], True, {}, ["'n "])("'n hond slaap. 'n kat eet.") == "'n Hond slaap. 'n Kat eet."
    assert polisher([], False, {}, [])("აბგ. დე") == "აბგ. დე"


def test_mistakes_are_reported_with_their_lines() -> None:
    from importlib.resources import files

    text = (files("isogloss.grammar") / "languages" / "en.toml").read_text(encoding="utf-8")
    lines = text.splitlines()

    def refused(old: str, new: str) -> str:
        assert old in text
        with pytest.raises(IsoglossError) as error:
            parse(text.replace(old, new, 1), "en.toml")
        return str(error.value)

    number = next(i for i, line in enumerate(lines, 1) if line.startswith("tired = "))
    assert f"en.toml:{number}: unknown concept 'tird', did you mean 'tired'?" in refused(
        'tired = "tired"', 'tird = "tired"'
    )
    assert "[state] lacks 'tired'" in refused('tired = "tired"', 'tird = "tired"')
    assert "also the word for 'tired'" in refused('hungry = "hungry"', 'hungry = "tired"')
    assert "letters of another script: 'щ'" in refused('hungry = "hungry"', 'hungry = "hunщry"')
    assert "unknown slot 'nme'" in refused("{a} is {adjective.more@a} than {b}.", "{nme} is {adjective.more}.")
    assert "0 contexts and 2 questions instead of 1 and 2" in refused(
        'contexts = ["{a} is {adjective.more@a} than {b}."]', "contexts = []"
    )
    assert "name 'John' is empty or duplicate" in refused('"James", "John"', '"John", "John"')
    assert "not TOML" in refused("[state]", "[state")
    assert "object" in refused("[object]", "[objects]")
    assert 'must be "unreviewed" or "reviewed by' in refused('comparisons = "unreviewed"', 'comparisons = "fine"')
