"""What hosted embedders share: batches under way, one policy of asking again, answers that are checked.

An adapter says how one request is made (`_ask`). Everything else is here, so that every service is
asked, waited for and mistrusted in the same way.
"""

from __future__ import annotations

import email.utils
import math
import re
import threading
import time
from abc import ABC, abstractmethod
from collections import deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, field
from http import HTTPStatus
from typing import Literal
from urllib.parse import urlsplit

import httpx
import numpy as np
import stamina
from pydantic import SecretStr

from ..errors import EmbedderError, SettingsError
from ..identity import shorten
from ..ports import Vector

Kind = Literal["query", "document"]

MINUTE = 60.0
SPECIAL_TOKENS = 2
LONGEST_QUOTE = 300
KEY_REFUSED = (401, 498)
_PIECE = re.compile(r"[A-Za-z]+|[0-9]+|[\u0080-\u052f]+|\S")


class MayPass(EmbedderError):
    """A failure that is worth another attempt; `after` is when, in seconds, if the service said so."""

    def __init__(self, message: str, after: float | None = None) -> None:
        super().__init__(message)
        self.after = after


@dataclass(frozen=True, slots=True)
class Patience:
    """How long to wait for one answer, and how often to ask again; all times in seconds."""

    timeout: float
    attempts: int
    first_wait: float
    longest_wait: float
    in_all: float | None = None
    """No further attempt begins after this."""

    def wait(self, error: Exception) -> bool | float:
        """Whether to ask again after this error, and when: as the service says, where it says so."""
        if not isinstance(error, MayPass):
            return False
        if error.after is None:
            return True
        return max(error.after, self.first_wait) if error.after <= self.longest_wait else False


WHILE_SOMEBODY_WAITS = Patience(timeout=8, attempts=3, first_wait=0.2, longest_wait=2, in_all=8)
"""For queries: fails while a search can still be answered without the embedder."""

WHILE_INDEXING = Patience(timeout=60, attempts=8, first_wait=1, longest_wait=MINUTE)
"""For documents: outlasts a limit per minute."""


@dataclass(frozen=True, slots=True)
class Terms:
    """On what terms a service is used."""

    concurrency: int = 3
    """How many batches are under way at a time: the most that a kill can cost."""
    tokens_per_minute: int | None = None
    queries: Patience = WHILE_SOMEBODY_WAITS
    documents: Patience = WHILE_INDEXING


class HostedEmbedder(ABC):
    """An embedder behind HTTP; safe to use from many threads."""

    def __init__(
        self, name: str, service: Service, *, dimension: int | None, max_tokens: int, batch: int, terms: Terms
    ) -> None:
        self.name = name
        self.model = service.model
        self.max_tokens = max_tokens
        self._service = service
        self._batch = batch
        self._terms = terms
        self._dimension = dimension
        self._learning = threading.Lock()
        self._budget = TokenBudget(terms.tokens_per_minute)

    @abstractmethod
    def _ask(self, texts: Sequence[str], kind: Kind, timeout: float) -> object:
        """Make one request: what should be a list of vectors, in the order of the texts."""

    @abstractmethod
    def close(self) -> None:
        """Close the connections."""

    @property
    def dimension(self) -> int:
        """How long the vectors are; where nobody has said, a first request finds out."""
        if self._dimension is None:
            self._vectors(["dimension"], "document", self._terms.documents, threading.Event())
        assert self._dimension is not None  # noqa: S101 - every answer tells it
        return self._dimension

    def count_tokens(self, texts: Sequence[str]) -> list[int]:
        """An estimate, as the service alone knows: see `estimate_tokens`."""
        return [estimate_tokens(text) for text in texts]

    def embed_queries(self, texts: Sequence[str]) -> list[Vector]:
        """One request for all that fit into one."""
        batches = [texts[start : start + self._batch] for start in range(0, len(texts), self._batch)]
        asked = [self._vectors(one, "query", self._terms.queries, threading.Event()) for one in batches]
        return [vector for batch in asked for vector in batch]

    def embed_documents(self, texts: Sequence[str]) -> Iterator[Vector]:
        """Vectors in order; at most `concurrency` batches are asked for ahead of what was taken."""
        left = threading.Event()
        pool = ThreadPoolExecutor(self._terms.concurrency, thread_name_prefix="embedding")
        under_way: deque[Future[list[Vector]]] = deque()
        try:
            for start in range(0, len(texts), self._batch):
                batch = texts[start : start + self._batch]
                asked = pool.submit(self._vectors, batch, "document", self._terms.documents, left)
                under_way.append(asked)
                if len(under_way) == self._terms.concurrency:
                    yield from under_way.popleft().result()
            while under_way:
                yield from under_way.popleft().result()
        finally:
            # Nobody takes what is still under way: it ends with the attempt that it is at.
            left.set()
            pool.shutdown(wait=False, cancel_futures=True)

    def _vectors(
        self, texts: Sequence[str], kind: Kind, patience: Patience, left: threading.Event
    ) -> list[Vector]:
        attempts = stamina.retry_context(
            on=patience.wait,
            attempts=patience.attempts,
            timeout=patience.in_all,
            wait_initial=patience.first_wait,
            wait_max=patience.longest_wait,
            wait_jitter=patience.first_wait,
        )
        tried = 0
        try:
            for attempt in attempts:
                with attempt:
                    tried = attempt.num
                    # Somebody waits for a query: it is small, and goes whatever the budget says.
                    if kind == "document":
                        self._budget.spend(sum(self.count_tokens(texts)), left)
                    if left.is_set():
                        raise EmbedderError("nobody waits for these vectors any more")
                    return self._checked(self._ask(texts, kind, patience.timeout), len(texts))
        except MayPass as error:
            times = f"; tried {tried} times" if tried > 1 else ""
            raise EmbedderError(f"{error}{times}") from error.__cause__
        raise AssertionError("the last attempt returns or raises")

    def _checked(self, sent: object, texts: int) -> list[Vector]:
        try:
            vectors = unit_vectors(sent, texts)
        except ValueError as error:
            raise self._service.nonsense(str(error)) from None
        with self._learning:
            wanted = self._dimension or vectors[0].size
            for vector in vectors:
                if vector.size != wanted:
                    what = f"a vector of {vector.size} elements, where it should have {wanted},"
                    raise self._service.nonsense(what)
            self._dimension = wanted
        return vectors

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.name!r})"


def unit_vectors(sent: object, texts: int) -> list[Vector]:
    """What was sent as vectors of unit length, one for each text, or a ValueError that says what it is."""
    if not isinstance(sent, list):
        raise ValueError("an answer that has no embeddings")
    if len(sent) != texts:
        raise ValueError(f"{len(sent)} vectors for {texts} texts")
    return [_unit(one) for one in sent]


def _unit(sent: object) -> Vector:
    try:
        with np.errstate(invalid="ignore"):
            vector = np.asarray(sent, dtype=np.float64)
    except (TypeError, ValueError, OverflowError):
        raise ValueError("a vector with elements that are no numbers") from None
    if vector.ndim != 1 or not vector.size:
        raise ValueError("an embedding that is no list of numbers")
    if not np.isfinite(vector).all():
        raise ValueError("a vector with NaN or infinity in it")
    # By its largest element first, for squares that would be too large or too small for a float.
    vector = vector / (np.abs(vector).max() or 1.0)
    length = float(np.linalg.norm(vector))
    if not length:
        raise ValueError("a vector of zeros")
    return np.asarray(vector / length, dtype=np.float32)


def estimate_tokens(text: str) -> int:
    """About how many tokens a text takes, without a tokenizer: rather too many than too few.

    Five letters or two digits make a token, and so does every other character; of Latin letters with
    accents, Greek and Cyrillic two do, and an emoji makes two. On English documentation that is 13 %
    more than WordPiece counts, on source code 4 %. Two texts with a space between count as their sum.
    """
    return SPECIAL_TOKENS + sum(map(_weight, _PIECE.findall(text)))


def _weight(piece: str) -> int:
    if piece[0] > "\uffff":
        return 2
    a_token = 5 if piece.isascii() and piece.isalpha() else 2
    return math.ceil(len(piece) / a_token)


class TokenBudget:
    """No more tokens in any minute than agreed; first come, first served."""

    def __init__(self, per_minute: int | None, clock: Callable[[], float] = time.monotonic) -> None:
        self._per_minute = per_minute
        self._clock = clock
        self._turn = threading.Lock()
        self._spent: deque[tuple[float, int]] = deque()

    def spend(self, tokens: int, left: threading.Event) -> None:
        """Return when that many may be spent, or when the one who wanted them has left."""
        if self._per_minute is None:
            return
        with self._turn:
            while (pause := self._pause(tokens, self._per_minute)) > 0:
                if left.wait(pause):
                    return
            self._spent.append((self._clock(), tokens))

    def _pause(self, tokens: int, per_minute: int) -> float:
        """How long until enough of the tokens spent are a minute old."""
        now = self._clock()
        while self._spent and self._spent[0][0] <= now - MINUTE:
            self._spent.popleft()
        # A batch that is larger than the budget goes when the minute before it was quiet.
        over = sum(spent for _, spent in self._spent) + min(tokens, per_minute) - per_minute
        pause = 0.0
        for when, spent in self._spent:
            if over <= 0:
                break
            over -= spent
            pause = when + MINUTE - now
        return pause


@dataclass(frozen=True, slots=True)
class Service:
    """Who is asked, and what is said of it when it fails. The key never is."""

    title: str
    url: str
    model: str
    key_setting: str
    key: SecretStr | None = field(default=None, repr=False)

    @contextmanager
    def reached(self, timeout: float) -> Iterator[None]:
        """Translate what may go wrong on the way."""
        try:
            yield
        except httpx.TimeoutException as error:
            raise MayPass(f"{self.title} at {self.url} did not answer within {timeout:g} s") from error
        except (httpx.NetworkError, httpx.RemoteProtocolError) as error:
            raise MayPass(f"the connection to {self.title} at {self.url} failed: {error}") from error
        except (httpx.HTTPError, httpx.InvalidURL) as error:
            raise EmbedderError(f"can't ask {self.title} at {self.url}: {error}") from error

    def refusal(self, status: int, headers: Mapping[str, str], body: object) -> EmbedderError:
        """What a status other than success means."""
        quote = self.quote(body)
        if status in KEY_REFUSED:
            # What it says is not repeated: some services quote a part of the key.
            does = "refused the key" if self.key else "wants a key"
            return EmbedderError(f"{self.title} {does} (HTTP {status}): check {self.key_setting}")
        if status == HTTPStatus.FORBIDDEN:
            told = f"check what {self.key_setting} is good for{quote}"
            return EmbedderError(f"{self.title} does not allow this (HTTP 403): {told}")
        if status == HTTPStatus.NOT_FOUND:
            told = f"check its name and the address{quote}"
            return EmbedderError(f"{self.title} at {self.url} has no model {self.model!r} (HTTP 404): {told}")
        answered = f"{self.title} answered HTTP {status} for the model {self.model!r}"
        if status in (HTTPStatus.REQUEST_TIMEOUT, HTTPStatus.TOO_MANY_REQUESTS) or status >= 500:  # noqa: PLR2004 - 5xx
            after = retry_after(headers)
            wait = "" if after is None else f" and asks to wait {after:.0f} s"
            return MayPass(f"{answered}{wait}{quote}", after)
        return EmbedderError(f"{answered}{quote}")

    def nonsense(self, what: str, body: object = "") -> EmbedderError:
        """An answer that is a success and still can't be used."""
        quote = self.quote(body)
        return EmbedderError(f"{self.title} at {self.url} sent {what} for the model {self.model!r}{quote}")

    def quote(self, body: object) -> str:
        """What the service said, in one line, without the key."""
        said = " ".join(self._hidden(_message(body)).split())
        return f"; it says: {shorten(said, LONGEST_QUOTE)}" if said else ""

    def _hidden(self, text: str) -> str:
        return text.replace(self.key.get_secret_value(), "********") if self.key else text

    def shows_key(self, text: str) -> bool:
        return self._hidden(text) != text


def _message(body: object) -> str:
    """The message in any of the shapes that services wrap one in."""
    while isinstance(body, Mapping):
        body = next((body[name] for name in ("error", "message", "detail") if body.get(name)), "")
    return body if isinstance(body, str) else ""


def retry_after(headers: Mapping[str, str]) -> float | None:
    """Seconds to wait, from a Retry-After header in either of its two forms."""
    value = next((value for name, value in headers.items() if name.lower() == "retry-after"), "").strip()
    try:
        seconds = float(value)
    except ValueError:
        parsed = email.utils.parsedate_tz(value)
        seconds = email.utils.mktime_tz(parsed) - time.time() if parsed else math.nan
    return max(seconds, 0.0) if math.isfinite(seconds) else None


def usable_key(key: SecretStr | str | None, setting: str) -> SecretStr | None:
    """The key without the white space around it; refused where no header can carry it."""
    plain = (key.get_secret_value() if isinstance(key, SecretStr) else key or "").strip()
    if not (plain.isascii() and plain.isprintable()):
        raise SettingsError(f"{setting} has a character in it that no key has; copy it again")
    return SecretStr(plain) if plain else None


def usable_url(url: str, setting: str) -> str:
    """An address without its last slash; refused where it is none, or would carry a secret into logs."""
    try:
        parts = urlsplit(url)
    except ValueError:
        parts = urlsplit("")
    if parts.scheme not in ("http", "https") or not parts.hostname:
        raise SettingsError(f"{setting}: must be an address such as https://host/v1")
    if parts.username or parts.password or parts.query or parts.fragment:
        raise SettingsError(f"{setting}: must have no password, query or fragment; a key has its own setting")
    return url.rstrip("/")
