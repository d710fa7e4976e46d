"""The statements that read the catalog."""

from __future__ import annotations

import sqlalchemy as sa

from .tables import documents, meta, pages

# Seed 003's own statement; SQLite has no arrays.
DESCRIBE = {
    "postgresql": "SELECT chunk_id, source_path, slug, title FROM documents WHERE chunk_id = ANY(%s)",
    "sqlite": (
        "SELECT chunk_id, source_path, slug, title FROM documents "
        "WHERE chunk_id IN (SELECT value FROM json_each(?))"
    ),
}

META = sa.select(meta.c.value).where(meta.c.key == sa.bindparam("key"))
PAGE = sa.select(pages).where(pages.c.document_id == sa.bindparam("document_id"))
PAGES = sa.select(
    pages.c.document_id,
    pages.c.url,
    pages.c.title,
    pages.c.source,
    pages.c.source_path,
    pages.c.page_hash,
    sa.select(sa.func.count())
    .select_from(documents)
    .where(documents.c.document_id == pages.c.document_id)
    .scalar_subquery(),
)
PAGES_OF_SOURCE = PAGES.where(pages.c.source == sa.bindparam("source"))
PAGE_RECORD = PAGES.where(pages.c.document_id == sa.bindparam("document_id"))
ANY_PAGE = sa.select(pages.c.document_id).limit(1)
ANY_CHUNK = sa.select(documents.c.chunk_id).where(documents.c.document_id.is_not(None)).limit(1)
# The title is read from the page: in `documents` a long one is truncated.
CHUNKS_AND_PAGES = sa.select(
    documents, pages.c.url, pages.c.title.label("page_title"), pages.c.source_type
).select_from(documents.outerjoin(pages, documents.c.document_id == pages.c.document_id))
CHUNK = CHUNKS_AND_PAGES.where(documents.c.chunk_id == sa.bindparam("chunk_id"))
CHUNKS = CHUNKS_AND_PAGES.where(documents.c.document_id == sa.bindparam("document_id")).order_by(
    documents.c.order_index
)
TIMES = sa.select(documents.c.chunk_id, documents.c.created_at).where(
    documents.c.document_id == sa.bindparam("document_id")
)
SECTION_COLUMNS = (
    pages.c.source,
    pages.c.source_path,
    pages.c.document_id,
    pages.c.url,
    pages.c.title,
    documents.c.section,
    documents.c.anchor,
)
SECTIONS = (
    sa.select(*SECTION_COLUMNS, sa.func.min(documents.c.order_index).label("position"))
    .select_from(pages.outerjoin(documents, documents.c.document_id == pages.c.document_id))
    .group_by(*SECTION_COLUMNS)
)
