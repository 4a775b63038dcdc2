"""Leaderboard: a site that opens from disk, and a server that takes submissions."""
