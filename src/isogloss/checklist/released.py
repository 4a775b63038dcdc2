"""The released MultiCheckList, filled as intended by its sheet, to count its defects.

The sheet holds sentences and fill-ins; names come from CheckList's lists, in which a language without names takes the
English ones. Cases are drawn by seed over all assignments of the slots, each at most once; a case is every context with
every question, as released. Where this differs from the released generator:

* It picks variants differently in each language, and in some pairs them with the conditions of other rows or
  with none. Here a variant is used if its condition holds for the draw, in all languages. If no
  condition holds, the first variant is used; if several hold, the first of them; both are findings (`condition`).
* It drops cases in which two people got one name, and in two languages half of the cases. Here each test has the
  requested number of cases, with distinct names.
* It splits Burmese lists at blanks, which breaks some words. Here they are split at their commas.
* Both orders of two properties are drawn; the generator does so only in languages with variants.
"""

import random
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import msgspec

from isogloss.checklist.audit import AuditFinding, Findings, TokenRules, audit
from isogloss.checklist.released_cases import ReleasedCases, ReleasedExample
from isogloss.checklist.released_sheet import ENGLISH, SheetTranslation, read
from isogloss.checklist.tasks import CASES
from isogloss.data.files import read_bytes, resolve
from isogloss.decoding import decode_json
from isogloss.errors import DataError, unknown
from isogloss.grammar.file import grammar
from isogloss.grammar.schema import in_script

# Tests with sentences that agree with the person: the sheet has them for men only.
_MEN_ONLY = ("comparisons", "intensifiers", "job_vs_nationality")
_NAMES_FILE = "given_names/wikidata_names_places.json"


@dataclass(frozen=True)
class ReleasedNames:
    """Given names by language; languages without names borrow the English ones."""

    men: Mapping[str, Sequence[str]]
    women: Mapping[str, Sequence[str]]

    def borrowed(self, language: str) -> bool:
        """Return True if the language borrows its names."""
        return language not in self.men

    def names_for(self, language: str, test: str) -> list[str]:
        """Return the names for a test in a language: of men, or of men and women alternately, without duplicates."""
        code = ENGLISH if self.borrowed(language) else language
        if test in _MEN_ONLY:
            return list(dict.fromkeys(self.men[code]))
        pairs = zip(self.men[code], self.women.get(code, ()), strict=False)
        return list(dict.fromkeys(name for pair in pairs for name in pair))


class _NamesFile(msgspec.Struct):
    mnames: dict[str, list[str]]
    fnames: dict[str, list[str]]


def given_names(path: Path) -> ReleasedNames:
    """Read CheckList's name lists: JSON with `mnames` and `fnames` by language, packed or not."""
    raw = read_bytes(resolve(path) or path)
    file: _NamesFile = decode_json(raw, str(path), _NamesFile, what="a list of names")
    if not file.mnames.get(ENGLISH) or not file.fnames.get(ENGLISH):
        raise DataError("no English names", where=str(path), fix="Add them: languages without names use them")
    return ReleasedNames(file.mnames, file.fnames)


def _names_beside(sheet: Path, languages: Iterable[str]) -> ReleasedNames:
    """Return the name lists of the sheet's data folder, or the names of the built-in suite."""
    path = sheet.resolve().parent.parent / _NAMES_FILE
    if resolve(path) is not None:
        return given_names(path)
    speakers = {code: grammar(code).names for code in languages}
    return ReleasedNames(*({code: [name.base for name in speakers[code][sex]] for code in speakers} for sex in "mf"))


@dataclass(frozen=True)
class ReleasedSheet:
    """The released sheet: a translation of every test into every language."""

    path: Path
    translations: Mapping[str, Mapping[str, SheetTranslation]]

    @cached_property
    def languages(self) -> tuple[str, ...]:
        """Languages in column order."""
        return tuple(self.translations)

    @cached_property
    def tests(self) -> tuple[str, ...]:
        """Tests in row order."""
        return tuple(self.translations[ENGLISH])

    def translation(self, language: str, test: str) -> SheetTranslation:
        """Return a test in a language."""
        if language not in self.translations:
            raise unknown("language of the sheet", language, self.languages)
        if test not in self.tests:
            raise unknown("test of the sheet", test, self.tests)
        return self.translations[language][test]

    def examples(
        self, language: str, test: str, count: int = CASES, seed: int = 0, names: ReleasedNames | None = None
    ) -> Iterator[ReleasedExample]:
        """Yield up to `count` distinct cases; the same seed gives the same cases."""
        translation = self.translation(language, test)
        pool = names or _names_beside(self.path, [language])
        cases = ReleasedCases(translation, pool.names_for(language, test))
        if not cases.size:
            raise DataError(f"too few names for {language} {test}", where=str(self.path))
        rng = random.Random(f"released/{seed}/{language}/{test}")  # noqa: S311 - reproducible, not secret
        for number, index in enumerate(rng.sample(range(cases.size), min(count, cases.size))):
            yield from cases.examples(index, number)


def load(path: Path) -> ReleasedSheet:
    """Read the released sheet; errors have file and line."""
    return ReleasedSheet(path, read(path))


def audit_sheet(
    path: Path,
    languages: Sequence[str] | None = None,
    names: ReleasedNames | None = None,
    *,
    count: int = CASES,
    seed: int = 0,
) -> Findings:
    """Find every defect of the released sheet, by the paper's scoring rule.

    Args:
        path: sheet.
        languages: only these of its languages.
        names: given names; default those of the sheet's data folder (`<folder>/given_names/` next to
            `<folder>/multichecklist/`), or else those of the built-in suite.
        count: cases per test and language.
        seed: random seed of the cases.

    Raises:
        DataError: the sheet is malformed or missing.
        UnknownNameError: a language that is not in the sheet.
    """
    sheet = load(path)
    chosen = list(languages or sheet.languages)
    for language in chosen:
        sheet.translation(language, sheet.tests[0])  # report a misspelt language before the work begins
    pool = names or _names_beside(path, chosen)
    whole = Findings()
    for language in chosen:
        # In a different script, the audit detects borrowed names by their letters.
        unseen = language != ENGLISH and pool.borrowed(language) and in_script("a", language)
        for test in sheet.tests:
            examples = list(sheet.examples(language, test, count, seed, pool))
            whole.examples += len(examples)
            whole.defects += audit(examples, TokenRules(language=language, mode="paper")).defects
            for example in examples:
                borrowed = ("english", f"English names: {', '.join(example.people)}")
                defects = (*example.defects, borrowed) if unseen and example.people else example.defects
                whole.defects += [AuditFinding(language, example.id, *defect) for defect in defects]
    return whole
