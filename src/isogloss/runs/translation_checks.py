"""`isogloss.check_translations`: reports on translated files of tasks, and on any files with one text per line."""

import os
from collections.abc import Sequence
from pathlib import Path

from isogloss.data.files import lines, resolve
from isogloss.errors import DataError
from isogloss.languages import language as find_language
from isogloss.runs.translating import checked_sets
from isogloss.translation.artefacts import ParallelTexts, judge_translations
from isogloss.translation.artefacts import check_translations as check_set
from isogloss.translation.translation_reports import TranslationReport

PathName = str | os.PathLike[str]


def check_translations(
    task: str, languages: str | Sequence[str], *, split: str = "", pseudo: bool = False, data: PathName | None = None
) -> list[TranslationReport]:
    """Return the report on each translated set of a task, as the regimes read it.

    Args:
        task: name of the task.
        languages: languages other than English.
        split: "train" (translated from English, the default), or "test" or "dev" (into English).
        pseudo: True to check pseudo test sets, of the split "test" (the default) or "dev".
        data: data folder; default ISOGLOSS_DATA or the user's cache.

    Raises:
        UnknownNameError: unknown task, language or split.
        MissingDataError: a set is not translated.
        DataError: the translations cannot be matched with the originals by id.

    Example:
        isogloss.check_translations("xnli", ["sw", "ur"], data="data")
    """
    entry, chosen, made = checked_sets(task, languages, split, pseudo=pseudo)
    return [check_set(entry, language, made, data) for language in chosen]


def check_lines(
    source: PathName,
    translations: PathName | Sequence[PathName],
    languages: tuple[str, str],
    *,
    references: Sequence[PathName] = (),
    tokenizer: str = "",
) -> list[TranslationReport]:
    """Return the report on each file of translations, line by line, as WMT publishes them.

    Args:
        source: file of original texts, one per line, packed or not.
        translations: files of their translations, one per translator.
        languages: languages of the originals and of the translations.
        references: files of human translations, for BLEU and chrF.
        tokenizer: of BLEU: "13a", "zh", "char" or "none"; default by the language.

    Raises:
        UnknownNameError: unknown language or tokenizer.
        DataError: a file is missing, or has another number of lines.

    Example:
        isogloss.check_lines("source.txt", "system.txt", ("en", "sw"), references=["human.txt"])
    """
    original, target = (find_language(code).code for code in languages)
    files = [translations] if isinstance(translations, str | os.PathLike) else translations
    sources = _lines(source)
    human = [_same_number(path, source, sources) for path in references]
    reports = []
    for path, name in zip(files, _short_names(files), strict=True):
        texts = ParallelTexts(
            sources=sources,
            translations=_same_number(path, source, sources),
            source_language=original,
            target_language=target,
            references=human,
            name=name,
        )
        reports.append(judge_translations(texts, tokenizer=tokenizer))
    return reports


def _short_names(files: Sequence[PathName]) -> list[str]:
    """Return the names of files; of several, the parts between full stops in which they differ."""
    names = [Path(path).name for path in files]
    parts = [name.split(".") for name in names]
    if len({*names}) < 2 or len({*map(len, parts)}) > 1:
        return names
    differing = [column for column in zip(*parts, strict=True) if len({*column}) > 1]
    return [".".join(each) for each in zip(*differing, strict=True)]


def _lines(path: PathName) -> list[str]:
    if (file := resolve(Path(path))) is None:
        raise DataError("no such file", where=str(path))
    return list(lines(file))


def _same_number(path: PathName, source: PathName, sources: Sequence[str]) -> list[str]:
    texts = _lines(path)
    if len(texts) != len(sources):
        what = f"{len(texts):,} lines, but {Path(source).name} has {len(sources):,}"
        raise DataError(what, where=str(path), fix="Line i of every file must be the same text")
    return texts
