"""Corrupted review files: read, or rejected with a message."""

import json
from pathlib import Path

from checklist.made_reviews import made_review
from fuzz.campaign import Campaign, Case
from fuzz.mutators import spoil
from fuzz.oracle import command


def test_reviews(campaign: Campaign, tmp_path: Path) -> None:
    said = {"adjective.old": {"verdict": "odd", "better": "aged", "remark": "of people"}}
    sound = [json.dumps(made_review(name, said)).encode() for name in ("one", "two")]

    def fuzzer(case: Case) -> None:
        paths = []
        for number, content in enumerate(sound):
            changed, step = spoil(case.rng, "review.json", content) if number else (content, "")
            case.tell(step)
            paths.append(case.folder / f"{number}.json")
            paths[-1].write_bytes(changed)
        form = case.rng.choice(("table", "md", "latex"))
        done = command("checklist", "review", "--read", *paths, "--format", form, "--json", case.folder / "all.json")
        case.tell(done.text)

    campaign.run(fuzzer, share=0.03)
