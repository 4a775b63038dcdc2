"""Corrupted results (records and tidy CSV) through every analysis of scores."""

from pathlib import Path

from fuzz.campaign import Campaign, Case
from fuzz.mutators import spoil
from fuzz.oracle import check_tidy, command
from isogloss.analysis.registry import ANALYSES
from report.made_records import results

CSV = "task,system,regime,language,metric,value,low,high,n\n" + "".join(
    f"xnli,{system},zero-shot,{code},accuracy,{value + shift},{value - 2},{value + 3},100\n"
    for system, shift in (("a", 0), ("b", 1.5))
    for code, value in (("en", 80), ("de", 70), ("sw", 55), ("th", 61.5), ("zh", 72), ("ur", 58))
)


def test_analyses(campaign: Campaign, tmp_path: Path) -> None:
    results("mine").to_json(tmp_path / "mine.json")
    sound = {"mine.json": (tmp_path / "mine.json").read_bytes(), "scores.csv": CSV.encode()}

    def fuzzer(case: Case) -> None:
        spoilt = case.rng.choice(list(sound))
        content, step = spoil(case.rng, spoilt, sound[spoilt])
        case.tell(f"{spoilt}: {step}")
        for name, kept in sound.items():
            (case.folder / name).write_bytes(content if name == spoilt else kept)
        analysis = case.rng.choice([name for name, entry in ANALYSES.items() if entry.takes == "scores"])
        given = case.rng.choice(([spoilt], [*sound], [spoilt, "published:mBERT"]))
        files = [each if ":" in each else case.folder / each for each in given]
        command("analyze", analysis, *files, "--json", case.folder / "found.json", "--csv", case.folder / "tables")
        check_tidy(case.folder, set())

    campaign.run(fuzzer, share=0.03)
