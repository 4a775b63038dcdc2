"""Diversity of a set of languages in syntax, families and geography (XTREME-R Table 8, Ponti et al. 2020)."""

from collections.abc import Mapping, Sequence
from itertools import combinations
from math import log
from typing import Any

import numpy as np

from isogloss.analysis.finding import AnalysisError, Finding, TidyTable, Value, columns, figure
from isogloss.data.uriel import PLACES, Uriel, read_uriel, uriel_folder
from isogloss.errors import UnknownNameError
from isogloss.figures import counted
from isogloss.languages import language, listed_language
from isogloss.languages.published import table as published_table
from isogloss.metrics.statistics import FloatArray
from isogloss.tasks.loading import data_folder
from isogloss.tasks.registry import task
from isogloss.tasks.suites import SUITES, suite

# Languages of XGLUE (Liang et al. 2020), which XTREME-R's Table 8 compares with XTREME.
XGLUE = "ar bg de el en es fr hi it nl pl pt ru sw th tr ur vi zh"
# Features of the typology index: all 103 syntactic ones, gaps filled from the nearest languages.
KIND = "syntactic"

NOTES = [
    "Typology is the mean entropy of URIEL's 103 syntactic features over the languages, gaps filled as in lang2vec's "
    "syntax_knn. Table 8 gives its range as 0..1, but its figures are entropies in nats, with maximum ln 2: compare "
    "`nats` with print; `typology` is in bits, with maximum 1.",
    "Family is the number of distinct families divided by the number of languages. With the registry's families, an "
    "isolate counts as a family, and so does Creole, as in the paper.",
    "Geography is the mean great-circle distance between two languages, as a share of the longest possible. "
    "Ponti et al. use the entropy over six macro-areas instead, which is not available here.",
]


def entropy(shares: FloatArray) -> FloatArray:
    """Return the entropy in bits of a feature by its share of languages: 0 for none or all, 1 for half."""
    bits = np.zeros_like(shares)
    for part in (shares, 1 - shares):
        bits -= part * np.log2(part, out=np.zeros_like(part), where=part > 0)
    return bits


def typology_index(features: FloatArray) -> float:
    """Return the mean entropy in bits of binary features (languages, features); 0 if all languages are alike."""
    if features.ndim != 2 or not features.size:
        raise AnalysisError("a typology index needs languages with features, got none")
    return float(entropy(features.mean(axis=0)).mean())


def family_index(families: Sequence[str]) -> float:
    """Return the number of families per language: 1 if no two languages are related."""
    if not families:
        raise AnalysisError("a family index needs languages, got none")
    return len(set(families)) / len(families)


def language_sets(names: Sequence[str]) -> dict[str, tuple[str, ...]]:
    """Return sets of languages by name: suites, tasks, "xglue", comma-separated lists; single ones form one set."""
    sets: dict[str, tuple[str, ...]] = {}
    single: list[str] = []
    for name in names:
        if name.lower() == "xglue":
            sets["xglue"] = tuple(XGLUE.split())
        elif name.lower() in SUITES or name.endswith(".toml"):
            chosen = suite(name)
            sets[chosen.id] = tuple(sorted({code for task_id in chosen.tasks for code in chosen.languages_of(task_id)}))
        elif "," in name:
            sets[name] = tuple(dict.fromkeys(map(_code, filter(None, name.split(",")))))
        else:
            try:
                single.append(_code(name))
            except UnknownNameError as no_language:
                try:
                    sets[task(name).id] = tuple(task(name).languages)
                except UnknownNameError:
                    raise no_language from None
    if single:
        sets["given"] = tuple(dict.fromkeys(single))
    if not all(sets.values()) or not sets:
        fix = "Pass suites (xtreme-r, xtreme, xglue), tasks, or languages: `isogloss analyze diversity en,de,sw`"
        raise AnalysisError("no languages", fix=fix)
    return sets


def _code(name: str) -> str:
    """Return the code of a language; keep ISO 639-3 codes that are not listed, which URIEL may have."""
    entry = listed_language(name)
    if entry is not None:
        return entry.code
    return name if _is_iso3(name) else language(name).code


def _is_iso3(name: str) -> bool:
    return len(name) == 3 and name.isascii() and name.isalpha() and name.islower()


def diversity(languages: Sequence[str], *, data: str | None = None) -> Finding:
    """Measure the diversity of sets of languages, and compare it with printed figures.

    Args:
        languages: suites, tasks, "xglue", lists such as "en,de,sw", or single languages, which form one set; ISO 639-3
            codes for languages outside the registry.
        data: data folder with URIEL (`isogloss fetch uriel`); without it only families are compared.

    Raises:
        UnknownNameError: unknown suite, task or language.
        DataError: a language is neither in the registry nor in URIEL.
        AnalysisError: no languages, or one is not in the registry and URIEL is missing.
    """
    sets = language_sets(languages or ("xtreme-r", "xtreme", "xglue"))
    codes = list(dict.fromkeys(code for chosen in sets.values() for code in chosen))
    folder = data_folder(data)
    uriel = varieties = None
    if uriel_folder(folder) is not None:
        # Languages that are in neither are an error; listed ones that URIEL lacks count in families only.
        read_uriel(folder, _unlisted(codes))
        uriel, varieties = (read_uriel(folder, codes, varieties=own, skip_missing=True) for own in (False, True))
    rows: list[list[Value]] = [_indices(name, chosen, uriel) for name, chosen in sets.items()]
    printed = _printed(sets, rows, uriel, varieties)
    tables = [TidyTable("indices", "Diversity of sets of languages", _INDEX_COLUMNS, rows)]
    tables += [printed] if printed.rows else []
    figures = []
    if uriel is not None and varieties is not None:
        described = {name: members for name, chosen in sets.items() if (members := _described(chosen, uriel))}
        tables += [_features(described, uriel, varieties), _contributions(described, uriel)]
        about = "Entropy of each syntactic feature over the languages of a set, one point per feature."
        figures = [figure("strip", "features: entropy, set", "Entropy by feature", about)]
    by_tree = [
        f"{name}: families are from URIEL's tree, as the registry lacks {', '.join(missing)}. The tree assigns a "
        "creole to its lexifier's family; a language missing from the tree counts as its own family, like an isolate."
        for name, chosen in sets.items()
        if (missing := _unlisted(chosen))
    ]
    return Finding(
        analysis="diversity",
        title="Diversity of languages",
        reading=_reading(rows, printed),
        tables=tables,
        figures=figures,
        notes=[*NOTES, *by_tree, *_lacking(codes, uriel)],
    )


_INDEX_COLUMNS = columns(
    "set = Languages of; languages families:count; family:share = Family index; "
    "typology:share = Typology index, bits; nats:share = Typology index, nats; attested:share = Features attested; "
    "geography:share = Geography"
)


def _indices(name: str, codes: Sequence[str], uriel: Uriel | None) -> list[Value]:
    families = _families(codes, uriel)
    indices: list[Value] = [name, len(codes), len(set(families)), family_index(families)]
    codes = [] if uriel is None else _described(codes, uriel)
    if uriel is None or not codes:
        return [*indices, None, None, None, None]
    features, chosen = _syntax(codes, uriel), uriel.of_kind(KIND)
    attested = float(np.mean([uriel.languages[code].attested[chosen].mean() for code in codes]))
    index, geography = typology_index(features), None
    if "geographic" in uriel.distances:
        distances = [uriel.distance("geographic", *pair) for pair in combinations(codes, 2)]
        geography = float(np.mean(distances or 0.0))
    return [*indices, index, index * log(2), attested, geography]


def _families(codes: Sequence[str], uriel: Uriel | None) -> list[str]:
    """Return families from the registry, or if it lacks a language, all from URIEL's tree."""
    missing = _unlisted(codes)
    if not missing:
        return [language(code).family for code in codes]
    if uriel is None:
        fix = "Run `isogloss fetch uriel` to get the families of other languages"
        raise AnalysisError(f"{', '.join(missing)}: no family in the registry", fix=fix)
    trees = {code: uriel.languages[code].ancestors if code in uriel.languages else () for code in codes}
    return [(*trees[code], code)[0] for code in codes]


def _unlisted(codes: Sequence[str]) -> list[str]:
    """Return the codes without a listed language; the region in pt-BR does not matter."""
    return [code for code in codes if listed_language(code) is None and listed_language(code.partition("-")[0]) is None]


def _described(codes: Sequence[str], uriel: Uriel) -> list[str]:
    return [code for code in codes if code in uriel.languages]


def _syntax(codes: Sequence[str], uriel: Uriel) -> FloatArray:
    chosen = uriel.of_kind(KIND)
    return np.stack([uriel.languages[code].values[chosen] for code in codes])


def _printed(
    sets: Mapping[str, Sequence[str]], rows: Sequence[Sequence[Value]], uriel: Uriel | None, varieties: Uriel | None
) -> TidyTable:
    """Compare the indices with XTREME-R's Table 8."""
    heads = columns("set = Languages of; index; printed:share; here:number; verdict")
    table = TidyTable("printed", "Comparison with XTREME-R's Table 8 (typology in nats)", heads)
    ours = {row[0]: {"family": row[3], "typology": row[5]} for row in rows}
    for row in published_table("diversity"):
        name, index, printed = row["suite"], row["index"], float(row["value"])
        here = ours.get(name, {}).get(index)
        if not isinstance(here, float):
            continue
        verdict = "equal"
        if f"{here:.2f}" != f"{printed:.2f}":
            verdict = _family_verdict(printed, sets[name], uriel)
            if index == "typology" and uriel is not None and varieties is not None:
                codes = _described(sets[name], uriel)
                without = [index * log(2) for index in _indices_without_each(codes, uriel).values()]
                other = typology_index(_syntax(codes, varieties)) * log(2)
                verdict = f"{other:.3f} with the features of varieties in place of macrolanguages; "
                verdict += f"{min(without):.3f} to {max(without):.3f} without any one language"
        table.add(name, index, printed, here, verdict)
    return table


def _family_verdict(printed: float, codes: Sequence[str], uriel: Uriel | None) -> str:
    families = [language(code).family for code in codes]
    needed = round(printed * len(codes))
    verdict = f"print implies {needed} families of {len(codes)} languages; the registry has {len(set(families))}"
    shared = [code for code, family in zip(codes, families, strict=True) if families.count(family) > 1]
    in_tree = {} if uriel is None else {code: uriel.languages[code].ancestors for code in _described(shared, uriel)}
    unplaced = [code for code, ancestors in in_tree.items() if not ancestors]
    if unplaced and needed == len(set(families)) + len(unplaced):
        verdict += f"; matches print if {', '.join(unplaced)}, missing from URIEL's tree, counts as its own family"
    return verdict


def _indices_without_each(codes: Sequence[str], uriel: Uriel) -> dict[str, float]:
    """Return the typology index without each language."""
    return {code: typology_index(_syntax([other for other in codes if other != code], uriel)) for code in codes}


def _features(sets: Mapping[str, Sequence[str]], uriel: Uriel, varieties: Uriel) -> TidyTable:
    """Return the share of languages with each feature and its entropy, by set."""
    chosen = uriel.of_kind(KIND)
    names = [name for name, of_kind in zip(uriel.names, chosen, strict=True) if of_kind]
    heads = columns(
        "set feature; share:share = Languages with the feature; entropy:share = Entropy, bits; "
        "entropy_of_varieties:share = Entropy with varieties in place of macrolanguages; "
        "attested:share = Languages with attested values"
    )
    table = TidyTable("features", "Typology index by feature", heads, shown=12)
    for name, codes in sets.items():
        shares = _syntax(codes, uriel).mean(axis=0)
        others = entropy(_syntax(codes, varieties).mean(axis=0))
        attested = np.mean([uriel.languages[code].attested[chosen] for code in codes], axis=0)
        for feature, *figures in zip(names, shares, entropy(shares), others, attested, strict=True):
            table.add(name, feature.removeprefix("S_"), *map(float, figures))
    return table


def _contributions(sets: Mapping[str, Sequence[str]], uriel: Uriel) -> TidyTable:
    """Return the contribution of each language to the typology index of its set."""
    heads = columns("set language; added:number = Change of the typology index, bits")
    table = TidyTable("contributions", "Contribution of each language", heads, shown=10)
    for name, codes in sets.items():
        whole = typology_index(_syntax(codes, uriel))
        without = _indices_without_each(codes, uriel) if len(codes) > 1 else {}
        for code in sorted(without, key=lambda code: whole - without[code], reverse=True):
            table.add(name, code, whole - without[code])
    return table


def _lacking(codes: Sequence[str], uriel: Uriel | None) -> list[str]:
    if uriel is None:
        return ["No typology: URIEL is not in the data folder; run `isogloss fetch uriel`."]
    chosen = uriel.of_kind(KIND)
    described = _described(codes, uriel)
    poor = ", ".join(code for code in described if uriel.languages[code].attested[chosen].mean() < 0.5)
    absent = ", ".join(code for code in codes if code not in described)
    places = f"No geography: the data folder's URIEL has no {PLACES}.npz; run `isogloss fetch uriel`."
    attested = f"Fewer than half of the syntactic features are attested in {poor}; the others are predicted."
    only_families = f"URIEL lacks {absent}: they count in families only."
    notes = {places: "geographic" not in uriel.distances, attested: bool(poor), only_families: bool(absent)}
    return [note for note, applies in notes.items() if applies]


def _reading(rows: Sequence[Sequence[Any]], printed: TidyTable) -> str:
    sentences = []
    for name, count, families, family, typology, _, attested, _ in rows:
        sizes = f"{counted(count, 'language')} of {name}: {counted(families, 'family', 'families')}"
        text = f"{sizes} (family index {family:.2f})"
        if typology is not None:
            text += f", typology index {typology:.2f} of 1 ({attested:.0%} of feature values attested)"
        sentences.append(f"{text}.")
    if printed.rows:
        equal = sum(row[-1] == "equal" for row in printed.rows)
        total = counted(len(printed.rows), "printed index", "printed indices")
        sentences.append(f"{equal} of {total} reproduced exactly.")
    sentences.append(
        "The indices describe the choice of languages, not performance in them. The typology index weights all "
        "features equally, although many are redundant."
    )
    return " ".join(sentences)
