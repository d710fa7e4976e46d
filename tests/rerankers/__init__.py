"""Tests of the rerankers."""
