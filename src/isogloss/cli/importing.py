"""isogloss import: other tools' output files as a prediction folder."""

from pathlib import Path
from typing import Annotated

import typer

from isogloss.cli.options import TestOrDev, say, words
from isogloss.errors import UnknownNameError

app = typer.Typer(add_completion=False)


@app.command(name="import")
def import_(
    tool: Annotated[str, typer.Argument(help="hf, lm-eval, mteb, explainaboard, or auto.")],
    files: Annotated[list[Path], typer.Argument(help="The tool's output files for one task and language.")],
    task: Annotated[str, typer.Option("--task", "-t", help="What they answer, e.g. xquad.")],
    language: Annotated[str, typer.Option("--language", "-l", help="In which language, e.g. sw.")],
    out: Annotated[Path, typer.Option("--out", "-o", help="Prediction folder to write into.")],
    split: TestOrDev = "test",
    data: Annotated[
        Path | None,
        typer.Option(
            "--data", "-d", envvar="ISOGLOSS_DATA", help="Data folder to check against.", show_default="unchecked"
        ),
    ] = None,
    labels: Annotated[str | None, typer.Option(help="Labels in the order of the model's class indices (hf).")] = None,
    choose_filter: Annotated[
        str, typer.Option("--filter", help="Which filter's answers, where a log has several (lm-eval).")
    ] = "",
    force: Annotated[bool, typer.Option("--force", help="Replace predictions that are there.")] = False,
) -> None:
    """Turn other tools' output files into a prediction folder, for validate and score.

    \b
    hf             transformers' example scripts: predict_predictions.json and
                   n-best files (run_qa); predict_results*.txt, predictions.txt
                   (run_xnli, run_glue, run_classification, run_ner); JSON
                   lists and .npy arrays of class indices or logits
    lm-eval        samples_<task>_<date>.jsonl, written by --log_samples
                   (it runs XNLI on the validation set: --split dev)
    mteb           <task>_predictions.json, written to prediction_folder
    explainaboard  outputs with predicted_label or predicted_answers

    With a data folder, ids and quoted texts are held against the examples, and
    answers to other examples are refused; without one, a note says so. Files
    with only metrics have nothing to import.

    Exit codes: 0 written; 1 the files cannot be imported; 2 wrong usage.

    \b
    Examples:
      isogloss import hf out/predict_predictions.json -t xquad -l en -o preds
      isogloss import hf out/predict_results.txt -t xnli -l sw -o preds \\
          --labels entailment,neutral,contradiction
      isogloss import auto samples_xnli_de_*.jsonl -t xnli -l de -o preds \\
          --split dev --data data
    """
    from isogloss.predictions.importers import import_files
    from isogloss.predictions.write import write_predictions
    from isogloss.tasks.registry import task as find_task

    try:
        found = import_files(
            tool, files, task, language, split=split, data=data, labels=words(labels) or (), choose_filter=choose_filter
        )
    except UnknownNameError as error:
        raise typer.BadParameter(str(error)) from None
    path = write_predictions(out, find_task(task), language, split, found.ids, found.values, force=force)
    say(f"{path}  {len(found.ids):,} answers")
    for note in found.notes:
        say(f"note: {note}", err=True)
