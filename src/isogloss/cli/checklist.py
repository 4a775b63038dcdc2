"""isogloss checklist: build, audit, show and review template tests in 51 languages."""

import os
from pathlib import Path
from typing import Annotated

import typer

from isogloss.cli.options import (
    Data,
    Format,
    Input,
    Json,
    Languages,
    Output,
    Predictions,
    Selection,
    Tasks,
    progress,
    say,
    words,
)

_HELP = (
    "Build, audit, show and review template tests of basic skills in 51 languages. The tests form the suite "
    "`checklist`, which isogloss run, score, compare, explain and report accept like any other."
)

app = typer.Typer(add_completion=False, no_args_is_help=True, help=_HELP)

Cases = Annotated[int, Selection(min=1, help="Cases per test and language.")]
Seed = Annotated[int, Selection(help="0 selects the suite's cases; other seeds draw new ones.")]
VariantName = Annotated[str, Selection(help="mft, inv-names or inv-unrelated (the suite checklist-invariance).")]


def _language_codes(languages: str | None) -> list[str]:
    from isogloss.errors import unknown
    from isogloss.grammar.file import CODES

    codes = words(languages) or list(CODES)
    for code in codes:
        if code not in CODES:
            raise unknown("checklist language", code, CODES)
    return codes


@app.command()
def build(
    *,
    languages: Languages = None,
    kind: VariantName = "mft",
    cases: Cases = 200,
    seed: Seed = 0,
    out: Annotated[Path, Output("--out", "-o", help="Output folder; writes <language>.jsonl.")],
    squad: Annotated[bool, Output("--squad", help="Also write <language>.squad.json.")] = False,
) -> None:
    """Write the tests as JSON lines: context, question, gold answer, accepted answers, slots and stable ids.

    Use isogloss export checklist-comparisons to write one test's inputs without
    gold, and isogloss score <predictions> --suite checklist to score answers.

    \b
    Examples:
      isogloss checklist build --out checklist --languages en,sw,ta
    """
    from isogloss.checklist.build import build_checklist

    with progress("writing") as step:
        jobs = os.cpu_count() or 1
        written = build_checklist(
            out, _language_codes(languages), variant=kind, count=cases, seed=seed, squad=squad, jobs=jobs, progress=step
        )
    total = sum(count for _, count in written)
    say(f"{len(written)} languages, {total:,} examples in {out}")


@app.command()
def audit(
    suite: Annotated[str, Input(help="ours, or the path of a released template sheet (.tsv).")] = "ours",
    languages: Languages = None,
    cases: Cases = 200,
    seed: Seed = 0,
    details: Annotated[int, Output(help="Show this many findings of each kind.")] = 0,
    form: Format = "table",
) -> None:
    """Check that the tests are fair: every answer is a unique span of its context that the scoring rule accepts.

    Also answers every question as people do: with the bare word, the whole
    phrase and a sentence. The fair rule must accept all of them, and reject the
    answers for the other person or thing.

    Exit codes: 0 no findings; 1 findings.

    \b
    Examples:
      isogloss checklist audit
      isogloss checklist audit --suite checklist_templates.tsv \\
          --languages he,th --details 2
    """
    from isogloss.checklist.shipped import audit_language
    from isogloss.tables.checklist import finding_table
    from isogloss.tables.table import show

    with progress("auditing") as step:
        if suite == "ours":
            audits = {}
            for code in _language_codes(languages):
                step(code)
                audits[code] = audit_language(code, cases, seed)
        else:
            from isogloss.checklist.released import audit_sheet

            audits = {"": audit_sheet(Path(suite), words(languages), count=cases, seed=seed)}
    total = sum(audit.examples for audit in audits.values())
    defects = [finding for audit in audits.values() for finding in audit.defects]
    if defects:
        show([finding_table(audits)], form)
    shown: dict[str, int] = {}
    for finding in defects:
        shown[finding.kind] = shown.get(finding.kind, 0) + 1
        if shown[finding.kind] <= details:
            say(f"{finding.kind}: {finding.language} {finding.example}: {finding.detail}")
    say(f"{total:,} examples, {len(defects):,} findings")
    raise typer.Exit(1 if defects else 0)


@app.command(name="show")
def show_case(
    case: Annotated[str, typer.Argument(help="Case id, e.g. comparisons-0007.")],
    languages: Languages = None,
    cases: Cases = 200,
    seed: Seed = 0,
    form: Format = "table",
) -> None:
    """Show the questions of a case side by side in several languages, with accepted answers and its first context.

    \b
    Examples:
      isogloss checklist show animal_vs_vehicle-0003 --languages en,ja,sw,tr
    """
    from isogloss.checklist.review_marks import review_status
    from isogloss.checklist.shipped import find_case
    from isogloss.grammar.cases import examples, first_context
    from isogloss.grammar.file import grammar
    from isogloss.tables.checklist import side_by_side
    from isogloss.tables.table import show

    drawn = find_case(case, cases, seed)
    questions = {code: list(examples(first_context(drawn), grammar(code))) for code in _language_codes(languages)}
    reviews = {code: review_status(grammar(code), drawn.test).text for code in questions}
    show([side_by_side(case, questions, reviews)], form)


@app.command()
def reference(
    results: Annotated[
        list[Path] | None,
        typer.Argument(
            help="Results on the suite checklist-released: result records, or run folders.", metavar="RESULTS…"
        ),
    ] = None,
    order: Annotated[
        str, Output("--order", help="Order of languages: language (Tables 10 and 11) or average (Table 5).")
    ] = "language",
    form: Format = "table",
) -> None:
    """Show the published error rates (XTREME-R, Tables 5, 10 and 11), beside results of your own.

    Marks cells that no extractive system can pass because of defects of the
    released tests.

    \b
    Examples:
      isogloss checklist reference --order average --format latex
      isogloss score answers --suite checklist-released --json results.json
      isogloss checklist reference results.json
    """
    from isogloss.results.readers import read_results
    from isogloss.tables.checklist_released import reference_tables
    from isogloss.tables.table import show
    from isogloss.tasks.suites import suite

    systems = read_results(results or [], suite("checklist-released"))
    show(reference_tables(systems, order), form)


@app.command()
def failures(
    predictions: Predictions,
    data: Data = None,
    suite: Annotated[str, Selection("--suite", "-s", help="checklist or checklist-released.")] = "checklist",
    tasks: Tasks = None,
    languages: Languages = None,
    examples: Annotated[int, Selection(min=1, help="Failures per test and language, each from another case.")] = 1,
    json: Json = None,
    form: Format = "table",
) -> None:
    """Show examples that a system answered wrongly: context, question, answer and prediction.

    With --format latex, in the layout of XTREME-R's Table 12: languages by tests.

    \b
    Examples:
      isogloss checklist failures answers --languages af,ar,az
      isogloss checklist failures answers --suite checklist-released \\
          --data data --languages af,de --format latex
    """
    from isogloss.checklist.failures import failures as find_failures
    from isogloss.predictions.memory import open_predictions
    from isogloss.predictions.problems import LeftOut
    from isogloss.scoring.request import Request
    from isogloss.scoring.results import write_json
    from isogloss.tables.checklist_failures import failure_table
    from isogloss.tables.formatting import left_out_notes
    from isogloss.tables.table import show

    request = Request.of(suite, tasks=words(tasks), languages=words(languages), data=data)
    left_out: list[LeftOut] = []
    with progress("searching") as step:
        cases = find_failures(predictions, request, examples=examples, progress=step, left_out=left_out)
    if json is not None:
        write_json(json, cases)
    if cases:
        show([failure_table(str(open_predictions(predictions).system["name"]), cases)], form)
    else:
        say("no failures")
    for note in left_out_notes(left_out):
        say(note, err=True)


@app.command()
def review(
    files: Annotated[
        list[Path] | None, typer.Argument(help="With --read: result files from speakers, or folders of them.")
    ] = None,
    read: Annotated[bool, Input("--read", help="Read result files from speakers.")] = False,
    language: Annotated[str | None, Selection("--language", "-l", help="Language, e.g. sw.")] = None,
    cases: Annotated[int, Selection(min=1, max=200, help="Cases per test on the page.")] = 8,
    seed: Annotated[int, Selection(min=0, max=2**31 - 1, help="Random seed for the sample of cases.")] = 0,
    out: Annotated[Path | None, Output("--out", "-o", help="Write the page, e.g. sw.html.")] = None,
    mark: Annotated[
        bool, Output("--mark", help="With --read: update the review marks in this checkout's language file.")
    ] = False,
    json: Annotated[Path | None, Output(help="With --read: write all results as JSON.")] = None,
    form: Format = "table",
) -> None:
    """Review a language with native speakers: write a review page, or read their results.

    The page is one file that opens on a phone or computer, without Python or a
    network. It lists cases with their English version, every sentence pattern
    and every word, with buttons for right, odd and wrong and a box for a better
    wording. Speakers download a result file and send it back.

    --read shows the speakers' agreement, the changes per key of the language
    file, and the tests to mark as reviewed: some speaker judged everything in
    its current wording (at least 8 cases) and no speaker found an error.
    Changing the wording later invalidates the mark; --mark also withdraws it if
    a speaker finds an error.

    \b
    Examples:
      isogloss checklist review --language sw --out sw.html
      isogloss checklist review --read sw-amina.json sw-juma.json
      isogloss checklist review --read results/ --format md
      isogloss checklist review --read results/ --mark
    """
    if read:
        _read_reviews(files or [], language, out, mark, json, form)
        return
    if files or mark or json:
        raise typer.BadParameter("add --read to read results from speakers", param_hint="FILES, --mark, --json")
    if language is None or out is None:
        raise typer.BadParameter("add --language and --out, e.g. --language sw --out sw.html")
    from isogloss.data.files import atomic_write
    from isogloss.site.review_page import review_page

    page = review_page(language, cases, seed)
    with atomic_write(out) as stream:
        stream.write(page)
    say(f"{out}: send it to speakers; read their results with isogloss checklist review --read FILE…")


def _read_reviews(
    files: list[Path], language: str | None, out: Path | None, mark: bool, json: Path | None, form: str
) -> None:
    if not files or out:
        raise typer.BadParameter(
            "--read needs result files from speakers, and does not write a page", param_hint="FILES"
        )
    from isogloss.checklist.review_files import read_reviews
    from isogloss.checklist.review_marks import write_marks
    from isogloss.checklist.review_merge import merge_reviews
    from isogloss.grammar.file import checkout_path
    from isogloss.scoring.results import write_json
    from isogloss.tables.checklist import review_tables
    from isogloss.tables.table import show

    merged = merge_reviews(read_reviews(files, language, lambda note: say(f"note: {note}", err=True)))
    if json is not None:
        write_json(json, merged)
    show(review_tables(merged), form)
    lines = merged.marks | merged.withdrawals
    if not lines:
        say("no tests to mark")
    elif mark:
        path = checkout_path(merged.language)
        write_marks(path, lines)
        for done, tests in (("marked", merged.marks), ("withdrew the mark of", merged.withdrawals)):
            if tests:
                say(f"{path}: {done} {', '.join(tests)}")
    else:
        say(f"add to [review] in {merged.language}.toml, or use --mark:")
        say("\n".join(f'{test} = "{text}"' for test, text in lines.items()))
