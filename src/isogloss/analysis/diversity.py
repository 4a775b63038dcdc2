"""How diverse a set of languages is: in syntax, in families, and on the map (XTREME-R Table 8, Ponti et al. 2020)."""

from collections.abc import Mapping, Sequence
from itertools import combinations
from math import log

import numpy as np

from isogloss.analysis.finding import AnalysisError, Column, Figure, Finding, TidyTable, Value
from isogloss.analysis.table_columns import text_columns
from isogloss.data.uriel import PLACES, Uriel, read_uriel, uriel_folder
from isogloss.errors import UnknownNameError
from isogloss.languages import CODES, language
from isogloss.languages.published import table as published_table
from isogloss.metrics.statistics import FloatArray
from isogloss.tasks.loading import data_folder
from isogloss.tasks.registry import task
from isogloss.tasks.suites import SUITES, suite

# The languages of XGLUE (Liang et al. 2020), which XTREME-R's Table 8 sets beside XTREME.
XGLUE = "ar bg de el en es fr hi it nl pl pt ru sw th tr ur vi zh"
# The features of the typology index: all 103 of syntax, gaps filled from the nearest languages.
KIND = "syntactic"

NOTES = [
    "Typology is the mean entropy of URIEL's 103 syntactic features over the languages, gaps filled as in lang2vec's "
    "syntax_knn. Table 8 gives its range as 0..1, but its figures are entropies in nats, which end at ln 2: `nats` "
    "stands beside print, and `typology` is in bits, where 1 is the most there can be.",
    "Family is the number of distinct families over the number of languages. An isolate is a family, and so is Creole, "
    "as in the paper, where families are the registry's.",
    "Geography is the mean way between two languages over the Earth's surface, as a share of the longest there is. "
    "Ponti et al. take the entropy over six macro-areas instead, which no table here has.",
]


def entropy(shares: FloatArray) -> FloatArray:
    """The entropy in bits of a feature that a share of the languages has: 0 if none or all have it, 1 if half do."""
    found = np.zeros_like(shares)
    for part in (shares, 1 - shares):
        found -= part * np.log2(part, out=np.zeros_like(part), where=part > 0)
    return found


def typology_index(features: FloatArray) -> float:
    """The mean entropy in bits of features (languages, features) of 0 and 1: 0 if all languages are alike."""
    if features.ndim != 2 or not features.size:
        raise AnalysisError("a typology index needs languages with features, and there are none")
    return float(entropy(features.mean(axis=0)).mean())


def family_index(families: Sequence[str]) -> float:
    """Distinct families over languages: 1 if no two languages are of one family."""
    if not families:
        raise AnalysisError("a family index needs languages, and there are none")
    return len(set(families)) / len(families)


def language_sets(names: Sequence[str]) -> dict[str, tuple[str, ...]]:
    """Sets of languages by name: suites, tasks, "xglue", lists with commas; single languages together are one set.

    Raises:
        UnknownNameError: a name is that of no suite, task or language.
        AnalysisError: nothing was given.
    """
    found: dict[str, tuple[str, ...]] = {}
    single: list[str] = []
    for name in names:
        if name.lower() == "xglue":
            found["xglue"] = tuple(XGLUE.split())
        elif name.lower() in SUITES or name.endswith(".toml"):
            chosen = suite(name)
            found[chosen.id] = tuple(sorted({code for each in chosen.tasks for code in chosen.languages_of(each)}))
        elif "," in name:
            found[name] = tuple(dict.fromkeys(map(_code, filter(None, name.split(",")))))
        else:
            _add_task_or_language(name, found, single)
    if single:
        found["given"] = tuple(dict.fromkeys(single))
    if not all(found.values()) or not found:
        fix = "Give suites (xtreme-r, xtreme, xglue), tasks, or languages: `isogloss analyze diversity en,de,sw`"
        raise AnalysisError("no languages were given", fix=fix)
    return found


def _add_task_or_language(name: str, found: dict[str, tuple[str, ...]], single: list[str]) -> None:
    try:
        single.append(_code(name))
    except UnknownNameError as no_language:
        try:
            found[task(name).id] = tuple(task(name).languages)
        except UnknownNameError:
            raise no_language from None


def _code(name: str) -> str:
    """The code of a language of the registry; other ISO 639-3 codes stay as they are."""
    try:
        return language(name).code
    except UnknownNameError:
        if len(name) == 3 and name.isascii() and name.isalpha() and name.islower():
            return name
        raise


def diversity(languages: Sequence[str], *, data: str | None = None) -> Finding:
    """How diverse sets of languages are, beside what was printed of them.

    Args:
        languages: suites, tasks, "xglue", lists such as "en,de,sw", or single languages, which make one set; languages
            that are not in the registry by their ISO 639-3 codes.
        data: the data folder, which has URIEL (`isogloss fetch uriel`); without it there are families only.

    Raises:
        UnknownNameError: a name is that of no suite, task or language.
        AnalysisError: nothing was given, or a language is known neither to the registry nor to URIEL.
    """
    sets = language_sets(languages or ("xtreme-r", "xtreme", "xglue"))
    codes = list(dict.fromkeys(code for chosen in sets.values() for code in chosen))
    folder = data_folder(data)
    there = uriel_folder(folder) is not None
    uriel = read_uriel(folder, codes) if there else None
    varieties = read_uriel(folder, codes, varieties=True) if there else None
    rows: list[list[Value]] = [_indices(name, chosen, uriel) for name, chosen in sets.items()]
    tables = [
        TidyTable("indices", "Diversity of sets of languages", _INDEX_COLUMNS, rows),
        *_printed(sets, rows, uriel, varieties),
    ]
    figures = []
    if uriel is not None and varieties is not None:
        tables += [_features(sets, uriel, varieties), _contributions(sets, uriel)]
        description = "Entropy of each syntactic feature over the languages of a set, one point a feature."
        figures = [Figure("features", "strip", "Entropy by feature", description, x="entropy", y="set")]
    notes = [*NOTES, *_by_tree(sets), *_lacking(codes, uriel)]
    return Finding("diversity", "Diversity of languages", _reading(rows, tables), tables, figures, notes)


def _families(codes: Sequence[str], uriel: Uriel | None) -> list[str]:
    """Families by the registry; by URIEL's tree for all of a set, where the registry lacks one of its languages."""
    try:
        return [language(code).family for code in codes]
    except UnknownNameError as error:
        if uriel is None:
            fix = "`isogloss fetch uriel` brings the families of all others"
            raise AnalysisError(f"{error.what}: the registry has no family of it", fix=fix) from None
        return [(*uriel.languages[code].ancestors, code)[0] for code in codes]


def _by_tree(sets: Mapping[str, Sequence[str]]) -> list[str]:
    """Which sets have the families of URIEL's tree, and for which languages."""
    lacking = {name: [code for code in codes if code not in CODES] for name, codes in sets.items()}
    return [
        f"{name}: families are those of URIEL's tree, as the registry lacks {', '.join(codes)}. There a creole is of "
        "the family of its words, and a language that the tree leaves out is a family by itself, as an isolate is."
        for name, codes in lacking.items()
        if codes
    ]


_INDEX_COLUMNS = [
    Column("set", label="Languages of"),
    Column("languages", "count"),
    Column("families", "count"),
    Column("family", "share", "Family index"),
    Column("typology", "share", "Typology index, bits"),
    Column("nats", "share", "Typology index, nats"),
    Column("attested", "share", "Features attested"),
    Column("geography", "share", "Geography"),
]


def _indices(name: str, codes: Sequence[str], uriel: Uriel | None) -> list[Value]:
    of = _families(codes, uriel)
    known: list[Value] = [name, len(codes), len(set(of)), family_index(of)]
    if uriel is None:
        return [*known, None, None, None, None]
    features, chosen = _syntax(codes, uriel), uriel.of_kind(KIND)
    attested = float(np.mean([uriel.languages[code].attested[chosen].mean() for code in codes]))
    index = typology_index(features)
    return [*known, index, index * log(2), attested, _geography(codes, uriel)]


def _geography(codes: Sequence[str], uriel: Uriel) -> float | None:
    if "geographic" not in uriel.distances:
        return None
    ways = [uriel.distance("geographic", *pair) for pair in combinations(codes, 2)]
    return float(np.mean(ways)) if ways else 0.0


def _syntax(codes: Sequence[str], uriel: Uriel) -> FloatArray:
    chosen = uriel.of_kind(KIND)
    return np.stack([uriel.languages[code].values[chosen] for code in codes])


def _printed(
    sets: Mapping[str, Sequence[str]], rows: Sequence[Sequence[Value]], uriel: Uriel | None, varieties: Uriel | None
) -> list[TidyTable]:
    """XTREME-R's Table 8 beside what is found here."""
    found = {row[0]: {"family": row[3], "typology": row[5]} for row in rows}
    compared: list[list[Value]] = []
    for row in published_table("diversity"):
        name, index, printed = row["suite"], row["index"], float(row["value"])
        here = found.get(name, {}).get(index)
        if not isinstance(here, float):
            continue
        verdict = "equal"
        if f"{here:.2f}" != f"{printed:.2f}":
            verdict = _family_verdict(printed, sets[name], uriel)
            if index == "typology" and uriel is not None and varieties is not None:
                verdict = _typology_verdict(sets[name], uriel, varieties)
        compared.append([name, index, printed, here, verdict])
    columns = [
        Column("set", label="Languages of"),
        Column("index"),
        Column("printed", "share"),
        Column("here", "number"),
        Column("verdict"),
    ]
    title = "XTREME-R's Table 8, compared (typology in nats)"
    return [TidyTable("printed", title, columns, compared)] if compared else []


def _family_verdict(printed: float, codes: Sequence[str], uriel: Uriel | None) -> str:
    families = [language(code).family for code in codes]
    needed = round(printed * len(codes))
    verdict = f"print needs {needed} families of {len(codes)} languages, and there are {len(set(families))}"
    unplaced = [
        code
        for code, family in zip(codes, families, strict=True)
        if uriel is not None and not uriel.languages[code].ancestors and families.count(family) > 1
    ]
    if unplaced and needed == len(set(families)) + len(unplaced):
        verdict += f"; as many as print with {', '.join(unplaced)}, which URIEL's tree leaves out, counted by itself"
    return verdict


def _typology_verdict(codes: Sequence[str], uriel: Uriel, varieties: Uriel) -> str:
    without = [typology_index(_syntax([one for one in codes if one != code], uriel)) * log(2) for code in codes]
    other = typology_index(_syntax(codes, varieties)) * log(2)
    return (
        f"{other:.3f} with the features of varieties in place of macrolanguages; "
        f"{min(without):.3f} to {max(without):.3f} without any one language"
    )


def _features(sets: Mapping[str, Sequence[str]], uriel: Uriel, varieties: Uriel) -> TidyTable:
    """Each feature of each set: what share of the languages has it, and its entropy."""
    chosen = uriel.of_kind(KIND)
    names = [name for name, of_kind in zip(uriel.names, chosen, strict=True) if of_kind]
    rows: list[list[Value]] = []
    for name, codes in sets.items():
        shares = _syntax(codes, uriel).mean(axis=0)
        others = entropy(_syntax(codes, varieties).mean(axis=0))
        known = np.mean([uriel.languages[code].attested[chosen] for code in codes], axis=0)
        rows += [
            [name, feature.removeprefix("S_"), *map(float, figures)]
            for feature, *figures in zip(names, shares, entropy(shares), others, known, strict=True)
        ]
    columns = [
        *text_columns("set", "feature"),
        Column("share", "share", "Languages that have it"),
        Column("entropy", "share", "Entropy, bits"),
        Column("entropy_of_varieties", "share", "The same of varieties in place of macrolanguages"),
        Column("attested", "share", "Languages of which a source tells"),
    ]
    return TidyTable("features", "The typology index feature by feature", columns, rows, shown=12)


def _contributions(sets: Mapping[str, Sequence[str]], uriel: Uriel) -> TidyTable:
    """What each language adds to the typology index of its set."""
    rows: list[list[Value]] = []
    for name, codes in sets.items():
        whole = typology_index(_syntax(codes, uriel))
        added = {
            code: whole - typology_index(_syntax([one for one in codes if one != code], uriel))
            for code in codes
            if len(codes) > 1
        }
        rows += [[name, code, added[code]] for code in sorted(added, key=added.__getitem__, reverse=True)]
    columns = [
        *text_columns("set", "language"),
        Column("added", "number", "Typology index, bits, with it less without"),
    ]
    return TidyTable("contributions", "What each language adds", columns, rows, shown=10)


def _lacking(codes: Sequence[str], uriel: Uriel | None) -> list[str]:
    if uriel is None:
        return ["URIEL is not in the data folder, so there is no typology: `isogloss fetch uriel` brings it."]
    said = []
    if "geographic" not in uriel.distances:
        said.append(f"No geography: the data folder's URIEL has no {PLACES}.npz; `isogloss fetch uriel` brings it.")
    chosen = uriel.of_kind(KIND)
    poor = [code for code in codes if uriel.languages[code].attested[chosen].mean() < 0.5]
    if poor:
        said.append(f"Of {', '.join(poor)} fewer than half of the syntactic features are attested; others are guesses.")
    return said


def _reading(rows: Sequence[Sequence[Value]], tables: Sequence[TidyTable]) -> str:
    said = []
    for name, count, families, family, typology, _, attested, _ in rows:
        text = f"The {count} languages of {name} are of {families} families (family index {family:.2f})"
        if typology is not None:
            text += (
                f" and have a typology index of {typology:.2f} of 1, {attested:.0%} of it attested rather than guessed"
            )
        said.append(f"{text}.")
    printed = next((table for table in tables if table.name == "printed"), None)
    if printed is not None:
        equal = sum(row[-1] == "equal" for row in printed.rows)
        said.append(f"Of {len(printed.rows)} printed indices {equal} come out to the printed digits.")
    said.append(
        "The indices describe a choice of languages, not how well anything works in them; the typology index weighs "
        "all features alike, though many say the same thing."
    )
    return " ".join(said)
