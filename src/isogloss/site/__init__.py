"""Web pages: the self-contained HTML report, pages of analyses, and the parts they share with the board."""
