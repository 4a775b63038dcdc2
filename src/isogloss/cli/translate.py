"""isogloss translate: machine-translate a training or test set."""

from pathlib import Path
from typing import Annotated

import typer

from isogloss.cli.options import Data, Execution, Output, Selection, say
from isogloss.errors import IsoglossError, UnknownNameError, unknown

app = typer.Typer(add_completion=False)


@app.command()
def translate(
    task: Annotated[str, typer.Argument(help="Task, e.g. xnli.")],
    *,
    data: Data = None,
    language: Annotated[str, Selection("--language", "-l", help="The non-English language, e.g. es.")],
    split: Annotated[str, Selection(help="train (from English), or test or dev (into English).")] = "train",
    translator: Annotated[
        str | None,
        Execution("--with", help="Command that reads one text per line and writes one translation per line."),
    ] = None,
    by_hand: Annotated[
        Path | None, Output("--by-hand", help="Write the untranslated texts to this .jsonl file instead.")
    ] = None,
) -> None:
    """Create the translated data for translate-train and translate-test, with any translator.

    translate-train trains on the English training set translated into another
    language (--split train). translate-test translates the test set of another
    language into English (--split test; --split dev for the dev set). Labels
    are kept. For question answering training data, answers are translated too
    and located in the translated passage.

    Writes to translations/<task>/<regime>/ in the data folder, where isogloss
    run and train look. ISOGLOSS_TRANSLATIONS overrides translations/. The
    translations published with XTREME work without this step; see
    docs/regimes.md for their location.

    \b
    Examples:
      isogloss translate xnli --language es \\
          --with "apertium -u -f line eng-spa" --data data
      isogloss translate xnli --language es --split test \\
          --with "apertium -u -f line spa-eng" --data data
      isogloss translate tydiqa --language fi --by-hand to-translate.jsonl \\
          --data data
    """
    from isogloss.tasks.registry import no_language
    from isogloss.tasks.registry import task as find_task
    from isogloss.tasks.task import SPLITS
    from isogloss.training.regimes import regime
    from isogloss.translation.translate import translate as translate_set
    from isogloss.translation.translate import write_untranslated
    from isogloss.translation.translated_files import translation_path
    from isogloss.translation.translators import command_translator

    entry = find_task(task)
    others = {*entry.every_language} - {"en"}
    if split not in SPLITS:
        raise unknown("split", split, SPLITS)
    if language == "en":
        fix = f"Choose one of {', '.join(sorted(others))}"
        raise UnknownNameError("expected a language other than English", fix=fix)
    if language not in others:
        raise no_language(entry.id, language, others)
    if reason := regime("translate-train" if split == "train" else "translate-test").refusal(entry):
        raise IsoglossError(f"no regime can use this translation: {reason}")
    if by_hand is not None:
        path = write_untranslated(entry, language, split, data, by_hand)
        target = translation_path(entry, language, split, data)
        say(f"{path}  Translate the texts in this file and save it as {target}")
    elif translator is not None:
        say(str(translate_set(entry, language, split, data, command_translator(translator))))
    else:
        raise IsoglossError("no translator", fix="Add --with COMMAND or --by-hand FILE")
