"""One example of everything that the API takes and gives, for its manual."""

from __future__ import annotations

from typing import Any

Example = dict[str, Any]

FILTERS: Example = {"section": "Joints", "url": "https://handbook.example/docs/urdf"}

RESULT: Example = {
    "chunk_id": "intro-0a1b2c3d-4e5f60718293",
    "snippet": "Physical AI is intelligence that acts through a body…",
    "source_path": "docs/intro.md",
    "slug": "intro",
    "title": "Introduction to Physical AI",
    "score": 0.57,
    "url": "https://handbook.example/docs/intro#what-it-is",
}

SIMILARITY: Example = {
    "score": 0.57,
    "algorithm": "hybrid-similarity",
    "query_embedding_id": "9f2c1d0e8b7a6f54",
    "result_embedding_id": "b1a7c0de-3f52-5c6e-8d4b-2f9e6a1c7d30",
}

SCORES: Example = {"cosine": 0.63, "lexical": 0.51}

METADATA: Example = {
    "url": "https://handbook.example/docs/intro",
    "section": "What it is",
    "chunk_id": RESULT["chunk_id"],
    "document_id": "intro-0a1b2c3d",
    "document_title": RESULT["title"],
    "source_type": "docusaurus-page",
    "anchor": "what-it-is",
    "start": 120,
    "end": 173,
    "source_path": RESULT["source_path"],
    "content_hash": "5f70bf18a086007016e948b04aed3b82103a36bea41755b6cddfaf10ace3c6ef",
    "created_at": "2026-01-31T09:00:00Z",
}

RETRIEVED: Example = {
    "content": RESULT["snippet"],
    "similarity_score": RESULT["score"],
    "chunk_id": RESULT["chunk_id"],
    "metadata": METADATA,
    "position": 1,
    "similarity": SIMILARITY,
    "scores": SCORES,
}

DAMAGED: Example = {
    "point_id": "9b2f6f0e-6d3c-5b0e-9f6e-1c2d3e4f5061",
    "chunk_id": RESULT["chunk_id"],
    "problems": ["position is 'x', not a whole number from 0 to 2147483647"],
}

PARAMS: Example = {"top_k": 5, "similarity_threshold": 0.3, "ranking": "hybrid", "filters": {}}

QUERY_RESPONSE: Example = {
    "query_id": "5d8f2c1a-7b3e-4f60-9a1d-c2e4b6d80f13",
    "query_text": "What is physical AI?",
    "created_at": "2026-01-31T09:30:00Z",
    "results": [RETRIEVED],
    "total_results": 1,
    "query_time_ms": 4.2,
    "search_params": PARAMS,
    "status": "success",
    "warnings": [],
    "nearest": [],
    "damaged": [],
}

SERVICE_HEALTH: Example = {
    "status": "ok",
    "index": True,
    "catalog": True,
    "embedder": "local:all-MiniLM-L6-v2",
    "chunks": 412,
}

CHUNK: Example = {
    "chunk_id": RESULT["chunk_id"],
    "position": 1,
    "content": RESULT["snippet"],
    "section": METADATA["section"],
    "anchor": METADATA["anchor"],
    "url": METADATA["url"],
    "document_id": METADATA["document_id"],
    "document_title": RESULT["title"],
    "citation": RESULT["url"],
    "content_hash": METADATA["content_hash"],
    "created_at": METADATA["created_at"],
    "start": METADATA["start"],
    "end": METADATA["end"],
}

CONTEXT: Example = {"chunk_id": RESULT["chunk_id"], "chunks": [CHUNK]}

DOCUMENT: Example = {
    "document_id": METADATA["document_id"],
    "url": METADATA["url"],
    "title": RESULT["title"],
    "source": "https://handbook.example/docs",
    "source_path": RESULT["source_path"],
    "chunks": 1,
}

DOCUMENTS: Example = {"documents": [DOCUMENT], "total": 1}

WHOLE_DOCUMENT: Example = {
    **DOCUMENT,
    "text": f"# {RESULT['title']}\n\n{RESULT['snippet']}",
    "passages": [CHUNK],
}
