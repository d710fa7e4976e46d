"""A verdict on retrieval: golden sets, metrics, integrity, diagnosis and reports."""
