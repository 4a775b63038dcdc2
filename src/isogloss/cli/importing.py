"""isogloss import: convert other tools' output into a prediction folder."""

from functools import partial
from pathlib import Path
from typing import Annotated

import typer

from isogloss.cli import options as o
from isogloss.errors import UnknownNameError

app = typer.Typer(add_completion=False)

Columns = partial(typer.Option, rich_help_panel="Columns of a table")


@app.command(name="import")
def import_(
    tool: Annotated[str, typer.Argument(help="table, hf, lm-eval, mteb, explainaboard, or auto.")],
    files: Annotated[list[Path], typer.Argument(help="The tool's output files for one task and language, or tables.")],
    *,
    data: Annotated[
        Path | None,
        o.Input("--data", "-d", envvar="ISOGLOSS_DATA", help="Data folder to check against.", show_default="unchecked"),
    ] = None,
    prediction: Annotated[
        str, Columns("--prediction", help="Column of the predictions.", show_default="prediction")
    ] = "",
    id_column: Annotated[
        str,
        Columns(
            "--id",
            help="Column of the ids, or position for the order of rows.",
            show_default="id, if there is one",
        ),
    ] = "",
    language_column: Annotated[str, Columns(help="Column of the languages; one file is written for each.")] = "",
    replies: Annotated[
        bool,
        Columns("--replies", help="Predictions are replies in free text: read the answers in them."),
    ] = False,
    labels: Annotated[
        str | None,
        o.Input(help="Labels in the order of the model's class indices (hf, table), or 0=LABEL,1=LABEL,… (table)."),
    ] = None,
    choose_filter: Annotated[
        str, o.Input("--filter", help="Filter to take answers from, if a log has several (lm-eval).")
    ] = "",
    task: Annotated[str, o.Selection("--task", "-t", help="Task, e.g. xquad.")],
    language: Annotated[
        str,
        o.Selection("--language", "-l", help="Language, e.g. sw; with --language-column, those to import."),
    ] = "",
    split: o.TestOrDev = "test",
    out: o.PredictionsOut,
    force: o.Force = False,
) -> None:
    """Convert other tools' output files into a prediction folder for validate and score.

    \b
    hf             transformers example scripts: predict_predictions.json and
                   n-best files (run_qa); predict_results*.txt, predictions.txt
                   (run_xnli, run_glue, run_classification, run_ner);
                   test_predictions.txt of words and tags (older run_ner);
                   JSON lists and .npy arrays of class indices or logits
    lm-eval        samples_<task>_<date>.jsonl, written by --log_samples
                   (it runs XNLI on the validation set: --split dev)
    mteb           <task>_predictions.json, written to prediction_folder
    explainaboard  outputs with predicted_label or predicted_answers
    table          CSV, TSV, JSON, JSON lines or Parquet of any shape. Columns are
                   named by header, key, dotted path (doc.id), or number from 1

    With a data folder, ids and quoted texts are checked against the examples,
    and predictions for other examples are rejected; without one, a note
    warns that they are unchecked. Files with only metrics cannot be imported.

    Exit codes: 0 written; 1 the files cannot be imported; 2 wrong usage.

    \b
    Examples:
      isogloss import hf out/predict_predictions.json -t xquad -l en -o preds
      isogloss import hf out/predict_results.txt -t xnli -l sw -o preds \\
          --labels entailment,neutral,contradiction
      isogloss import table answers.csv -t xnli -l sw -o preds --id pair_id \\
          --prediction label --labels 0=entailment,1=neutral,2=contradiction
      isogloss import table all.parquet -t xquad -o preds --id qid \\
          --prediction output.text --language-column lang
      isogloss import auto samples_xnli_de_*.jsonl -t xnli -l de -o preds \\
          --split dev --data data
    """
    from isogloss.predictions.importers import TableColumns, import_files, import_table
    from isogloss.predictions.write import destination, write_predictions
    from isogloss.tasks.registry import given_task as find_task

    label_names, languages = o.words(labels) or (), [_tag(task, code) for code in o.words(language) or []]
    columns = TableColumns(prediction=prediction, id=id_column, language=language_column)
    if tool != "table" and (columns.named or replies):
        raise typer.BadParameter("columns and --replies belong to isogloss import table")
    if len(languages) != 1 and not language_column:
        raise typer.BadParameter("name one language with --language")
    try:
        if tool == "table":
            read = partial(import_table, files, task, columns, languages=languages, labels=label_names)
            cells = read(split=split, data=data, replies=replies)
        else:
            cells = {
                languages[0]: import_files(
                    tool,
                    files,
                    task,
                    languages[0],
                    split=split,
                    data=data,
                    labels=label_names,
                    choose_filter=choose_filter,
                )
            }
    except UnknownNameError as error:
        raise typer.BadParameter(str(error)) from None
    for code in cells:
        destination(out, find_task(task), code, split, force=force)
    for code, answers in cells.items():
        path = write_predictions(
            out, find_task(task), code, split, answers.ids, answers.values, replies=answers.replies, force=force
        )
        o.say(f"{path}  {len(answers.ids):,} predictions")
    for note in dict.fromkeys(note for answers in cells.values() for note in answers.notes):
        o.say(f"note: {note}", err=True)


def _tag(task: str, code: str) -> str:
    """Return the task's tag of a language, from any of its codes: `ewe` is `ee`, `zho_Hant` is `zh-Hant`."""
    from isogloss.languages import codes_meant_by
    from isogloss.tasks.registry import task as find_task

    try:
        languages = find_task(task).every_language
    except UnknownNameError:
        return code  # reported with the other errors
    meant = [] if code in languages else codes_meant_by(code, languages)
    return meant[0] if len(meant) == 1 else code
