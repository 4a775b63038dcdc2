"""The board's server: teams submit predictions, workers score them against labels that never leave it."""
