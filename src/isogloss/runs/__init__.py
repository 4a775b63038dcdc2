"""Grids of cells: planning, filling and summarizing them."""
