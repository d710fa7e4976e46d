"""The catalog in SQL: SQLite by default, PostgreSQL by URL."""
