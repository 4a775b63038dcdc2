"""Cases are permanent: additions neither renumber nor change them."""

import hashlib
from collections.abc import Iterator
from importlib.resources import files

import msgspec
import pytest

from isogloss.checklist.matching import fair_rule
from isogloss.checklist.shipped import (
    VARIANTS,
    audit_language,
    cases_with_every_answer,
    language_examples,
    shipped_cases,
    suite_cases,
)
from isogloss.checklist.tasks import declared
from isogloss.grammar import file as grammar_file
from isogloss.grammar import schema
from isogloss.grammar.file import CODES, Grammar, grammar
from isogloss.grammar.schema import TESTS, LanguageFile
from isogloss.tasks.loading import load
from isogloss.tasks.registry import CHECKLIST_TASKS, INVARIANCE_TASKS

OTHERS = ("en", "ja", "tr")


def digest(code: str) -> str:
    """Return a hash of all examples of a language, in all variants."""
    asked = [
        (each.id, each.context, each.question, each.accepted, each.sentence)
        for name in VARIANTS
        for each in language_examples(code, name)
    ]
    return hashlib.sha256(msgspec.json.encode(asked)).hexdigest()


@pytest.fixture(scope="module")
def before() -> dict[str, str]:
    return {code: digest(code) for code in OTHERS}


@pytest.fixture
def afresh() -> Iterator[None]:
    """Clear all caches before and after the test."""

    def forget() -> None:
        for remembered in (
            grammar_file.grammar,
            schema.concepts,
            shipped_cases,
            suite_cases,
            cases_with_every_answer,
            fair_rule,
        ):
            remembered.cache_clear()

    forget()
    yield
    forget()


def test_file_only_grows() -> None:
    lines = (files("isogloss.checklist") / "cases.tsv").read_bytes().splitlines(keepends=True)
    first = hashlib.sha256(b"".join(lines[:1201])).hexdigest()
    assert first == "f3dd2edf5186afb95e61b11df66d67feb9de8dee108dc7ed2102af525dbbf331"


def test_ids_are_positions_in_the_file() -> None:
    for test, cases in shipped_cases().items():
        assert [case.id for case in cases] == [f"{test}-{number:04d}" for number in range(len(cases))]


@pytest.mark.parametrize("name", [*CHECKLIST_TASKS, *INVARIANCE_TASKS])
def test_tasks_declare_number_of_examples(name: str) -> None:
    task = declared(name)
    assert task.languages == CODES  # those with a file
    assert len(load(task, "sw")) == task.counts["test"]


def _edited(code: str, **changes: object) -> Grammar:
    """Return a language with some fields of its file replaced."""
    return Grammar(msgspec.structs.replace(grammar(code).file, **changes))


def _speaks(monkeypatch: pytest.MonkeyPatch, *speakers: Grammar) -> None:
    """Replace the languages by the edited ones, leaving the others unchanged."""
    known = {speaker.code: speaker for speaker in speakers}
    plain = grammar_file.grammar
    every = lambda code: known[code] if code in known else plain(code)  # noqa: E731
    for module in ("shipped", "build", "matching", "reader"):
        monkeypatch.setattr(f"isogloss.checklist.{module}.grammar", every)
    fair_rule.cache_clear()


@pytest.mark.usefixtures("afresh")
def test_language_that_cannot_answer_changes_no_other_and_is_refused(
    before: dict[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    # A person has the name of the case's animal: a draw would skip the case and renumber all later ones.
    case = shipped_cases()["animal_vs_vehicle_2"][3]
    drawn, file = dict(case.slots), grammar("af").file
    people = file.names.male if drawn["a"].startswith("m") else file.names.female
    animals = {**file.animal, drawn["animal"]: people[int(drawn["a"][1:])]}
    suite_cases.cache_clear()
    _speaks(monkeypatch, _edited("af", animal=animals))
    assert {code: digest(code) for code in OTHERS} == before
    refused = audit_language("af", 20).defects
    assert {finding.kind for finding in refused} == {"ambiguous"}
    assert case.id in {finding.example.rpartition("-")[0] for finding in refused}


@pytest.mark.usefixtures("afresh")
def test_new_word_does_not_change_cases(before: dict[str, str], monkeypatch: pytest.MonkeyPatch) -> None:
    more = {name: {"aardvark": "an earlier one", **known} for name, known in schema.concepts().items()}
    monkeypatch.setattr("isogloss.grammar.cases.concepts", lambda: more)
    _speaks(monkeypatch, *(_edited(code, animal={"aardvark": "Xx", **grammar(code).file.animal}) for code in OTHERS))
    assert {code: digest(code) for code in OTHERS} == before


@pytest.mark.usefixtures("afresh")
def test_new_name_does_not_change_cases(before: dict[str, str], monkeypatch: pytest.MonkeyPatch) -> None:
    def more(file: LanguageFile) -> schema.GivenNames:
        return schema.GivenNames([*file.names.male, "Xx"], [*file.names.female, "Yy"])

    _speaks(monkeypatch, *(_edited(code, names=more(grammar(code).file)) for code in OTHERS))
    assert {code: digest(code) for code in OTHERS} == before


@pytest.mark.usefixtures("afresh")
def test_new_template_does_not_change_cases(before: dict[str, str], monkeypatch: pytest.MonkeyPatch) -> None:
    def more(file: LanguageFile) -> schema.Templates:
        found: dict[str, object] = {}
        for test in TESTS:
            own = getattr(file.templates, test)
            contexts = [*own.contexts, own.contexts[0]]
            if test == "properties":
                found[test] = msgspec.structs.replace(own, contexts=contexts, ask={**own.ask, "price": "?"})
            else:
                found[test] = msgspec.structs.replace(
                    own, contexts=contexts, questions=[*own.questions, ("?", "{a}", "?")]
                )
        unrelated = schema.InvarianceTemplates([*file.templates.invariance.unrelated, "?"])
        return msgspec.structs.replace(file.templates, **found, invariance=unrelated)

    _speaks(monkeypatch, *(_edited(code, templates=more(grammar(code).file)) for code in OTHERS))
    assert {code: digest(code) for code in OTHERS} == before
