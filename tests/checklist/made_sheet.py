"""A small sheet in the released format, written for tests: six tests in English and Finnish."""

import json
from pathlib import Path

THINGS = tuple(
    zip(
        "cup bag hat mug pen jar rug pot".split(), "kuppi laukku hattu muki kynä purkki matto pata".split(), strict=True
    )
)
TESTS = (
    (
        "A is COMP than B. Who is more / less COMP?",
        ["{first_name} seems {adj[0]} next to {first_name1}.|{first_name} on {adj[0]}, toisin kuin {first_name1}."],
        [
            ("Who seems not so {adj[1]}?|Kuka ei ole {adj[1]}?", "{first_name1}|{first_name1}"),
            ("Who seems {adj[0]}?|Kuka on {adj[0]}?", "{first_name}|{first_name}"),
        ],
        ["adj|kinder, kind|kiltimpi, kiltti", "adj|calmer, calm|tyynempi, tyyni"],
    ),
    (
        "Intensifiers (very, super, extremely) and reducers (somewhat, kinda, etc)?",
        [
            f"{{first_name}} feels {one}{{s}}. {{first_name1}} feels {two}{{s}}.|{{first_name}} on {one}{{s}}. "
            f"{{first_name1}} on {two}{{s}}."
            for one, two in (
                *(("{very} ", ""), ("{very} ", "rather "), ("", "{somewhat} ")),
                *(("", "a bit "), ("{very} ", "{somewhat} "), ("quite ", "{somewhat} ")),
            )
        ],
        [
            ("Who feels most {s}?|Kuka on eniten {s}?", "{first_name}|{first_name}"),
            ("Who feels least {s}?|Kuka on vähiten {s}?", "{first_name1}|{first_name1}"),
        ],
        ["state|sleepy|uninen", "state|hungry|nälkäinen", "very|awfully|hirveän", "somewhat|slightly|hieman"],
    ),
    (
        "size, shape, age, color",
        ["Here is {obj[0]}. {obj[1]} is {p.v1} and {p.v2}.|Tässä on {obj[0]}. {obj[1]} on {p.v1} ja {p.v2}."],
        [
            ("What {p.p1} is {obj[1]}?|Mikä {p.p1} on: {obj[1]}?", "{p.v1}|{p.v1}"),
            ("What {p.p2} is {obj[1]}?|Mikä {p.p2} on: {obj[1]}?", "{p.v2}|{p.v2}"),
        ],
        [
            *(f"obj|a {en}, the {en}|{fi}, {fi}" for en, fi in THINGS),
            *("property|colour|väri", "property|age|ikä"),
            *("colour|mauve|malva", "colour|teal|turkoosi", "colour|puce|ruskea", "colour|tan|kulta"),
            *("age|ancient|ikivanha", "age|fresh|tuore", "age|worn|kulunut", "age|raw|raaka"),
        ],
    ),
    (
        "Profession vs nationality",
        [
            f"{one} {{first_name}} is {{a:profession}}{two}{{nationality}}."
            f"|{one} {{first_name}}: {{profession}}{two}{{nationality}}."
            for one, two in (("Look:", " and "), ("So", " and also "), ("Well,", ", "), ("Yes,", " plus "))
        ],
        [
            ("What does {first_name} do?|Mikä on työ: {first_name}?", "{profession}|{profession}"),
            ("Where is {first_name} from?|Mikä on maa: {first_name}?", "{nationality}|{nationality}"),
        ],
        [
            *("profession|baker|leipuri", "profession|miner|kaivosmies"),
            *("nationality|Maltese|maltalainen", "nationality|Omani|omanilainen"),
        ],
    ),
    (
        "Animal vs Vehicle",
        [
            "{first_name} keeps {animal} and {vehicle}.|{first_name} pitää: {animal} ja {vehicle}.",
            "{first_name} keeps {vehicle} and {animal}.|{first_name} pitää: {vehicle}ja {animal}.",
        ],
        [
            ("What animal?|Mikä eläin?", "{animal}|{animal}"),
            ("What vehicle?|Mikä ajoneuvo?", "{vehicle}|{vehicle}"),
        ],
        ["animal|a mole|myyrä", "animal|an owl|pöllö", "vehicle|a sledge|reki", "vehicle|a canoe|kanootti"],
    ),
    (
        "Animal vs Vehicle v2",
        [
            "{first_name} found {animal}. {first_name1} found {vehicle}."
            "|{first_name} löysi: {animal}. {first_name1} löysi: {vehicle}.",
            "{first_name1} found {vehicle}. {first_name} found {animal}."
            "|{first_name1} löysi: {vehicle}. {first_name} löysi: {animal}.",
        ],
        [
            ("Who found an animal?|Kuka löysi eläimen?", "{first_name}|{first_name}"),
            ("Who found a vehicle?|Kuka löysi ajoneuvon?", "{first_name1}|{first_name1}"),
        ],
        [],
    ),
)  # fmt: skip
ENDS = tuple(f"{consonant}{vowel}n" for consonant in "bdfgklmnrstv" for vowel in "aeiou")
MEN = {code: [f"{start}{end}" for end in ENDS] for code, start in (("en", "Al"), ("fi", "Ee"))}
WOMEN = {code: [f"{name}a" for name in names] for code, names in MEN.items()}


def write_sheet(data: Path, languages: tuple[str, ...] = ("en", "fi")) -> Path:
    """Write the sheet and the names into a data folder; return the sheet."""
    places = [("en", "fi").index(code) for code in languages]
    rows = ["Field|" + "|".join(languages)]

    def add(field: str, texts: str) -> None:
        parts = texts.split("|")
        rows.append("|".join([field, *(parts[place] for place in places)]))

    for title, contexts, questions, fillers in TESTS:
        rows.append(f"Name|{title}" + "|" * (len(languages) - 1))
        for context in contexts:
            add("Context", context)
        for question, answer in questions:
            add("Question", question)
            add("Answer", answer)
        for filler in fillers:
            add(*filler.split("|", 1))
        rows.append("")
    path = data / "multichecklist" / "checklist_templates.tsv"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("\r\n".join(row.replace("|", "\t") for row in rows), encoding="utf-8")
    names = data / "given_names" / "wikidata_names_places.json"
    names.parent.mkdir(exist_ok=True)
    names.write_text(json.dumps({"mnames": MEN, "fnames": WOMEN}), encoding="utf-8")
    return path
