"""isogloss checklist: template tests in 51 languages, built, audited, shown and reviewed by speakers."""

import os
from pathlib import Path
from typing import Annotated

import typer

from isogloss.cli.options import Format, Languages, progress, say, words

_HELP = (
    "Template tests of simple things in 51 languages. They are the suite `checklist`, which isogloss run, score, "
    "compare, explain and report take like any other; here they are built, audited, shown and reviewed by speakers."
)

app = typer.Typer(add_completion=False, no_args_is_help=True, help=_HELP)

Cases = Annotated[int, typer.Option(min=1, help="Cases per test and language.")]
Seed = Annotated[int, typer.Option(help="0: the suite's own cases; any other draws new ones, which no task has.")]
VariantName = Annotated[str, typer.Option(help="mft, inv-names or inv-unrelated (the suite checklist-invariance).")]


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
    kind: VariantName = "mft",
    cases: Cases = 200,
    seed: Seed = 0,
    squad: Annotated[bool, typer.Option("--squad", help="Also write <language>.squad.json.")] = False,
) -> None:
    """Write the tests: JSON lines with context, question, gold answer, all accepted answers, slots and stable ids.

    isogloss export checklist-comparisons writes what is to be answered without
    gold, test by test, and isogloss score <predictions> --suite checklist
    scores the answers.

    \b
    Example:
      isogloss checklist build --out checklist --languages en,sw,ta
    """
    from isogloss.checklist.build import build as write

    with progress("writing") as step:
        jobs = os.cpu_count() or 1
        written = write(
            out, _chosen(languages), variant=kind, count=cases, seed=seed, squad=squad, jobs=jobs, progress=step
        )
    total = sum(count for _, count in written)
    say(f"{len(written)} languages, {total:,} examples in {out}")


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

    Every question is also answered as people do: the bare word, the whole
    phrase, a sentence. All must be right by the fair rule, and the answers of
    the other person or thing wrong.

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
            say(f"{finding.kind}: {finding.language} {finding.example}: {finding.detail}")
    say(f"{total:,} examples, {len(defects):,} findings")
    raise typer.Exit(1 if defects else 0)


@app.command(name="show")
def show_case(
    case: Annotated[str, typer.Argument(help="A case id, e.g. comparisons-0007.")],
    languages: Languages = None,
    cases: Cases = 200,
    seed: Seed = 0,
    form: Format = "table",
) -> None:
    """Show the questions of a case side by side in several languages, with every right answer, in its first context.

    \b
    Example:
      isogloss checklist show animal_vs_vehicle-0003 --languages en,ja,sw,tr
    """
    from isogloss.checklist.review_marks import review_status
    from isogloss.checklist.shipped import find_case
    from isogloss.grammar.cases import examples, first_context
    from isogloss.grammar.file import grammar
    from isogloss.report.checklist import side_by_side
    from isogloss.report.tables import show

    drawn = find_case(case, cases, seed)
    asked = {code: list(examples(first_context(drawn), grammar(code))) for code in _chosen(languages)}
    reviews = {code: review_status(grammar(code), drawn.test).text for code in asked}
    show([side_by_side(case, asked, reviews)], form)


@app.command()
def reference(form: Format = "table") -> None:
    """Show the published error rates (XTREME-R, Tables 10 and 11); cells that nobody could answer are marked."""
    from isogloss.report.checklist import reference_tables
    from isogloss.report.tables import show

    show(reference_tables(), form)


@app.command()
def review(
    files: Annotated[
        list[Path] | None, typer.Argument(help="With --read: what speakers sent back, or folders of such files.")
    ] = None,
    language: Annotated[str | None, typer.Option("--language", "-l", help="Of the page, e.g. sw.")] = None,
    out: Annotated[Path | None, typer.Option("--out", "-o", help="Write the page, e.g. sw.html.")] = None,
    cases: Annotated[int, typer.Option(min=1, max=200, help="Cases of each test on the page.")] = 8,
    seed: Annotated[int, typer.Option(min=0, max=2**31 - 1, help="Another samples other cases.")] = 0,
    read: Annotated[bool, typer.Option("--read", help="Read what speakers sent back.")] = False,
    mark: Annotated[
        bool, typer.Option("--mark", help="With --read: set and withdraw marks in the language file of this checkout.")
    ] = False,
    json: Annotated[Path | None, typer.Option(help="With --read: write everything as JSON.")] = None,
    form: Format = "table",
) -> None:
    """Let speakers review a language: write a page for them, or read what they sent back.

    The page is one file that a speaker opens on a phone or computer, without
    Python or a network: cases with their English, every sentence pattern and
    every word; buttons right, odd and wrong; a box for the better wording. The
    speaker downloads a result file and sends it back.

    Reading shows how far speakers agree, what to change by key of the language
    file, and the marks for tests that are reviewed: those of which some speaker
    judged everything in its present words (8 cases at least) and nobody finds
    anything wrong. Changing the words later withdraws the mark by itself; so
    does --mark where a speaker finds something wrong in a test that is marked.

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
        raise typer.BadParameter("add --read to read what speakers sent back", param_hint="FILES, --mark, --json")
    if language is None or out is None:
        raise typer.BadParameter("a page needs --language and --out, e.g. --language sw --out sw.html")
    from isogloss.data.files import atomic_write
    from isogloss.report.review_page import review_page

    page = review_page(language, cases, seed)
    with atomic_write(out) as stream:
        stream.write(page)
    say(f"{out}: send it to speakers; isogloss checklist review --read FILE… reads what they send back")


def _read_reviews(
    files: list[Path], language: str | None, out: Path | None, mark: bool, json: Path | None, form: str
) -> None:
    if not files or out:
        raise typer.BadParameter(
            "--read needs the files that speakers sent back, and writes no page", param_hint="FILES"
        )
    from isogloss.checklist.review_files import read_reviews
    from isogloss.checklist.review_marks import write_marks
    from isogloss.checklist.review_merge import merge_reviews
    from isogloss.grammar.file import checkout_path
    from isogloss.report.review_tables import review_tables
    from isogloss.report.tables import show
    from isogloss.scoring.results import write_json

    merged = merge_reviews(read_reviews(files, language, lambda note: say(f"note: {note}", err=True)))
    if json is not None:
        write_json(json, merged)
    show(review_tables(merged), form)
    lines = merged.marks | merged.withdrawals
    if not lines:
        say("no test is to be marked")
    elif mark:
        path = checkout_path(merged.language)
        write_marks(path, lines)
        for done, tests in (("marked", merged.marks), ("withdrew the mark of", merged.withdrawals)):
            if tests:
                say(f"{path}: {done} {', '.join(tests)}")
    else:
        say(f"for [review] of {merged.language}.toml (--mark writes it):")
        say("\n".join(f'{test} = "{text}"' for test, text in lines.items()))
