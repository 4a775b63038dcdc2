"""`isogloss.list`: in a module of its own, since the name hides the built-in type."""

from isogloss.tables.listings import Listing, rows_of


def list(what: str | None = None) -> Listing:  # noqa: A001 - the name of the verb
    """List tasks, languages, suites, metrics, systems, analyses or doubts, or show a task or language.

    Args:
        what: "tasks", "languages", "all-languages", "suites", "metrics", "systems", "analyses" or "doubts"; the name of
            a task or language, or a task file; None for the names of the lists.

    Returns:
        Rows as dictionaries, which notebooks show as a table.

    Raises:
        UnknownNameError: no list, task or language has this name.

    Example:
        isogloss.list("tasks").to_pandas()
        [row["task"] for row in isogloss.list("tasks") if row["languages"] > 40]
    """
    return rows_of(what)
