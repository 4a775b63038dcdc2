"""Options and output of `isogloss translate --check`: reports on translations, and limits of their faults."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from isogloss.cli import options as o
from isogloss.errors import IsoglossError

if TYPE_CHECKING:
    from isogloss.translation.translation_reports import TranslationReport

Checks = partial(typer.Option, rich_help_panel="Checks")


@dataclass(frozen=True, kw_only=True)
class CheckOptions:
    """Options of the checks of translations."""

    check: Annotated[
        bool, Checks("--check", help="Report on existing translations instead: those of the task, or --target files.")
    ] = False
    source: Annotated[
        Path | None, Checks(help="With --target: file of original texts, one per line. --languages names both.")
    ] = None
    target: Annotated[list[Path] | None, Checks(help="File of translations, line by line; may be repeated.")] = None
    reference: Annotated[
        list[Path] | None, Checks(help="File of human translations, for BLEU and chrF; may be repeated.")
    ] = None
    tokenizer: Annotated[
        str, Checks(help="Of BLEU: 13a, zh, char or none.", show_default="13a, or char for scripts without blanks")
    ] = ""
    limit: Annotated[
        list[str] | None,
        Checks(
            help="Largest share of a fault, e.g. untranslated=0.1; may be repeated.",
            show_default="see docs/translation.md",
        ),
    ] = None
    keep_garbage: Annotated[
        bool, Checks("--keep-garbage", help="Accept translations whatever their share of faults.")
    ] = False
    json: o.Json = None
    csv: o.Csv = None

    @property
    def is_check(self) -> bool:
        """True if nothing is to be translated."""
        return self.check or self.source is not None or bool(self.target)

    @property
    def limits(self) -> dict[str, float] | None:
        """Limits by measure as `isogloss.translate` takes them; {} to accept everything, None for the usual ones."""
        if self.keep_garbage:
            return {}
        limits: dict[str, float] = {}
        for item in self.limit or ():
            measure, equals, share = item.partition("=")
            try:
                limits[measure.strip()] = float(share)
            except ValueError:
                equals = ""
            if not equals:
                raise IsoglossError(f"invalid limit {item!r}", fix="Write a measure and a share: untranslated=0.1")
        return limits or None


def check_and_exit(
    task: str | None, languages: Sequence[str], split: str, data: Path | None, to: CheckOptions, *, pseudo: bool = False
) -> None:
    """Print reports on existing translations; exit with 1 if one is beyond a limit."""
    from isogloss.runs.translation_checks import check_lines, check_translations
    from isogloss.tables.table import show
    from isogloss.tables.translation_tables import report_tables

    if to.source is not None or to.target:
        if to.source is None or not to.target:
            raise IsoglossError("--source and --target go together", fix="Name the files of texts and translations")
        if len(languages) != 2:
            fix = "Name the languages of texts and translations: --languages en,de"
            raise IsoglossError("lines need two languages", fix=fix)
        pair = languages[0], languages[1]
        references = to.reference or ()
        reports = check_lines(to.source, to.target, pair, references=references, tokenizer=to.tokenizer)
    elif task is not None:
        reports = check_translations(task, languages, split=split, pseudo=pseudo, data=data)
    else:
        raise IsoglossError("nothing to check", fix="Name a task, or --source and --target files")
    write_reports(reports, to)
    show(list(report_tables(reports, brief=True).values()), "table")
    raise typer.Exit(1 if say_refusals(reports, to.limits) else 0)


def write_reports(reports: "Sequence[TranslationReport]", to: CheckOptions) -> None:
    """Write reports as JSON, and their tables as CSV."""
    from isogloss.data.files import atomic_write
    from isogloss.scoring.results import write_json
    from isogloss.tables.translation_tables import report_tables

    tables = report_tables(reports) if to.csv is not None else {}
    if to.json is not None:
        write_json(to.json, list(reports), indent=1)
    if to.csv is not None:
        alone = to.csv.suffix == ".csv"
        for name, table in list(tables.items())[: 1 if alone else None]:
            with atomic_write(to.csv if alone else to.csv / f"{name}.csv") as stream:
                stream.write(table.csv())


def say_refusals(reports: "Sequence[TranslationReport]", limits: dict[str, float] | None) -> bool:
    """Print which reports are beyond a limit, and return True if one is."""
    from isogloss.translation.translation_reports import GarbageTranslationError, allowed_limits

    allowed, refused = allowed_limits(limits), False
    for report in reports:
        try:
            report.refuse_garbage(allowed)
        except GarbageTranslationError as error:
            o.say(f"refused: {error}", err=True)
            refused = True
    return refused
