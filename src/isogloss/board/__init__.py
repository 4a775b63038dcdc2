"""Who is best at what: the leaderboard, as a site that opens from disk, and as a server that takes submissions."""
