"""isogloss import: convert other tools' output into a prediction folder."""

from pathlib import Path
from typing import Annotated

import typer

from isogloss.cli import options as o
from isogloss.errors import UnknownNameError

app = typer.Typer(add_completion=False)


@app.command(name="import")
def import_(
    tool: Annotated[str, typer.Argument(help="hf, lm-eval, mteb, explainaboard, or auto.")],
    files: Annotated[list[Path], typer.Argument(help="The tool's output files for one task and language.")],
    *,
    data: Annotated[
        Path | None,
        o.Input("--data", "-d", envvar="ISOGLOSS_DATA", help="Data folder to check against.", show_default="unchecked"),
    ] = None,
    labels: Annotated[str | None, o.Input(help="Labels in the order of the model's class indices (hf).")] = None,
    choose_filter: Annotated[
        str, o.Input("--filter", help="Filter to take answers from, if a log has several (lm-eval).")
    ] = "",
    task: Annotated[str, o.Selection("--task", "-t", help="Task, e.g. xquad.")],
    language: Annotated[str, o.Selection("--language", "-l", help="Language, e.g. sw.")],
    split: o.TestOrDev = "test",
    out: o.PredictionsOut,
    force: o.Force = False,
) -> None:
    """Convert other tools' output files into a prediction folder for validate and score.

    \b
    hf             transformers example scripts: predict_predictions.json and
                   n-best files (run_qa); predict_results*.txt, predictions.txt
                   (run_xnli, run_glue, run_classification, run_ner); JSON
                   lists and .npy arrays of class indices or logits
    lm-eval        samples_<task>_<date>.jsonl, written by --log_samples
                   (it runs XNLI on the validation set: --split dev)
    mteb           <task>_predictions.json, written to prediction_folder
    explainaboard  outputs with predicted_label or predicted_answers

    With a data folder, ids and quoted texts are checked against the examples,
    and predictions for other examples are rejected; without one, a note
    warns that they are unchecked. Files with only metrics cannot be imported.

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

    label_names = o.words(labels) or ()
    try:
        answers = import_files(
            tool, files, task, language, split=split, data=data, labels=label_names, choose_filter=choose_filter
        )
    except UnknownNameError as error:
        raise typer.BadParameter(str(error)) from None
    path = write_predictions(out, find_task(task), language, split, answers.ids, answers.values, force=force)
    o.say(f"{path}  {len(answers.ids):,} predictions")
    for note in answers.notes:
        o.say(f"note: {note}", err=True)
