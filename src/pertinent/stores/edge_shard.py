"""Open the Qdrant shard of an embedded index, with its configuration."""

from __future__ import annotations

from pathlib import Path

import qdrant_edge as qdrant

from .candidates import DENSE, LEXICAL
from .edge_checksums import check_files
from .payload import KEYWORDS

FULL_SCAN_KB = 30_000
"""Up to how many kilobytes of new vectors are searched one by one, without a graph.

That is 20,000 vectors of 384 dimensions, and takes 2 ms. An index below it needs no optimising at all, and
a larger one is optimised again only when so much is new.
"""


def open_shard(folder: Path, dimension: int) -> qdrant.EdgeShard:
    """Open the shard in the folder; create it where there is none."""
    if (folder / "edge_config.json").exists():
        check_files(folder)
        shard = qdrant.EdgeShard.load(str(folder), _config(dimension))
    else:
        shard = qdrant.EdgeShard.create(str(folder), _config(dimension))
    # Also for an existing shard: the run that created it may have been killed before this.
    indexed = shard.info().payload_schema
    for field in KEYWORDS:
        if field not in indexed:
            # In memory, those of a million chunks take most of the time at each opening.
            keyword = qdrant.KeywordIndexParams(on_disk=True)
            shard.update(qdrant.UpdateOperation.create_field_index(field, keyword))
    return shard


def _config(dimension: int) -> qdrant.EdgeConfig:
    # What a search reads is mapped through the system's cache. Copied into memory of the engine (`Pinned`) at
    # each opening, it took most of that time.
    cached = qdrant.Memory.Cached
    # Searches read few of the exact vectors.
    dense = qdrant.EdgeVectorParams(size=dimension, distance=qdrant.Distance.Cosine, on_disk=True)
    lexical = qdrant.EdgeSparseVectorParams(modifier=qdrant.Modifier.Idf, memory=cached)
    return qdrant.EdgeConfig(
        vectors={DENSE: dense},
        sparse_vectors={LEXICAL: lexical},
        # The graph is built and searched with 8-bit vectors, which takes a third of the time; candidates are
        # scored with the exact ones.
        quantization_config=qdrant.ScalarQuantizationConfig(type=qdrant.ScalarType.Int8, memory=cached),
        optimizers=qdrant.EdgeOptimizersConfig(indexing_threshold=FULL_SCAN_KB),
        # More threads don't pay: a query of the handbook takes 1.7 ms with them and 0.9 ms without, and at
        # 100,000 chunks the throughput is the same.
        max_search_threads=1,
    )
