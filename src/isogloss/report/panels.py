"""HTML of the interactive panels, which the page's JavaScript fills with what its reader chooses."""

from collections.abc import Sequence

from isogloss.escaping import html_text
from isogloss.report.section import PanelName

EXPLAIN_CHOICES = ("task", "language", "attribute", "metric")


def panel_html(name: PanelName) -> str:
    """The HTML of a panel, without data."""
    return _survey_panel() if name == "survey" else _explain_panel()


def scrolling_region(what: str, content: str, tall: bool = False) -> str:
    """A part that scrolls by itself, and can be reached by keyboard for that."""
    kind = "scroll tall" if tall else "scroll"
    return f'<div class="{kind}" tabindex="0" role="region" aria-label="{html_text(what)}">{content}</div>'


def sorting_head(content: str, kind: str = "") -> str:
    """The heading of a column, HTML already, that sorts it; columns of marks and buttons have none."""
    return f'<th scope="col"{kind}><button type="button">{content}</button></th>' if content else "<td></td>"


def _chart(identifier: str, what: str) -> str:
    return scrolling_region(f"{what}, chart", f'<div class="chart" id="{identifier}"></div>')


def _select(identifier: str, what: str) -> str:
    return f'<label>{what}<select id="{identifier}"></select></label>'


def _empty_table(identifier: str, what: str, words: Sequence[str], numbers: Sequence[str]) -> str:
    """A table whose rows the page fills, in a part that scrolls."""
    heads = [sorting_head(head) for head in words] + [sorting_head(head, ' class="number"') for head in numbers]
    head = f'<caption class="sr">{what}</caption><thead><tr>{"".join(heads)}</tr></thead>'
    return scrolling_region(f"{what}, table", f'<table>{head}<tbody id="{identifier}"></tbody></table>', tall=True)


def _explain_panel() -> str:
    selects = "".join(_select(f"choose-{key}", key) for key in EXPLAIN_CHOICES)
    buckets = _empty_table(
        "bucket-rows", "Scores by bucket", ("system", "language", "bucket"), ("edges", "n", "score", "95 %", "")
    )
    return (
        f'<div class="choices">{selects}</div><div id="insights"></div>'
        f"{_chart('explain-chart', 'Scores by bucket')}"
        f"{buckets}{_pairwise_part()}"
        '<div id="examples" aria-live="polite"></div><div id="confusion" class="scroll"></div>'
        '<details id="findings"><summary>What stands out</summary><ul></ul></details>'
    )


def _pairwise_part() -> str:
    """Two systems bucket by bucket, and what only one of them has right; hidden where there is one system."""
    words, numbers = ("language", "bucket"), ("n", "first", "second", "Δ", "95 %", "p", "", "")
    rows = _empty_table("contrast-rows", "Differences by bucket", words, numbers)
    return (
        '<div id="versus" hidden><h3 id="versus-title"></h3>'
        f'<div class="choices">{_select("choose-pair", "pair")}</div>'
        f'<div id="versus-says"></div>{_chart("versus-chart", "Differences by bucket")}'
        f"{rows}"
        '<p class="notes">Paired 95 % intervals; p is Holm-corrected over all buckets of a cell. '
        "● p &lt; 0.05; ⇄ the order of the two is not that of the cell; — too few examples for an interval.</p>"
        '<details id="turns"><summary>Where the order turns</summary><ul></ul></details></div>'
    )


def _survey_panel() -> str:
    selects = "".join(_select(f"choose-survey-{key}", key) for key in ("task", "attribute"))
    rows = _empty_table("survey-rows", "Distribution by language", ("task", "language"), ())
    return (
        f'<div class="choices">{selects}</div>'
        f"{_chart('survey-chart', 'Distribution by language')}"
        f"{rows}"
        '<h3 id="distance-title"></h3><p id="distance-says" class="intro"></p>'
        f"{_chart('distance-chart', 'Distances between languages')}"
    )
