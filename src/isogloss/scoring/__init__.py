"""What predictions are worth: statistics per cell, the result record, comparison of systems."""
