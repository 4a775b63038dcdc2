"""Tables of reports on translations: artefacts, scores, style, and texts with faults."""

from collections.abc import Sequence

from isogloss.figures import interval_text, score_text
from isogloss.tables.table import INTERVAL, Table
from isogloss.translation.text_checks import TextStyle
from isogloss.translation.translation_reports import LIMITS, MEASURES, ArtefactShare, TranslationReport, percent_text


def translation_tables(report: TranslationReport) -> list[Table]:
    """Return all tables of one report."""
    return list(report_tables([report]).values())


def report_tables(reports: Sequence[TranslationReport], *, brief: bool = False) -> dict[str, Table]:
    """Return the tables of one report, or of several side by side, by name; if `brief`, without faults of none."""
    [first, *others] = reports
    tables = {"artefacts": artefact_table(reports, brief=brief) if others else share_table(first)}
    if any(report.scores for report in reports):
        tables["scores"] = score_table(reports)
    tables["style"] = style_table(reports)
    if not others and any(each.examples for each in first.shares):
        tables["faults"] = fault_table(first)
    return tables


def summary_lines(report: TranslationReport) -> list[str]:
    """Return a report in a few lines: scores, length ratio and style, and faults with their limits."""
    ratio = f"length ratio {score_text(report.length_ratio, 2)}"
    ratio += f" (human {score_text(report.human_length_ratio, 2)})" if report.human_length_ratio else ""
    style = f"type-token ratio {score_text(report.style.type_token_ratio, 3)}"
    style += f" (human {score_text(report.human_style.type_token_ratio, 3)})" if report.human_style else ""
    scores = [
        f"{score.metric} {score_text(score.value)} ({interval_text(score.low, score.high)})" for score in report.scores
    ]
    faults = [_fault_text(each) for each in report.shares if each.count]
    kept = [each.measure for each in report.shares if each.checked and not each.count]
    lines = [*([", ".join(scores)] if scores else []), f"{ratio}, {style}", *faults]
    return [f"  {line}" for line in [*lines, *([f"none: {', '.join(kept)}"] if kept else [])]]


def _fault_text(share: ArtefactShare) -> str:
    counts = f"{share.count:,} of {share.checked:,}"
    limit = LIMITS.get(share.measure)
    remarks = [f"human {percent_text(share.human)}"] if share.human is not None else []
    remarks += [f"limit {percent_text(limit)}"] if limit is not None else []
    return f"{share.measure} {percent_text(share.share)}, {counts}" + (f" ({', '.join(remarks)})" if remarks else "")


def share_table(report: TranslationReport) -> Table:
    """Return the share of each fault, with that of human translations and the limit."""
    has_human = any(each.human is not None for each in report.shares)
    head = ("measure", "count", "of", "share", *(["human"] if has_human else []), "limit")
    table = Table(f"Artefacts of translation, {_title(report)}", head)
    for each in report.shares:
        limit = LIMITS.get(each.measure)
        human = [percent_text(each.human)] if has_human else []
        table.add(
            each.measure, f"{each.count:,}", f"{each.checked:,}", percent_text(each.share), *human, percent_text(limit)
        )
    table.notes = [f"{each.measure}: {MEASURES[each.measure]}" for each in report.shares if each.count]
    return table


def artefact_table(reports: Sequence[TranslationReport], *, brief: bool = False) -> Table:
    """Return the share of every fault, one row per set of translations; if `brief`, only of faults that occur."""
    faults = {each.measure for report in reports for each in report.shares if each.count}
    shown = [measure for measure in MEASURES if measure in faults or not brief]
    table = Table("Artefacts of translation, in percent", ("texts", "pair", "n", "length ratio", *shown), words=2)
    for report in reports:
        shares = (report.share(measure).share for measure in shown)
        table.add(
            report.name,
            f"{report.source_language}-{report.target_language}",
            f"{report.texts:,}",
            score_text(report.length_ratio, 2),
            *(score_text(None if share is None else 100 * share) for share in shares),
        )
    table.notes = ["length ratio: median of translated over original characters"]
    table.notes += [f"{measure}: {MEASURES[measure]}" for measure in shown]
    if absent := [measure for measure in MEASURES if measure not in shown]:
        table.notes.append(f"none: {', '.join(absent)}")
    return table


def score_table(reports: Sequence[TranslationReport]) -> Table:
    """Return BLEU and chrF of the sets with human translations."""
    table = Table("Translations against human ones", ("texts", "metric", "n", "sources", "score", INTERVAL), words=2)
    for report in reports:
        for score in report.scores:
            bounds = interval_text(score.low, score.high)
            table.add(
                report.name, score.metric, f"{score.texts:,}", f"{score.sources:,}", score_text(score.value), bounds
            )
    signatures = dict.fromkeys(f"{score.metric}: {score.signature}" for each in reports for score in each.scores)
    table.notes = [*signatures]
    return table


def style_table(reports: Sequence[TranslationReport]) -> Table:
    """Return richness and sentence length of translations, beside those of human texts."""
    head = ("texts", "by", "tokens", "type-token ratio", "tokens per sentence", "length ratio")
    table = Table("Style of translations", head, words=2)
    for report in reports:
        _add_style(table, report.name, "translator", report.style, report.length_ratio)
        if report.human_style is not None:
            _add_style(table, report.name, "human", report.human_style, report.human_length_ratio)
    table.notes = ["type-token ratio: distinct tokens over tokens, in stretches of equal length; lower is poorer"]
    return table


def _add_style(table: Table, name: str, by: str, style: TextStyle, ratio: float | None) -> None:
    richness, length = score_text(style.type_token_ratio, 3), score_text(style.sentence_length)
    table.add(name, by, f"{style.tokens:,}", richness, length, score_text(ratio, 2))


def fault_table(report: TranslationReport) -> Table:
    """Return the first texts with each fault."""
    table = Table(f"Texts with faults, {_title(report)}", ("measure", "text", "source", "translation"), words=4)
    for each in report.shares:
        for text in each.examples:
            table.add(each.measure, text.id, text.source, text.translation)
    return table


def _title(report: TranslationReport) -> str:
    return f"{report.name} ({report.source_language} to {report.target_language}, {report.texts:,} texts)"
