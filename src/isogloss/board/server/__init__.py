"""The board server: teams submit predictions, and workers score them against private labels."""
