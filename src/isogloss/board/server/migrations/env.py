"""What Alembic runs: the migrations, over the connection that it is handed."""

from alembic import context

from isogloss.board.server.models import BoardTable

connection = context.config.attributes["connection"]
# SQLite cannot change a column in place: there a table is copied.
context.configure(connection, target_metadata=BoardTable.metadata, render_as_batch=connection.dialect.name == "sqlite")
with context.begin_transaction():
    context.run_migrations()
