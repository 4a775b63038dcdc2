"""A system answers the checklist: its reader, trained on questions it has, meets the simple things."""

from collections.abc import Callable, Sequence
from pathlib import Path

import msgspec

from isogloss.checklist.build import Variant
from isogloss.data.files import atomic_write
from isogloss.systems.base import System, SystemFailureError
from isogloss.tasks.examples import Examples
from isogloss.tasks.loading import load
from isogloss.tasks.registry import task


def answer(
    system: System,
    asked_in: Callable[[str], Sequence[Variant]],
    out: Path,
    languages: Sequence[str],
    *,
    seed: int = 0,
    trained_on: str = "mini-xquad",
    data: Path | None = None,
    progress: Callable[[str], None] | None = None,
) -> None:
    """Write `<out>/<language>.jsonl` with the system's answers, after training it on a QA task's English questions.

    Args:
        system: who answers.
        asked_in: what is asked in a language.
        out: where the answers go.
        languages: the languages to answer in.
        seed: of the training.
        trained_on: the QA task whose English training set it learns from.
        data: the data folder of that task, where it is not a made one.
        progress: is told each language.
    """
    of = task(trained_on)
    reason = system.refusal(of)
    if reason or of.kind != "qa":
        raise SystemFailureError(f"{system.name} cannot answer questions", where=trained_on, fix=reason)
    train = load(of, "en", "train", data) if system.needs_training(of) else None
    fitted = system.fit(of, train, seed)
    encode = msgspec.json.Encoder().encode
    for code in languages:
        if progress is not None:
            progress(code)
        asked = asked_in(code)
        columns = {
            "question": [variant.question for variant in asked],
            "context": [variant.context for variant in asked],
        }
        examples = Examples(trained_on, code, "test", [variant.id for variant in asked], dict(columns), "answers")
        with atomic_write(out / f"{code}.jsonl") as stream:
            for identifier, said in zip(examples.ids, fitted.predict(examples), strict=True):
                stream.write(encode({"id": identifier, "prediction": said}).decode() + "\n")
