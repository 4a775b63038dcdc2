"""How results are shown: tables (terminal, Markdown, LaTeX, CSV), charts, and the self-contained HTML report."""

from isogloss.lazy import callable_package

callable_package(__name__, "write.report")
