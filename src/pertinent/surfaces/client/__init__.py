"""Clients of the HTTP service: `PertinentClient` and `AsyncPertinentClient`.

`api_requests.py` and `api_responses.py` know the API; the two classes only send and wait.
"""

from .async_client import AsyncPertinentClient
from .client import PertinentClient

__all__ = ["AsyncPertinentClient", "PertinentClient"]
