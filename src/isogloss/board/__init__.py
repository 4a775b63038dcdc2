"""Who is best at what: the leaderboard as a static site, and the server that takes submissions."""
