"""The grid: which cells there are, who fills them, and what is on disk when they are filled."""
