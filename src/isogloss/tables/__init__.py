"""Results as tables (terminal, Markdown, LaTeX, CSV) and as charts, described once for pages and pictures."""
