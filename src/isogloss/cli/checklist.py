"""isogloss checklist: template tests in 51 languages, built, audited and scored."""

import os
from pathlib import Path
from typing import Annotated

import typer

from isogloss.cli.options import Data, Format, Languages, progress, words

app = typer.Typer(add_completion=False, no_args_is_help=True, help="Template tests of simple things in 51 languages.")

Cases = Annotated[int, typer.Option(min=1, help="Cases per test and language.")]
Seed = Annotated[int, typer.Option(help="Same seed, same bytes.")]
Kind = Annotated[str, typer.Option(help="mft, inv-names or inv-unrelated.")]


def _chosen(languages: str | None) -> list[str]:
    from isogloss.errors import unknown
    from isogloss.grammar.file import CODES

    chosen = words(languages) or list(CODES)
    for code in chosen:
        if code not in CODES:
            raise unknown("language of the checklist", code, CODES)
    return chosen


@app.command()
def build(
    out: Annotated[Path, typer.Option("--out", "-o", help="Folder for <language>.jsonl.")],
    languages: Languages = None,
    kind: Kind = "mft",
    cases: Cases = 200,
    seed: Seed = 0,
    squad: Annotated[bool, typer.Option("--squad", help="Also write <language>.squad.json.")] = False,
) -> None:
    """Write the tests: JSON lines with context, question, gold answer, slots and stable ids.

    Answer each id with {"id": …, "prediction": "the answer"} in
    <predictions>/<language>.jsonl, then isogloss checklist score <predictions>.
    INV kinds are answered in the same file as the plain ones.

    \b
    Example:
      isogloss checklist build --out checklist --languages en,sw,ta
    """
    from isogloss.checklist.build import build as write

    with progress("writing") as step:
        jobs = os.cpu_count() or 1
        written = write(
            out, _chosen(languages), kind=kind, count=cases, seed=seed, squad=squad, jobs=jobs, progress=step
        )
    total = sum(count for _, count in written)
    typer.echo(f"{len(written)} languages, {total:,} examples in {out}")


@app.command()
def answer(
    system: Annotated[str, typer.Argument(help="A system that reads, e.g. ngram.")],
    out: Annotated[Path, typer.Option("--out", "-o", help="Folder for <language>.jsonl.")],
    languages: Languages = None,
    kind: Kind = "mft",
    cases: Cases = 200,
    seed: Seed = 0,
    trained_on: Annotated[str, typer.Option(help="The QA task whose English questions train it.")] = "mini-xquad",
    data: Data = None,
) -> None:
    """Let a system answer the tests.

    \b
    Example:
      isogloss checklist answer ngram --out answers --cases 20
      isogloss checklist score answers --cases 20
    """
    from isogloss.checklist.build import Variant, variants
    from isogloss.systems import system as find_system
    from isogloss.systems.checklist import answer as write

    chosen = _chosen(languages)

    def asked_in(code: str) -> list[Variant]:
        return list(variants(code, kind, cases, seed))

    with progress("answering") as step:
        answerer = find_system(system)
        write(answerer, asked_in, out, chosen, seed=seed, trained_on=trained_on, data=data, progress=step)
    typer.echo(f"{len(chosen)} languages answered in {out}")


@app.command()
def audit(
    suite: Annotated[str, typer.Option(help="ours, or the path of a released template sheet (.tsv).")] = "ours",
    languages: Languages = None,
    cases: Cases = 200,
    seed: Seed = 0,
    details: Annotated[int, typer.Option(help="Show this many findings of each kind.")] = 0,
    form: Format = "table",
) -> None:
    """Prove that the tests are fair: every answer is in its context, once, as a span, reachable by the scoring rule.

    Exit codes: 0 no finding; 1 findings.

    \b
    Examples:
      isogloss checklist audit
      isogloss checklist audit --suite checklist_templates.tsv \\
          --languages he,th --details 2
    """
    from isogloss.checklist.shipped import audit_language
    from isogloss.report.checklist import finding_table
    from isogloss.report.tables import show

    with progress("auditing") as step:
        if suite == "ours":
            found = {}
            for code in _chosen(languages):
                step(code)
                found[code] = audit_language(code, cases, seed)
        else:
            from isogloss.checklist.released import audit_sheet

            found = {"": audit_sheet(Path(suite), words(languages), count=cases, seed=seed)}
    total = sum(findings.examples for findings in found.values())
    defects = [finding for findings in found.values() for finding in findings.found]
    if defects:
        show([finding_table(found)], form)
    shown: dict[str, int] = {}
    for finding in defects:
        shown[finding.kind] = shown.get(finding.kind, 0) + 1
        if shown[finding.kind] <= details:
            typer.echo(f"{finding.kind}: {finding.language} {finding.example}: {finding.detail}")
    typer.echo(f"{total:,} examples, {len(defects):,} findings")
    raise typer.Exit(1 if defects else 0)


@app.command()
def score(
    predictions: Annotated[Path, typer.Argument(help="Folder with <language>.jsonl.")],
    languages: Languages = None,
    kind: Kind = "mft",
    cases: Cases = 200,
    seed: Seed = 0,
    failures: Annotated[int, typer.Option(help="List this many wrong answers of each language.")] = 0,
    json: Annotated[Path | None, typer.Option(help="Write all rates as JSON.")] = None,
    form: Format = "table",
) -> None:
    """Error rates per test and language: by the paper's rule and by the fair one, with Wilson intervals.

    A case fails if any of its examples fails. The difference between the two
    rules is the test's fault.

    \b
    Example:
      isogloss checklist score my-answers --failures 3 --json rates.json
    """
    from dataclasses import asdict
    from json import dumps

    from isogloss.checklist.reference import published_averages
    from isogloss.checklist.scoring import failures as wrong
    from isogloss.checklist.scoring import score as rate
    from isogloss.data.files import atomic_write
    from isogloss.report.checklist import failure_table, rate_tables
    from isogloss.report.tables import show

    cells = rate(predictions, words(languages), kind=kind, count=cases, seed=seed)
    tables = rate_tables(cells, published_averages(), predictions.resolve().name)
    if failures:
        for code in dict.fromkeys(cell.language for cell in cells):
            tables.append(failure_table(wrong(predictions, code, count=cases, seed=seed)[:failures]))
    if json is not None:
        with atomic_write(json) as stream:
            stream.write(dumps([asdict(cell) for cell in cells], ensure_ascii=False, indent=1) + "\n")
    show(tables, form)


@app.command()
def compare(
    first: Annotated[Path, typer.Argument(help="Folder with <language>.jsonl.")],
    second: Annotated[Path, typer.Argument(help="Folder with <language>.jsonl.")],
    languages: Languages = None,
    mode: Annotated[str, typer.Option(help="paper or fair.")] = "fair",
    cases: Cases = 200,
    seed: Seed = 0,
    form: Format = "table",
) -> None:
    """Tell two systems apart, cell by cell, by McNemar's test over cases."""
    from isogloss.checklist.scoring import contrast
    from isogloss.checklist.scoring import score as rate
    from isogloss.report.checklist import contrast_table
    from isogloss.report.tables import show

    chosen = words(languages)
    rates = [rate(path, chosen, count=cases, seed=seed) for path in (first, second)]
    names = (first.resolve().name, second.resolve().name)
    show([contrast_table(contrast(rates[0], rates[1], mode), names, mode)], form)


@app.command(name="show")
def show_case(
    case: Annotated[str, typer.Argument(help="A case id, e.g. comparisons-0007.")],
    languages: Languages = None,
    cases: Cases = 200,
    seed: Seed = 0,
    form: Format = "table",
) -> None:
    """Show one case side by side in several languages.

    \b
    Example:
      isogloss checklist show animal_vs_vehicle-0003 --languages en,ja,sw,tr
    """
    from isogloss.checklist.shipped import find_case
    from isogloss.grammar.cases import examples
    from isogloss.grammar.file import grammar
    from isogloss.report.checklist import side_by_side
    from isogloss.report.tables import show

    drawn = find_case(case, cases, seed)
    rows = []
    for code in _chosen(languages):
        example = next(examples(drawn, grammar(code)))
        rows.append((code, example.context, example.question, example.answer))
    show([side_by_side(case, rows)], form)


@app.command()
def reference(form: Format = "table") -> None:
    """Show the published error rates (XTREME-R, Tables 10 and 11); cells that nobody could answer are marked."""
    from isogloss.report.checklist import reference_tables
    from isogloss.report.tables import show

    show(reference_tables(), form)
