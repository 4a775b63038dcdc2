"""How results are shown: tables for the terminal, Markdown and LaTeX."""
