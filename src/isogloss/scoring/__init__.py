"""Score predictions: statistics per cell, result records, comparisons of systems."""
