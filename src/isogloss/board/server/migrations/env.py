"""Alembic environment: runs the migrations on the given connection."""

from alembic import context

from isogloss.board.server.database import BoardTable

connection = context.config.attributes["connection"]
# SQLite cannot change a column in place, so tables are copied.
context.configure(connection, target_metadata=BoardTable.metadata, render_as_batch=connection.dialect.name == "sqlite")
with context.begin_transaction():
    context.run_migrations()
