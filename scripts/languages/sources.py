"""Readers of the sources of the table of all languages."""

import csv
import json
import re
from collections import defaultdict
from functools import cached_property
from pathlib import Path
from typing import Any

HERE = Path(__file__).parent
CLDR_VERSION = "48"
# Two-letter codes that CLDR merges with others or that have two three-letter codes there.
MERGED = {"ak": "aka", "ro": "ron", "sh": "hbs", "tl": "tgl", "tw": "twi"}
NO_GENEALOGY = frozenset({"Bookkeeping", "Unattested", "Unclassifiable", "Speech Register"})


def read_table(path: Path) -> list[dict[str, str]]:
    """Return the rows of a tab-separated file."""
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file, delimiter="\t", quoting=csv.QUOTE_NONE))


class Glottolog:
    """Languages and the tree of Glottolog."""

    def __init__(self, folder: Path) -> None:
        with (folder / "languages.csv").open(encoding="utf-8", newline="") as file:
            self.entries = {row["ID"]: row for row in csv.DictReader(file)}
        self.by_iso = {row["ISO639P3code"]: row for row in self.entries.values() if row["ISO639P3code"]}
        self.parents: dict[str, str] = {}
        for line in (folder / "classification.nex").read_text(encoding="utf-8").splitlines():
            if " = [&R] " in line:
                self._read_tree(line.partition(" = [&R] ")[2])
        self.named = {row["glottocode"]: row for row in read_table(HERE / "nodes.tsv")}
        if missing := self.named.keys() - self.entries.keys():
            raise SystemExit(f"nodes.tsv: not in Glottolog: {', '.join(sorted(missing))}")

    def _read_tree(self, newick: str) -> None:
        open_groups: list[list[str]] = [[]]
        for part in re.findall(r"\(|\)[a-z0-9]+|[a-z0-9]+(?=:)", newick):
            if part == "(":
                open_groups.append([])
                continue
            if part.startswith(")"):
                self.parents |= dict.fromkeys(open_groups.pop(), part[1:])
            open_groups[-1].append(part.removeprefix(")"))

    def language(self, iso3: str) -> dict[str, str] | None:
        """Return the language or dialect with an ISO 639-3 code, or None: groups have none of their own place."""
        entry = self.by_iso.get(iso3)
        return entry if entry and entry["Level"] != "family" else None

    def descent(self, glottocode: str) -> tuple[str, str]:
        """Return the family and branch of a language or dialect."""
        entry = self.entries[glottocode]
        node = glottocode if entry["Level"] != "dialect" else entry["Language_ID"]
        lineage = [node]
        while lineage[-1] in self.parents:
            lineage.append(self.parents[lineage[-1]])
        root = self.entries[lineage[-1]]["Name"]
        if root in NO_GENEALOGY:
            return "unknown", "unknown"
        # The nearest named ancestors have the branch and the family.
        named = [self.named[each] for each in lineage if each in self.named]
        family = next((each["family"] for each in named if each["family"]), root)
        below = self.entries[lineage[-2]]["Name"] if len(lineage) > 1 else "isolate"
        if below == entry["Name"] and len(lineage) > 1:
            below = root
        return family, next((each["branch"] for each in named if each["branch"]), below)


class Cldr:
    """Unicode's locale data."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        version = self._read("cldr-core/supplemental/languageData.json")["supplemental"]["version"]["_cldrVersion"]
        if version != CLDR_VERSION:
            raise SystemExit(f"expected CLDR {CLDR_VERSION}, got {version}")

    def _read(self, path: str) -> dict[str, Any]:
        data: dict[str, Any] = json.loads((self.folder / path).read_text(encoding="utf-8"))
        return data

    def supplemental(self, name: str) -> dict[str, Any]:
        """Return a file of supplemental data."""
        return self._read(f"cldr-core/supplemental/{name}.json")["supplemental"]

    def names_in(self, locale: str) -> dict[str, str]:
        """Return the names of languages in a language, {} without them."""
        path = f"cldr-localenames-full/main/{locale}/languages.json"
        if not (self.folder / path).is_file():
            return {}
        names: dict[str, str] = self._read(path)["main"][locale]["localeDisplayNames"]["languages"]
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
