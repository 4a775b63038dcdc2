"""Page of the fields of system.toml, from the schema of a board's submissions."""

from isogloss.results.metadata import FIELDS, metadata_schema

_HEAD = """\
# Fields of system.toml

A [system.toml](../formats.md#systemtoml) describes a system, next to its task folders. Every field is optional there;
submissions to a [board's server](../board-server.md) require those in bold and take "not disclosed" if unknown.

| field | takes | meaning |
|---|---|---|
"""


def page() -> str:
    """Return the page."""
    schema = metadata_schema()
    rows = []
    for name in FIELDS:
        shown = f"**`{name}`**" if name in schema["required"] else f"`{name}`"
        field = schema["properties"][name]
        rows.append(f"| {shown} | {field['x-takes']} | {field['description']} |")
    return _HEAD + "\n".join(rows) + "\n"
