"""How people call it: one file per verb."""
