"""Building of datasets from public dumps."""
