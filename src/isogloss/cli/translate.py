"""isogloss translate: machine-translate training or test sets."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from isogloss.cli.options import (
    Data,
    EndpointUrl,
    Execution,
    MaxCost,
    Output,
    Selection,
    expand_bundles,
    say,
    words,
)
from isogloss.cli.translation_checks import CheckOptions, check_and_exit, write_reports
from isogloss.errors import IsoglossError

if TYPE_CHECKING:
    from isogloss.runs.translating import TranslatedSet

app = typer.Typer(add_completion=False)

# Untranslated texts to list; --untranslated writes all.
_LISTED = 5
_LONGEST = 100


@app.command()
@expand_bundles
def translate(
    task: Annotated[str | None, typer.Argument(help="Task, e.g. xnli; not needed with --source.")] = None,
    *,
    data: Data = None,
    languages: Annotated[
        str, Selection("--languages", "--language", "-l", help="Languages other than English, e.g. es,de.")
    ],
    split: Annotated[
        str,
        Selection(
            help="train (from English), or test or dev (into English; with --pseudo from English).",
            show_default="train; test with --pseudo",
        ),
    ] = "",
    pseudo: Annotated[
        bool,
        Selection("--pseudo", help="Translate the English test set into any languages, as pseudo test sets."),
    ] = False,
    translator: Annotated[
        str | None,
        Execution(
            "--with",
            help="apertium:PAIR; hf:MODEL; llm:MODEL; replay:PATH (#examples if it has examples of the task); or a "
            "command with one text per input line and one translation per output line. {source} and {target} become "
            "the codes of the languages, {source3} and {target3} their ISO 639-3 codes.",
        ),
    ] = None,
    config: Annotated[
        Path | None,
        Execution("--config", "-c", help="TOML file with settings of the translator, align, markers and limits."),
    ] = None,
    align: Annotated[
        str,
        Execution(
            help="How words are aligned: spelling, or encoder:MODEL for the vectors of a multilingual encoder.",
            show_default="spelling",
        ),
    ] = "",
    markers: Annotated[
        bool, Execution(help="Translate texts once more with markers around each answer or entity.")
    ] = True,
    batch: Annotated[
        int, Execution(min=0, help="Texts per start of a command, or per batch of a model.", show_default="automatic")
    ] = 0,
    cache: Annotated[
        Path | None,
        Execution(help="Folder that keeps every translated text.", show_default="translations in the user's cache"),
    ] = None,
    endpoint: EndpointUrl = "",
    max_cost: MaxCost = 0.0,
    by_hand: Annotated[
        Path | None, Output("--by-hand", help="Write the untranslated texts to this .jsonl file instead.")
    ] = None,
    untranslated: Annotated[
        Path | None, Output(help="Write texts without a translation to this file, one per line, with the reason.")
    ] = None,
    checks: CheckOptions,
) -> None:
    """Create the translated data for translate-train and translate-test, with any translator.

    translate-train trains on the English training set translated into another
    language (--split train). translate-test translates the test set of another
    language into English (--split test; --split dev for the dev set). Labels
    are kept; answers and tags are projected onto the translation.

    With --pseudo, translates the English test set into languages without one,
    with its gold (XTREME, section 3.4). Examples that lose their gold are left
    out and counted. isogloss run --pseudo predicts such sets, and isogloss
    score --pseudo shows them beside the human ones, outside of every average.

    Every distinct text is translated once and cached: run the same command to
    resume. Settings of a model follow its name, as in hf:MODEL#beams=1, or are
    in --config.

    A summary shows artefacts (texts left untranslated, loops, lost numbers, …)
    and, for test sets with a human version, BLEU and chrF. A set beyond a
    limit is not written. --check reports on existing files.

    Writes to translations/<task>/<regime>/ (or pseudo/) in the data folder,
    where isogloss run and train look. ISOGLOSS_TRANSLATIONS overrides
    translations/. The translations published with XTREME work without this
    step; see docs/regimes.md for their location.

    Exit codes: 0 success; 1 some texts have no translation, or the
    translations are beyond a limit.

    \b
    Examples:
      isogloss translate xnli --languages es \\
          --with apertium:eng-spa --data data
      isogloss translate xnli --languages es,de,sw --split test \\
          --with hf:facebook/nllb-200-distilled-600M --data data
      isogloss translate xnli --pseudo --languages pt,sv \\
          --with hf:facebook/nllb-200-distilled-600M --data data
      isogloss translate xcopa --languages it --with llm:qwen3-32b \\
          --endpoint http://localhost:8000 --data data
      isogloss translate xcopa --languages et --split test --data data \\
          --with replay:data-gmt/{source}/test.{source}.jsonl#examples
      isogloss translate tydiqa --languages fi --by-hand to-translate.jsonl \\
          --data data
      isogloss translate xnli --languages es,de --check --data data
      isogloss translate --source news.en --target online-b.de \\
          --reference news.de --languages en,de
    """
    chosen = words(languages) or []
    if checks.is_check:
        check_and_exit(task, chosen, split, data, checks, pseudo=pseudo)
    if task is None:
        raise IsoglossError("no task", fix="Name a task, or --source and --target files to check")
    if by_hand is not None:
        if pseudo:
            raise IsoglossError("--by-hand does not apply to pseudo test sets", fix="Add --with, such as replay:PATH")
        _write_by_hand(task, chosen, split or "train", data, by_hand)
        return
    if translator is None:
        fix = "Add --with apertium:PAIR, hf:MODEL, llm:MODEL, replay:PATH or a command; or --by-hand FILE"
        raise IsoglossError("no translator", fix=fix)
    from isogloss.cli.run import system_settings
    from isogloss.interrupts import answering_interrupts
    from isogloss.runs.translating import TranslationRequest

    settings = system_settings(config, batch=batch, endpoint=endpoint, max_cost=max_cost)
    request = TranslationRequest(
        task=task,
        languages=chosen,
        translator=translator,
        split=split,
        pseudo=pseudo,
        data=data,
        settings=settings,
        cache=cache,
        align=align or None,
        markers=None if markers else False,
        limits=checks.limits,
    )
    done: list[TranslatedSet] = []
    with answering_interrupts():
        for each in request.sets():
            _say_result(each)
            done.append(each)
    incomplete = [each for each in done if each.path is None]
    if untranslated is not None:
        _write_reasons(untranslated, incomplete)
    if reports := [each.report for each in done if each.report is not None]:
        write_reports(reports, checks)
    raise typer.Exit(1 if incomplete else 0)


def _write_by_hand(task: str, languages: list[str], split: str, data: Path | None, path: Path) -> None:
    """Write the texts to translate, and print where their translations belong."""
    from isogloss.runs.translating import checked_request
    from isogloss.translation.translate import write_untranslated

    entry, chosen = checked_request(task, languages, split)
    if len(chosen) > 1:
        raise IsoglossError("--by-hand writes the file of one language", fix="Name one language")
    for written, target in write_untranslated(entry, chosen[0], split, data, path):
        say(f"{written}  Translate the texts in this file and save it as {target}")


def _say_result(result: "TranslatedSet") -> None:
    """Print the file of a set, its counts and artefacts, or the reasons why it is incomplete."""
    if result.path is not None:
        say(str(result.path))
    details = filter(None, [str(result.counts or ""), *result.notes])
    say(f"{result.task}/{result.language} {result.split}: {'; '.join(details)}", err=True)
    if result.report is not None:
        from isogloss.tables.translation_tables import summary_lines

        say("\n".join(summary_lines(result.report)), err=True)
    if result.path is None:
        say(result.failure, err=True)
        for text, reason in list(result.untranslated.items())[:_LISTED]:
            say(f"  {text[:_LONGEST]!r}: {reason}", err=True)


def _write_reasons(path: Path, incomplete: "list[TranslatedSet]") -> None:
    from isogloss.data.files import atomic_write

    with atomic_write(path) as stream:
        for each in incomplete:
            for text, reason in each.untranslated.items():
                stream.write(f"{each.language}\t{' '.join(text.split())}\t{reason}\n")
