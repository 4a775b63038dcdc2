"""isogloss translate: a training or test set through a machine translator."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from isogloss.cli.options import Data, say
from isogloss.errors import IsoglossError, UnknownNameError, unknown

if TYPE_CHECKING:
    from isogloss.tasks.task import Task

app = typer.Typer(add_completion=False)


@app.command()
def translate(
    task: Annotated[str, typer.Argument(help="A task, e.g. xnli.")],
    language: Annotated[str, typer.Option("--language", "-l", help="The language that is not English, e.g. es.")],
    split: Annotated[str, typer.Option(help="train (from English) or test, dev (into English).")] = "train",
    translator: Annotated[
        str | None, typer.Option("--with", help="A command that reads a text a line and writes its translation a line.")
    ] = None,
    by_hand: Annotated[
        Path | None, typer.Option("--by-hand", help="Write the texts to this .jsonl file as they are instead.")
    ] = None,
    data: Data = None,
) -> None:
    """Make the translated data that translate-train and translate-test need, with any translator.

    translate-train learns from the English training set in another language
    (--split train); translate-test asks the test set of another language in
    English (--split test, and --split dev for the dev set). Labels stay as they
    are; of questions to learn from, answers are translated too and looked for
    in the translated passage.

    The file goes to translations/<task>/<regime>/ in the data folder, where
    isogloss run and train find it. If ISOGLOSS_TRANSLATIONS is set, it names
    the folder to use instead of translations/. The translations that XTREME
    published need no such step; docs/regimes.md says where to put them.

    \b
    Examples:
      isogloss translate xnli --language es \\
          --with "apertium -u -f line eng-spa" --data data
      isogloss translate xnli --language es --split test \\
          --with "apertium -u -f line spa-eng" --data data
      isogloss translate tydiqa --language fi --by-hand to-translate.jsonl \\
          --data data
    """
    from isogloss.tasks.registry import task as find_task
    from isogloss.translation.translate import translate as translate_set
    from isogloss.translation.translate import write_untranslated
    from isogloss.translation.translated_files import translation_path
    from isogloss.translation.translators import command_translator

    found = find_task(task)
    _check(found, language, split)
    if by_hand is not None:
        path = write_untranslated(found, language, split, data, by_hand)
        place = translation_path(found, language, split, data)
        say(f"{path}  Translate the texts in place and put it at {place}")
    elif translator is not None:
        say(str(translate_set(found, language, split, data, command_translator(translator))))
    else:
        raise IsoglossError("no translator", fix="Give a command --with, or a file --by-hand")


def _check(task: "Task", language: str, split: str) -> None:
    """Refuse what no regime with translations could use."""
    from isogloss.tasks.registry import no_language
    from isogloss.tasks.task import SPLITS
    from isogloss.training.regimes import regime

    if split not in SPLITS:
        raise unknown("split", split, SPLITS)
    others = {*task.every_language} - {"en"}
    if language == "en":
        fix = f"Give one of {', '.join(sorted(others))}"
        raise UnknownNameError("English is what it is translated from or to", fix=fix)
    if language not in others:
        raise no_language(task.id, language, others)
    if reason := regime("translate-train" if split == "train" else "translate-test").refusal(task):
        raise IsoglossError(f"nothing could use it: {reason}")
