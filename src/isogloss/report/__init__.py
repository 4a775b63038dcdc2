"""How results are shown: tables (terminal, Markdown, LaTeX, CSV), charts, and the self-contained HTML report."""
