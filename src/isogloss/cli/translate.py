"""isogloss translate: a training or test set through a machine translator."""

from pathlib import Path
from typing import Annotated

import typer

from isogloss.cli.options import Data

app = typer.Typer(add_completion=False)


@app.command()
def translate(
    task: Annotated[str, typer.Argument(help="A task, e.g. xnli.")],
    language: Annotated[str, typer.Option("--language", "-l", help="The language that is not English, e.g. es.")],
    split: Annotated[str, typer.Option(help="train: English to it; test or dev: from it to English.")] = "train",
    translator: Annotated[
        str | None, typer.Option("--with", help="A command that reads a text a line and writes its translation a line.")
    ] = None,
    by_hand: Annotated[
        Path | None, typer.Option("--by-hand", help="Write the texts to this .jsonl file as they are instead.")
    ] = None,
    data: Data = None,
) -> None:
    """Make the translated data that translate-train and translate-test need, with any translator.

    The file goes to translations/<task>/<regime>/ in the data folder. If
    ISOGLOSS_TRANSLATIONS is set, it names the folder to use instead of
    translations/. The translations that XTREME published need no such step;
    docs/regimes.md says where to put them.

    \b
    Examples:
      isogloss translate xnli --language es \\
          --with "apertium -u -f line eng-spa" --data data
      isogloss translate xnli --language es --split test \\
          --with "apertium -u -f line spa-eng" --data data
      isogloss translate tydiqa --language fi --by-hand to-translate.jsonl \\
          --data data
    """
    from isogloss.errors import IsoglossError, UnknownNameError, unknown
    from isogloss.tasks.registry import no_language
    from isogloss.tasks.registry import task as find_task
    from isogloss.tasks.task import SPLITS
    from isogloss.training.regimes import regime
    from isogloss.translation.translated import own_file
    from isogloss.translation.translators import program, untranslated
    from isogloss.translation.translators import translate as write

    of = find_task(task)
    if split not in SPLITS:
        raise unknown("split", split, SPLITS)
    others = {*of.languages, *of.also} - {"en"}
    if language == "en":
        raise UnknownNameError(
            "English is what it is translated from or to", fix=f"Give one of {', '.join(sorted(others))}"
        )
    if language not in others:
        raise no_language(of.id, language, others)
    if reason := regime("translate-train" if split == "train" else "translate-test").refusal(of):
        raise IsoglossError(f"nothing could use it: {reason}")
    if by_hand is not None:
        path = untranslated(of, language, split, data, by_hand)
        typer.echo(f"{path}  Translate the texts in place and put it at {own_file(of, language, split, data)}")
    elif translator is not None:
        typer.echo(str(write(of, language, split, data, program(translator))))
    else:
        raise IsoglossError("no translator", fix="Give a command --with, or a file --by-hand")
