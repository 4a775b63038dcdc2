"""Score of perfect answers after a prompt's format: gold, written as a model should write it, and parsed again.

    python benchmarks/llm_round_trip.py --data DATA              # WikiANN dev, at most 1,000 sentences per language
    python benchmarks/llm_round_trip.py --data DATA --tasks wikiann,masakhaner,udpos --markdown

Ours are the three formats of tags. The two others are re-implementations, from a description, of what peers do:

- `strings` is EuroEval's format: a JSON object from each label to a list of names. A word of a name tags every token
  that contains it: the first word begins a name, the others continue one.
- `joined` is MEGA's: `token_TAG` for every token, split at the first delimiter, by position. A piece without a known
  tag gets a random one (seed 0).
"""

import argparse
import json
import random
import sys
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from statistics import fmean

sys.path.insert(0, str(Path(__file__).parents[1] / "src"))

from isogloss.endpoints.replies import ModelReply
from isogloss.errors import DataError
from isogloss.metrics import chunks
from isogloss.prompts.render import Prompts
from isogloss.prompts.settings import PromptSettings
from isogloss.tasks.examples import Examples
from isogloss.tasks.loading import load_gold
from isogloss.tasks.registry import task
from isogloss.tasks.task import Task

# The split with gold in the most languages, where that is not test.
SPLITS = {"wikiann": "dev"}
OURS = ("lines", "schema", "entities")
Tags = Sequence[str]


def ours(style: str) -> Callable[[Task, Examples], list[Tags]]:
    """Return the round trip through one of our formats."""

    def round_trip(of: Task, examples: Examples) -> list[Tags]:
        prompts = Prompts(of, examples.language, PromptSettings(model="perfect", tags=style))  # type: ignore[arg-type]
        rows = prompts.rows(examples)
        written = [prompts.format.write(row, gold) for row, gold in zip(rows, examples.tags, strict=True)]
        readings = prompts.read(examples, [ModelReply(text=text) for text in written])
        return [reading.answer for reading in readings]

    return round_trip


def strings(of: Task, examples: Examples) -> list[Tags]:
    """Return the tags after names without positions."""
    pairs = zip(examples.tokens, examples.tags, strict=True)
    return [tags_by_substring(names_by_label(of, tokens, gold), tokens) for tokens, gold in pairs]


def names_by_label(of: Task, tokens: Sequence[str], gold: Tags) -> str:
    names: dict[str, list[str]] = {}
    for label, start, end in sorted(chunks.chunks(list(gold), dialect=of.dialect), key=lambda chunk: chunk[1]):
        names.setdefault(label, []).append(" ".join(tokens[start : end + 1]))
    return json.dumps(names)


def tags_by_substring(reply: str, tokens: Sequence[str]) -> Tags:
    tags = ["O"] * len(tokens)
    for label, names in json.loads(reply).items():
        beginning, inside = f"B-{label}", f"I-{label}"
        for first, *others in map(str.split, names):
            for place in (index for index, token in enumerate(tokens) if first in token):
                tags[place] = beginning
            for word in others:
                for place in range(1, len(tokens)):
                    continues = tags[place] == "O" and tags[place - 1] in (beginning, inside)
                    if continues and word in tokens[place]:
                        tags[place] = inside
    return tags


def joined(of: Task, examples: Examples) -> list[Tags]:
    """Return the tags after joined tokens and tags."""
    rng = random.Random(0)
    predicted: list[Tags] = []
    for tokens, gold in zip(examples.tokens, examples.tags, strict=True):
        reply = " ".join(f"{token}_{tag}" for token, tag in zip(tokens, gold, strict=True))
        given = [[*piece.split("_"), ""][1] for piece in reply.split()][: len(tokens)]
        given += [""] * (len(tokens) - len(given))
        predicted.append([tag if tag in of.labels else rng.choice(of.labels) for tag in given])
    return predicted


def formats(of: Task) -> dict[str, Callable[[Task, Examples], list[Tags]]]:
    """Return the formats that suit a task; those of names need names."""
    has_names = any("-" in label for label in of.labels)
    named = {f"ours: {style}": ours(style) for style in OURS if has_names or style != "entities"}
    return named | ({"strings (EuroEval)": strings} if has_names else {}) | {"joined (MEGA)": joined}


def cells(of: Task, data: Path, most: int) -> Iterator[tuple[Examples, dict[str, float]]]:
    """Return the F1 of every format in each language with gold."""
    for language in of.languages:
        try:
            examples = load_gold(of, language, SPLITS.get(of.id, "test"), data)
        except DataError:  # no file, or no gold in it
            continue
        examples = examples.keep(range(min(most, len(examples))))
        gold = list(examples.tags)
        scores = {
            name: 100 * chunks.f1(gold, made(of, examples), dialect=of.dialect) for name, made in formats(of).items()
        }
        yield examples, scores


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--tasks", default="wikiann", help="tagging tasks, separated by commas")
    parser.add_argument("--most", type=int, default=1000, help="maximum sentences per language")
    parser.add_argument("--markdown", action="store_true", help="print tables to paste")
    options = parser.parse_args()
    bar, end = ("| ", " |") if options.markdown else ("", "")
    for name in options.tasks.split(","):
        of = task(name)
        columns = list(formats(of))
        print(f"\nF1 of perfect answers to {name}; the formats of EuroEval and MEGA are re-implementations.\n")
        print(bar + (" | " if bar else "  ").join(["language", "sentences", *columns]) + end)
        if bar:
            print("|---|" + "---:|" * (len(columns) + 1))
        rows = []
        for examples, scores in cells(of, options.data, options.most):
            rows.append(scores)
            figures = [f"{examples.language:8}", f"{len(examples):9,}"]
            figures += [f"{scores[column]:{len(column)}.1f}" for column in columns]
            print(bar + (" | " if bar else "  ").join(figures) + end, flush=True)
        if rows:
            means = [f"{fmean(row[column] for row in rows):{len(column)}.2f}" for column in columns]
            print(bar + (" | " if bar else "  ").join([f"{'mean':8}", f"{len(rows):3} lang.", *means]) + end)


if __name__ == "__main__":
    main()
