"""A translator with a cache, counts and a progress bar: every distinct text is translated once, ever."""

import sys
import time
from collections.abc import Callable, Generator, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from isogloss.escaping import printable
from isogloss.figures import counted
from isogloss.tasks.examples import Examples
from isogloss.tasks.task import Task
from isogloss.translation.stored_examples import StoredExamples
from isogloss.translation.translation_cache import TranslationCache
from isogloss.translation.translators import Translator


@dataclass(kw_only=True)
class TranslationCounts:
    """Counts of the distinct texts given to a translator.

    Attributes:
        texts: number of distinct texts.
        cached: those with a translation in the cache.
        translated: those translated now.
        empty: those with an empty translation.
        identical: those that are their own translation.
        seconds: time spent on translating.
    """

    texts: int = 0
    cached: int = 0
    translated: int = 0
    empty: int = 0
    identical: int = 0
    seconds: float = 0.0

    @property
    def rate(self) -> float:
        """Texts per second, 0 if none was translated."""
        return self.translated / self.seconds if self.seconds > 0 else 0.0

    def __str__(self) -> str:
        """Return the counts in words, "" without texts."""
        if not self.texts:
            return ""
        parts = [f"{self.texts:,} distinct {'text' if self.texts == 1 else 'texts'}"]
        parts += [f"{self.cached:,} from the cache"] if self.cached else []
        parts += [f"{self.translated:,} translated ({self.rate:,.1f}/s)"] if self.translated else []
        missing = self.texts - self.cached - self.translated
        parts += [f"{missing:,} without a translation"] if missing else []
        parts += [f"{counted(self.empty, 'empty translation')}"] if self.empty else []
        parts += [f"{self.identical:,} identical to the source"] if self.identical else []
        return ", ".join(parts)


class CachedTranslator(Translator):
    """Another translator, with a cache.

    Translations are stored batch by batch, so that a killed command continues where it stopped. Of several processes
    with the same translator and languages, one translates at a time; the others wait, and find its translations.

    Args:
        translator: the translator.
        cache: folder of caches; default `translations` in the cache folder.
        quiet: True to hide the progress bar.
    """

    def __init__(self, translator: Translator, cache: Path | None = None, *, quiet: bool = False) -> None:
        self.name, self.version = translator.name, translator.version
        self.source, self.target, self.is_stored = translator.source, translator.target, translator.is_stored
        self.counts = TranslationCounts()
        self._translator, self._quiet = translator, quiet
        has_own = translator.is_stored or translator.keeps_store
        self._cache = None if has_own else TranslationCache(translator, cache)
        self._given: set[str] = set()
        self._translated_once: set[str] = set()
        self._waited = False

    @property
    def notes(self) -> list[str]:
        """Remarks of the translator."""
        return self._translator.notes

    def stored_examples(self, task: Task, originals: Examples) -> StoredExamples | None:
        """Return the translations of whole examples that the translator has."""
        return self._translator.stored_examples(task, originals)

    def batches(self, texts: Sequence[str]) -> Iterator[dict[str, str]]:
        """Yield the cached translations, and then the others as they become ready and are stored."""
        new = {text for text in texts if text not in self._given}
        self._given |= new
        self.counts.texts += len(new)
        left = yield from self._stored(texts, new)
        if self._cache is None:
            yield from self._translated(left)
        elif left:
            try:
                with self._cache.lock(self._say_waiting):
                    # Another process may have translated them meanwhile.
                    left = yield from self._stored(left, new)
                    yield from self._translated(left)
            finally:
                self._cache.close()

    def _stored(self, texts: Sequence[str], new: set[str]) -> Generator[dict[str, str], None, list[str]]:
        """Yield the stored translations, and return the texts without one; those of new texts are counted."""
        stored = self._translator.find(texts) if self._cache is None else self._cache.find(texts)
        fresh = {text: translation for text, translation in stored.items() if text in new}
        self.counts.cached += len(fresh)
        self._count(fresh)
        if stored:
            yield stored
        return [text for text in texts if text not in stored]

    def _translated(self, texts: Sequence[str]) -> Iterator[dict[str, str]]:
        if not texts:
            return
        title = f"{self.source}–{self.target}" if self.source else "translating"
        with _progress(title, len(texts), self._quiet) as advance:
            started = time.perf_counter()
            for batch in self._translator.batches(texts):
                self.counts.seconds += time.perf_counter() - started
                if self._cache is not None:
                    self._cache.add(batch)
                fresh = {text: target for text, target in batch.items() if text not in self._translated_once}
                self._translated_once.update(fresh)  # stored translations may be asked for again
                self.counts.translated += len(fresh)
                self._count(fresh)
                advance(len(batch))
                yield batch
                started = time.perf_counter()

    def _count(self, translations: dict[str, str]) -> None:
        self.counts.empty += sum(not target.strip() for target in translations.values())
        self.counts.identical += sum(source == target for source, target in translations.items())

    def _say_waiting(self) -> None:
        if not self._quiet and not self._waited:
            self._waited = True
            line = f"{self.name}: waiting for another process that translates between the same languages"
            sys.stderr.write(f"{printable(line)}\n")


@contextmanager
def _progress(title: str, total: int, quiet: bool) -> Iterator[Callable[[int], None]]:
    """Show texts per second and the time left on a terminal's stderr, and nothing elsewhere."""
    if quiet or not sys.stderr.isatty():
        yield lambda count: None
        return
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

    started, done = time.monotonic(), 0
    columns = (
        TextColumn("{task.description}", markup=False),
        BarColumn(),
        MofNCompleteColumn(),
        TextColumn("{task.fields[rate]}"),
        TimeRemainingColumn(),
    )
    with Progress(*columns, console=Console(stderr=True), transient=True) as bars:
        row = bars.add_task(title, total=total, rate="")

        def advance(count: int) -> None:
            nonlocal done
            done += count
            bars.update(row, advance=count, rate=f"{done / max(time.monotonic() - started, 1e-9):,.1f}/s")

        yield advance
