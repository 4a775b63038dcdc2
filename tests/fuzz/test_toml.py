"""Hand-written files: suites, systems, recipe changes, checklist languages, and the checklist sheet."""

import re
from importlib.resources import files
from pathlib import Path

from checklist.made_sheet import write_sheet
from fuzz import made
from fuzz.campaign import Campaign, Case
from fuzz.mutators import spoil_bytes
from fuzz.oracle import FaultError, attempt, check_tidy, command
from isogloss.checklist.released import audit_sheet
from isogloss.checklist.released_names import NAMES_FILES
from isogloss.grammar.file import Grammar
from isogloss.grammar.schema import parse
from isogloss.runs.api import recipe_settings
from isogloss.tasks.loading import load
from isogloss.tasks.registry import RELEASED_TASKS
from isogloss.training.recipes import recipe

SUITE = """title = "Mine"
tasks = ["mini-xnli", "mini-xquad"]
rule = "flat"
[languages]
mini-xnli = ["de", "zh"]
mini-xquad = ["zh"]
[weights]
mini-xnli = 2
mini-xquad = 0.5
"""
SYSTEM = """name = "mine"
regime = "zero-shot"
seed = 0
revision = "abc"
[settings]
epochs = 3
tags = ["a", "b"]
"""
RECIPE = """epochs = 2
learning_rate = 2e-5
batch = 32
select = "english-dev"
deterministic = true
stages = ["xnli"]
[xnli]
like = "pawsx"
epochs = 3
[xnli.large]
batch = 8
[base]
warmup = 0.1
"""
SHEET = "\r\n".join(
    (
        "Field\ten\tfi\tfi-placeholders\tfi\tfi-placeholders",
        "Name\tAnimal vs Vehicle\t\t\t\t",
        "Capability\tSorting\t\t\t\t",
        "Context\t{first_name} feeds {animal}.\t{first_name} ruokkii: {animal}.\t\t"
        "{first_name} hoitaa: {animal}.\ta mole",
        "Question\tWhat is fed?\tMitä ruokitaan?\t\t\t",
        "Answer\t{animal}\t{animal}\t\t\t",
        "animal\ta mole\tmyyrä\t\t\t",
        "animal\tan owl\tpöllö\t\t\t",
        "",
    )
)
VALUES = (
    '""', '"x"', "1", "-1", "0", "1e400", "nan", "inf", "true", "[]", "[[]]", "{}", '{ a = 1 }', "9" * 5_000,
    "[" * 3_000 + "]" * 3_000, '"' + "x" * 100_000 + '"', '"\\u001b[31m"', '"\\u0000"', "1979-05-27", "07:32:00",
    '"en"', '["en"]', '["xquad"]', '"xquad"', "0x7fffffffffffffffff", '"""\na\nb"""', '"</script><b>"', "a.b.c = 1",
)  # fmt: skip


def spoil_toml(case: Case, text: str) -> bytes:
    """Replace a value, move a line, rename a table, or change bytes."""
    rng = case.rng
    kind = rng.choice(("value", "value", "value", "line", "name", "bytes"))
    lines = text.split("\n")
    place = rng.randrange(len(lines))
    if kind == "value":
        lines[place] = re.sub(r"=.*", lambda _: f"= {rng.choice(VALUES)}", lines[place])
    elif kind == "line":
        lines.insert(rng.randrange(len(lines)), lines.pop(place))
    elif kind == "name":
        name = rng.choice(
            ("x", '""', '"a.b"', "xquad", "epochs", '"\\u001b[31m"', "title", "a" * 5_000, "a." * 3_000 + "a")
        )
        lines[place] = re.sub(r"[\w-]+", lambda _: name, lines[place], count=1)
    else:
        content, step = spoil_bytes(rng, text.encode())
        case.tell(step)
        return content
    case.tell(f"{kind}: {lines[place][:100]}")
    return "\n".join(lines).encode()


def answered(root: Path) -> Path:
    for name in ("mini-xnli", "mini-xquad"):
        path = root / name / "zh.jsonl"
        path.parent.mkdir(parents=True)
        path.write_bytes(made.json_lines(made.answers(name, "zh")))
    return root


def test_suites(campaign: Campaign, tmp_path: Path) -> None:
    root = answered(tmp_path / "predictions")

    def fuzzer(case: Case) -> None:
        path = case.folder / case.rng.choice(("mine.toml", "mine.toml", "mini.toml", "a b.toml", ".toml", "[x].toml"))
        path.write_bytes(spoil_toml(case, SUITE))
        verb = case.rng.choice(("score", "explain", "compare"))
        command(verb, *[root] * (1 + (verb == "compare")), "--suite", path, limited=verb != "explain")
        check_tidy(case.folder, set())

    campaign.run(fuzzer, share=0.03)


def test_systems(campaign: Campaign) -> None:
    def fuzzer(case: Case) -> None:
        root = answered(case.folder / "predictions")
        (root / "system.toml").write_bytes(spoil_toml(case, SYSTEM))
        valid = command("validate", root)
        done = command("score", root, "--suite", "mini", "--json", case.folder / "results.json")
        if done.refused and not valid.refused:
            raise FaultError(
                "disagreement", f"validate passes it, score says {done.text[:200]!r}", "validate and score"
            )
        check_tidy(case.folder, set())

    campaign.run(fuzzer, share=0.03)


def test_recipes(campaign: Campaign) -> None:
    def fuzzer(case: Case) -> None:
        path = case.folder / "recipe.toml"
        path.write_bytes(spoil_toml(case, RECIPE))
        attempt(lambda: recipe_settings("encoder:somewhere", None, path))
        attempt(lambda: recipe("paper", case.rng.choice(("xnli", "mini-xnli", "xquad")), "base", path))

    campaign.run(fuzzer, share=0.03)


def test_languages(campaign: Campaign) -> None:
    """Accepted language files of the checklist can be filled in."""
    folder = files("isogloss.grammar") / "languages"
    texts = {code: (folder / f"{code}.toml").read_text(encoding="utf-8") for code in ("en", "sw", "he")}

    def fuzzer(case: Case) -> None:
        code = case.rng.choice(list(texts))
        content = spoil_toml(case, texts[code]).decode("utf-8", "replace")
        done = attempt(lambda: Grammar(parse(content, f"{code}.toml")))
        if not done.refused:
            attempt(lambda: (done.value.rules, done.value.lexicons, done.value.names, done.value.polish("a b")))

    campaign.run(fuzzer, share=0.02)


def test_sheets(campaign: Campaign) -> None:
    def fuzzer(case: Case) -> None:
        path = case.folder / "sheet.tsv"
        content, step = spoil_bytes(case.rng, SHEET.encode())
        case.tell(step)
        path.write_bytes(content)
        attempt(lambda: audit_sheet(path, None, count=3))
        command("checklist", "audit", "--suite", path, "--cases", 3, "--details", 2)

    campaign.run(fuzzer, share=0.02)


def test_released_suite(campaign: Campaign) -> None:
    """A damaged sheet or list of names in the data folder is refused, or gives whole examples."""

    def fuzzer(case: Case) -> None:
        sheet = write_sheet(case.folder)
        path = case.rng.choice((sheet, sheet, case.folder / NAMES_FILES[1]))
        content, step = spoil_bytes(case.rng, path.read_bytes())
        case.tell(f"{path.name}: {step}")
        path.write_bytes(content)
        name = case.rng.choice(RELEASED_TASKS)
        done = attempt(lambda: load(name, case.rng.choice(("en", "fi")), data=case.folder))
        if not done.refused:
            attempt(lambda: done.value["defects"])

    campaign.run(fuzzer, share=0.02)
