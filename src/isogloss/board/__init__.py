"""The board: who is best at what, as a site that opens from disk or from any web host."""
