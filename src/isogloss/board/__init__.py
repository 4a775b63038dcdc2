"""Who is best at what: the leaderboard as a site that opens from disk or any host, and the server that takes submissions."""
