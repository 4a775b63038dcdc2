"""Regimes with translations end to end: real data, a real translator, a small encoder.

    python benchmarks/translate_regimes.py prepare --data DATA --stored MT --out PREPARED        # needs Apertium
    python benchmarks/translate_regimes.py train encoder:MODEL --prepared PREPARED --out RUNS    # any machine
    python benchmarks/translate_regimes.py table --prepared PREPARED --out RUNS

`prepare` writes small data folders: test sets, training sets of at most `--examples` examples, and their translations,
by Apertium in `apertium` and by others in `stored` (XCOPA's test sets by Google, SQuAD-es). `train` fine-tunes
and predicts under every regime, and prints the scores. All steps skip what is done, so run the same command to resume.

MultiNLI, SQuAD and Social IQa's training set are not needed: XNLI is learnt from its English dev set, XQuAD from
TyDiQA's English questions, and XCOPA from Social IQa's dev set and COPA. WikiANN is predicted on its dev sets, since
XTREME's test sets have no tags.
"""

import argparse
import filecmp
import json
import lzma
import random
import shutil
import sys
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from statistics import fmean
from typing import Any

sys.path.insert(0, str(Path(__file__).parents[1] / "src"))

import isogloss
from isogloss import load, task
from isogloss.data.files import atomic_write, find_all, read_bytes, read_text, resolve, unpacked_name
from isogloss.errors import IsoglossError
from isogloss.figures import interval_text, score_text
from isogloss.grouping import group_by
from isogloss.runs.records import read_record
from isogloss.scoring.results import CellScore
from isogloss.systems.base import SystemName
from isogloss.tables.table import Table
from isogloss.translation.artefacts import ParallelTexts, check_translations, judge_translations
from isogloss.translation.cached_translator import CachedTranslator
from isogloss.translation.translated_files import translation_path
from isogloss.translation.translation_reports import TranslationReport
from isogloss.translation.translators import open_translator

# Apertium's pairs, by way of Spanish if there is none with English.
INTO = {"es": "eng-spa", "fr": "eng-spa,es-fr", "it": "eng-spa,spa-ita", "pt": "eng-spa,es-pt"}
FROM = {
    "es": "spa-eng",
    "eu": "eu-en",
    "fr": "fr-es,spa-eng",
    "it": "ita-spa,spa-eng",
    "pt": "pt-es,spa-eng",
    "ro": "ro-es,spa-eng",
}
REGIMES = ("zero-shot", "translate-train", "translate-train-all", "translate-test", "translate-test-xtreme")
GOOGLE = ("et", "ht", "id", "it", "sw", "ta", "th", "tr", "vi", "zh")
# A high learning rate suits a small model. Without checkpoints, no dev set is needed.
SETTINGS = {
    "learning_rate": 3e-4,
    "batch": 16,
    "warmup": 20,
    "select": "last",
    "checkpoints": 100.0,
    "dev_examples": 0,
    "test_examples": 0,
}


@dataclass(frozen=True, kw_only=True)
class Study:
    """A task, the files that its test sets need, the languages to predict, and the split."""

    task: str
    files: tuple[str, ...]
    languages: tuple[str, ...]
    epochs: float
    split: str = "test"

    @property
    def targets(self) -> list[str]:
        """Languages that the training set is translated into."""
        return [language for language in self.languages if language in INTO]


STUDIES = {
    "xnli": Study(
        task="xnli", files=("xnli/test-{lang}.tsv", "xnli/test-gold-labels.txt"), languages=("es", "fr"), epochs=5
    ),
    "xquad": Study(task="xquad", files=("xquad/xquad.{lang}.json",), languages=("es", "ro"), epochs=5),
    "xcopa": Study(task="xcopa", files=("xcopa/data/{lang}/*.{lang}.jsonl",), languages=("it",), epochs=10),
    "wikiann": Study(
        task="wikiann",
        files=("panx/dev-{lang}.tsv",),
        languages=("es", "fr", "it", "pt", "ro", "eu"),
        epochs=5,
        split="dev",
    ),
    "udpos": Study(
        task="udpos",
        files=("udpos/conllu/{lang}_*-ud-test.conllu",),
        languages=("es", "it", "pt", "ro", "eu"),
        epochs=3,
    ),
}


def sampled(items: Sequence[Any], count: int) -> list[Any]:
    """Return `count` random items in their order, the same ones every time."""
    rows = sorted(random.Random(0).sample(range(len(items)), min(count, len(items))))
    return [items[row] for row in rows]


def write(path: Path, parts: Iterable[str]) -> None:
    """Write a file, unless it has this content: results of an older file would be computed again."""
    content = "".join(parts)
    if not path.exists() or read_text(path) != content:
        path.parent.mkdir(parents=True, exist_ok=True)
        with atomic_write(path) as stream:
            stream.write(content)


def squad(questions: Iterable[tuple[str, dict[str, Any]]]) -> str:
    """Return passages with one question each as a SQuAD file."""
    paragraphs = [{"context": context, "qas": [question]} for context, question in questions]
    return json.dumps({"version": "1.1", "data": [{"title": "", "paragraphs": paragraphs}]}, ensure_ascii=False)


def questions(path: Path) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield the questions of a SQuAD file with their passages."""
    for article in json.loads(read_bytes(path))["data"]:
        for paragraph in article["paragraphs"]:
            yield from ((paragraph["context"], question) for question in paragraph["qas"])


def write_training_set(study: Study, data: Path, out: Path, count: int) -> None:
    """Write the English training set of a task."""
    match study.task:
        case "xnli":
            dev = load("xnli", "en", "dev", data)
            rows = zip(dev["text_a"], dev["text_b"], dev["label"], strict=True)
            write(out / "xnli/train-en.tsv", ("\t".join(row) + "\n" for row in list(rows)[:count]))
        case "xquad":
            path = resolve(data / "tydiqa_goldp/english_tydiqa_train.json")
            if path is None:
                raise IsoglossError("TyDiQA's English training set is missing", where=str(data))
            write(out / "squad/train-v1.1.json", [squad(sampled(list(questions(path)), count))])
        case "xcopa":
            for path in find_all(data, "siqa/socialIQa_v1.4_dev.jsonl"):
                write(out / "siqa/socialIQa_v1.4_trn.jsonl", [read_text(path)])
        case "wikiann" | "udpos":
            train = load(study.task, "en", "train", data)
            sentences = sampled(list(zip(train["tokens"], train["tags"], strict=True)), count)
            folder = {"wikiann": "panx"}.get(study.task, study.task)
            lines = ("".join(f"{word}\t{tag}\n" for word, tag in zip(*one, strict=True)) + "\n" for one in sentences)
            write(out / f"{folder}/train-en.tsv", lines)


def copy_files(patterns: Iterable[str], data: Path, out: Path) -> None:
    """Copy all files that match, compressed or not, below another folder."""
    for pattern in patterns:
        found = find_all(data, pattern)
        if not found:
            raise IsoglossError(f"no file {pattern}", where=str(data))
        for path in found:
            target = out / path.relative_to(data)
            target.parent.mkdir(parents=True, exist_ok=True)
            if not target.exists() or not filecmp.cmp(path, target, shallow=False):
                shutil.copyfile(path, target)


def translated(study: Study, language: str, split: str, data: Path, cache: Path | None) -> None:
    """Translate a set with Apertium, and compress it."""
    path = translation_path(task(study.task), language, split, data)
    if resolve(path) is None:
        pair = INTO[language] if split == "train" else FROM[language]
        [made] = isogloss.translate(study.task, language, f"apertium:{pair}", split=split, data=data, cache=cache)
        if made.path is None:
            raise IsoglossError(made.failure)
        print(f"{study.task}/{language} {split}: {'; '.join((str(made.counts), *made.notes))}", flush=True)
        packed = path.with_name(f"{path.name}.xz")
        part = packed.with_name(f".{packed.name}.part")
        part.write_bytes(lzma.compress(path.read_bytes()))
        part.replace(packed)
        path.unlink()


def quality(report: TranslationReport) -> dict[str, Any]:
    """Return BLEU and chrF of a report, with intervals and signatures."""
    scores = {score.metric: [score.value, score.low, score.high, score.signature] for score in report.scores}
    return {"name": report.name, "texts": report.texts, **scores}


def judge(studies: Iterable[Study], data: Path, original: Path, cache: Path | None) -> Iterator[dict[str, Any]]:
    """Yield BLEU and chrF against human translations: of XNLI and XQuAD into Spanish, of test sets into English."""
    for study in studies:
        target = task(study.task)
        if study.task == "xnli":
            for language in study.targets:
                # The training set is the English dev set, which has human translations.
                human, train = load("xnli", language, "dev", original), load("xnli", "en", "train", data)
                human = replace(human.keep(range(len(train))), ids=train.ids, units=None)
                yield quality(check_translations(target, language, "train", data, references=human))
        if study.task == "xquad":
            english, human = load("xquad", "en", "test", original), load("xquad", "es", "test", original)
            for column in ("context", "question"):
                pairs = dict(zip(english[column], zip(human[column], english.clusters or (), strict=True), strict=True))
                translator = CachedTranslator(open_translator("apertium:eng-spa", "en", "es"), cache)
                texts = ParallelTexts(
                    sources=list(pairs),
                    translations=translator.translate(list(pairs)),
                    source_language="en",
                    target_language="es",
                    references=[[reference for reference, _ in pairs.values()]],
                    clusters=[cluster for _, cluster in pairs.values()],
                    name=f"xquad/en {column}s into es",
                )
                yield quality(judge_translations(texts))
        if target.parallel:
            for language in study.languages:
                yield quality(check_translations(target, language, study.split, data))


def prepare_stored(stored: Path, data: Path, out: Path, count: int) -> None:
    """Write the folder of stored translations: XCOPA's test sets by Google, and SQuAD-es without XQuAD's passages."""
    copy_files([f"xcopa/data/{language}/test.{language}.jsonl" for language in GOOGLE], data, out)
    copy_files(["xcopa/data/en/*.en.jsonl", "xquad/xquad.es.json"], data, out)
    write_training_set(STUDIES["xcopa"], data, out, count)
    for path in find_all(stored, "xcopa-translate-test/*/*.jsonl"):
        write(out / "xcopa/data-gmt" / path.parent.name / unpacked_name(path), [read_text(path)])
    tested = {question["id"] for _, question in questions(resolve(data / "xquad/xquad.es.json"))}
    asked = list(questions(resolve(stored / "squad-es/dev-v1.1-es_small.json")))
    known = {context for context, question in asked if question["id"] in tested}
    rest = [(context, question) for context, question in asked if context not in known]
    write(out / "SQuAD/translate-train/squad.translate.train.en-es.json", [squad(sampled(rest, count))])


def prepare(chosen: argparse.Namespace) -> None:
    """Write the data folders, translate, and compare with human translations."""
    out, studies = chosen.out / "apertium", [STUDIES[name] for name in chosen.tasks.split(",")]
    sizes = json.dumps({"examples": chosen.examples, "questions": chosen.questions}) + "\n"
    if (known := chosen.out / "sizes.json").exists() and read_text(known) != sizes:
        # Translations are matched by row numbers.
        raise SystemExit(
            f"{chosen.out} was prepared with other sizes ({read_text(known).strip()}): choose a new folder"
        )
    write(known, [sizes])
    for study in studies:
        languages = ("en", *study.languages)
        copy_files({name.format(lang=code): 0 for name in study.files for code in languages}, chosen.data, out)
        write_training_set(study, chosen.data, out, chosen.questions if study.task == "xquad" else chosen.examples)
        for language in study.languages:
            translated(study, language, study.split, out, chosen.cache)
        for language in study.targets:
            translated(study, language, "train", out, chosen.cache)
    if chosen.stored is not None:
        prepare_stored(chosen.stored, chosen.data, chosen.out / "stored", chosen.questions)
    found = list(judge(studies, out, chosen.data, chosen.cache))
    write(chosen.out / "quality.json", [json.dumps(found, indent=1) + "\n"])
    show_quality(chosen.out)


def show_quality(prepared: Path) -> None:
    """Print BLEU and chrF, and the losses of projection."""
    table = Table("Apertium and human translations", ("set", "texts", "BLEU", "chrF2"))
    for row in json.loads((prepared / "quality.json").read_bytes()):
        scores = (f"{score_text(row[name][0])} ({interval_text(*row[name][1:3])})" for name in ("BLEU", "chrF2"))
        table.add(row["name"], f"{row['texts']:,}", *scores)
    print(table.markdown())
    table = Table("Projection", ("set", "units", "steps", "lost", "examples dropped"))
    for path in sorted(prepared.glob("apertium/translations/*/*/*.record.json")):
        counts = json.loads(path.read_bytes())
        if not counts["total"]:
            continue
        steps = ", ".join(f"{step} {count:,}" for step, count in counts["steps"].items() if step != "lost")
        name = f"{counts['task']}/{counts['language']} {counts['split']}"
        dropped = f"{counts['dropped']:,} of {counts['examples']:,}"
        table.add(name, f"{counts['total']:,} {counts['unit']}", steps, f"{counts['lost_share']:.2%}", dropped)
    print(f"\n{table.markdown()}")


def runs(chosen: argparse.Namespace) -> Iterator[tuple[str, Study, str, list[str]]]:
    """Yield all runs: folder of translations, task, regime and languages."""
    wanted = set(chosen.languages.split(",")) if chosen.languages else None
    for folder, study, regime, languages in every_run(chosen):
        if some := [language for language in languages if wanted is None or language in wanted]:
            yield folder, study, regime, some


def every_run(chosen: argparse.Namespace) -> Iterator[tuple[str, Study, str, tuple[str, ...]]]:
    """Yield the runs in all languages."""
    for name in chosen.tasks.split(","):
        study = STUDIES[name]
        for regime in REGIMES:
            if regime != "translate-test-xtreme" or name == "xquad":
                english = ("en",) if name != "xcopa" and regime == "zero-shot" else ()
                yield "apertium", study, regime, (*english, *study.languages)
        if name == "xcopa" and (chosen.prepared / "stored").is_dir():
            yield "stored", study, "zero-shot", GOOGLE
            yield "stored", study, "translate-test", GOOGLE
        if name == "xquad" and (chosen.prepared / "stored").is_dir():
            yield "stored", study, "translate-train", ("es",)


def train(chosen: argparse.Namespace) -> None:
    """Fine-tune and predict under every regime."""
    learns = SystemName.of(chosen.system).follows_recipes
    for folder, study, regime, languages in runs(chosen):
        summary = isogloss.run(
            chosen.system,
            tasks=[study.task],
            languages=languages,
            regime=regime,
            split=study.split,
            data=chosen.prepared / folder,
            out=chosen.out / folder / study.task,
            seeds=chosen.seeds,
            subset=chosen.subset,
            settings={**SETTINGS, "epochs": study.epochs * chosen.epochs} if learns else {},
        )
        print(f"{folder} {study.task} {regime}: {summary.cell_counts}", flush=True)
        for cell, reason in {**summary.failed, **summary.skipped}.items():
            print(f"  {cell}: {reason}", flush=True)
    show_scores(chosen)


def scores(out: Path, folder: str, study: Study, regime: str) -> dict[str, list[CellScore]]:
    """Return the scores of all seeds of a run by language; results.json lacks languages outside of the suite."""
    paths = sorted(out.glob(f"{folder}/{study.task}/*/{regime}/seed-*/.cells/{study.task}/*.json"))
    records = [record for path in paths if (record := read_record(path)) is not None]
    return group_by((record.score for record in records if record.score), lambda cell: cell.language)


def shown(cells: Sequence[CellScore], metric: str) -> str:
    """Return a score with its interval, or the mean and the range over several seeds; † marks translated gold."""
    numbers = [cell.metrics[metric] for cell in cells]
    values = [number.value for number in numbers]
    low, high = (numbers[0].low, numbers[0].high) if len(numbers) == 1 else (min(values), max(values))
    return f"{score_text(fmean(values))} ({interval_text(low, high)})" + "†" * cells[0].partial


def show_scores(chosen: argparse.Namespace) -> None:
    """Print the scores of all regimes side by side."""
    found: dict[tuple[str, str, str, str], dict[str, str]] = {}
    notes: dict[tuple[str, str, str, str], list[str]] = {}
    for folder, study, regime, _ in runs(chosen):
        for language, cells in scores(chosen.out, folder, study, regime).items():
            for metric in task(study.task).main:
                found.setdefault((folder, study.task, language, metric), {})[regime] = shown(cells, metric)
            for note in cells[0].notes:
                notes.setdefault((folder, study.task, regime, note), []).append(language)
    table = Table(
        "Scores (95 % intervals, or ranges over seeds)",
        ("translations", "task", "language", "metric", *REGIMES),
        words=4,
    )
    for row, by_regime in found.items():
        table.add(*row, *(by_regime.get(regime, "") for regime in REGIMES))
    table.notes = [
        f"{folder} {name}/{','.join(codes)} {regime}: {note}" for (folder, name, regime, note), codes in notes.items()
    ]
    print(table.markdown())


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    verbs = parser.add_subparsers(dest="verb", required=True)
    preparing, training, tabling = (verbs.add_parser(name) for name in ("prepare", "train", "table"))
    for verb in (preparing, training, tabling):
        verb.add_argument("--tasks", default=",".join(STUDIES))
        verb.add_argument("--out", type=Path, required=True)
    preparing.add_argument("--data", type=Path, required=True)
    preparing.add_argument("--stored", type=Path, help="folder with xcopa-translate-test and squad-es")
    preparing.add_argument("--cache", type=Path, help="folder that keeps every translated text")
    preparing.add_argument("--examples", type=int, default=2500, help="maximum number of training examples per task")
    preparing.add_argument("--questions", type=int, default=2500, help="the same for XQuAD")
    for verb in (training, tabling):
        verb.add_argument("--prepared", type=Path, required=True)
        verb.add_argument("--languages", default="", help="default: all languages with translations")
    training.add_argument("system", help="encoder:MODEL, or any other system, such as ngram")
    training.add_argument("--seeds", type=int, default=1)
    training.add_argument("--epochs", type=float, default=1.0, help="factor of the epochs, below 1 for slow machines")
    training.add_argument("--subset", type=int, default=0, help="examples to predict per cell; 0 for all")
    chosen = parser.parse_args()
    acts = {
        "prepare": prepare,
        "train": train,
        "table": lambda given: (show_quality(given.prepared), show_scores(given)),
    }
    acts[chosen.verb](chosen)


if __name__ == "__main__":
    main()
