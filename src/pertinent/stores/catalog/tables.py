"""The tables as the last migration leaves them, and the type of their times."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any

import sqlalchemy as sa


class UtcTime(sa.TypeDecorator[str]):
    """A time in ISO 8601, in UTC, ending in Z; seed 003's TIMESTAMP column has no time zone.

    One that can't be read is empty: in SQLite the column takes any text.
    """

    impl = sa.TIMESTAMP
    cache_ok = True

    def process_bind_param(self, value: str | None, dialect: sa.Dialect) -> datetime | None:  # noqa: ARG002 - the signature of the base class
        return None if value is None else datetime.fromisoformat(value).replace(tzinfo=None)

    def process_result_value(self, value: datetime | None, dialect: sa.Dialect) -> str:  # noqa: ARG002 - the signature of the base class
        if value is None:
            return ""
        # In SQLite the column takes any text: another pipeline may have stored an offset.
        naive = value.astimezone(UTC).replace(tzinfo=None) if value.tzinfo else value
        return naive.isoformat() + "Z"

    def result_processor(self, dialect: sa.Dialect, coltype: object) -> Callable[[Any], str]:
        process = super().result_processor(dialect, coltype)

        def read_time(value: Any) -> str:
            try:
                return process(value) or "" if process else ""
            except (OverflowError, TypeError, ValueError):
                return ""

        return read_time


_metadata = sa.MetaData()

documents = sa.Table(
    "documents",
    _metadata,
    sa.Column("chunk_id", sa.String(50), primary_key=True),
    sa.Column("source_path", sa.Text),
    sa.Column("slug", sa.String(100)),
    sa.Column("title", sa.String(255)),
    sa.Column("order_index", sa.Integer),
    sa.Column("snippet", sa.Text),
    sa.Column("created_at", UtcTime),
    sa.Column("document_id", sa.Text),
    sa.Column("start_char", sa.Integer),
    sa.Column("end_char", sa.Integer),
    sa.Column("section", sa.Text),
    sa.Column("anchor", sa.Text),
    sa.Column("content_hash", sa.Text),
)

pages = sa.Table(
    "pages",
    _metadata,
    sa.Column("document_id", sa.Text, primary_key=True),
    sa.Column("url", sa.Text),
    sa.Column("title", sa.Text),
    sa.Column("source", sa.Text),
    sa.Column("source_path", sa.Text),
    sa.Column("slug", sa.Text),
    sa.Column("source_type", sa.Text),
    sa.Column("page_hash", sa.Text),
    sa.Column("updated_at", UtcTime),
    sa.Column("sections", sa.JSON),
    sa.Column("text", sa.Text),
    sa.Column("front_matter", sa.JSON),
)

sources = sa.Table(
    "sources", _metadata, sa.Column("name", sa.Text, primary_key=True), sa.Column("location", sa.Text)
)

pending = sa.Table(
    "pending",
    _metadata,
    sa.Column("document_id", sa.Text, primary_key=True),
    sa.Column("source", sa.Text),
    sa.Column("writer", sa.Text),
)

meta = sa.Table("meta", _metadata, sa.Column("key", sa.Text, primary_key=True), sa.Column("value", sa.Text))

vocabulary = sa.Table(
    "vocabulary",
    _metadata,
    sa.Column("word", sa.Text, primary_key=True),
    sa.Column("titles", sa.Integer),
    sa.Column("headings", sa.Integer),
    sa.Column("texts", sa.Integer),
)
