"""Make the ids of headings that have none of their own, as Docusaurus 3 does with github-slugger 1.5.

A slug keeps letters, marks, decimal and letter numbers, connectors such as `_`, spaces and hyphens, and
drops everything else. Each space becomes a hyphen (two spaces, two hyphens). Which characters count as
letters is frozen to the Unicode version of that package, so an id does not depend on the Python version.
"""

from __future__ import annotations

import re
from functools import cache

_ASCII_DROPPED = re.compile(r"[\x00-\x1f!-,./:-@\[-^`{-\x7f]")

# The ranges of characters above ASCII that a slug keeps, taken from the package's regular expression.
# Each entry is the gap since the range before it and, after a point, the range's length minus one, both
# in base 36.
_LETTER_RANGES = """
16 b 5 11.n 2.cp 5.b f.4 8 2 i.38 3 3.3 j s.21 3.3t 2.4s 16 7.14 9.18 2 2.1 2.1 2 9.q 5.3 u.a 6.21
5.2t 2.7 3.9 2.i 3 h.1m 3.2s f.1h 5 3 3.19 j.r 5.a 1i.k 2.h c.e 2.3k 3.9 2.i 2.7 3.1 3.l 2.6 2 4.3
3.8 3.1 3.3 9 5.1 2.4 3.b b 2 3.2 2.5 5.1 3.l 2.6 2.1 2.1 2.1 3 2.4 5.1 3.2 4 8.3 2 8.f c.2 2.8 2.2
2.l 2.6 2.1 2.4 3.9 2.2 2.2 3 g.3 3.9 a.6 2.2 2.7 3.1 3.l 2.6 2.1 2.4 3.8 3.1 3.2 8.2 5.1 2.4 3.9 2
h.1 2.5 4.2 2.3 4.1 2 2.1 4.1 4.2 4.b 5.4 4.2 2.3 3 7 f.9 h.c 2.2 2.m 2.f 4.7 2.2 2.3 8.1 2.2 6.3
3.9 h.3 2.7 2.2 2.m 2.9 2.4 3.8 2.2 2.3 8.1 8 2.3 3.9 2.1 e.c 2.2 2.1e 2.2 2.4 6.3 8.4 3.9 b.5 2.2
2.h 4.n 2.8 2 3.6 4 5.5 2 2.7 7.9 3.1 e.1l 6.e 2.9 14.1 2 2.4 2.n 2 2.m 3.4 2 2.5 3.9 3.3 x o.1 7.9
c 2 2 5.9 2.z 5.j 2.h 2.z a 1m.21 7.25 1f.16 2.98 2.3 3.6 2 2.3 3.14 2.3 3.w 2.3 3.6 2 2.3 3.e 2.1k
2.3 3.1u 3.2 x.f 2x.5 4.h7 3.g 2.p 6.22 4.a 8.c 2.6 c.k c.j d.c 2.2 2.1 d.2b 4 5.1 3.9 y.2 3.9 7.2g
8.16 6.1x b.u 2.b 5.b b.13 3.4 c.17 5.p 7.9 13.r 5.1q 2.s 3.a 7.9 e 9.g 1s.23 5.9 i.8 d.37 d.1j 9.9
4.1c 3.8 20.2 2.12 6.6x 2.7u b.11 b.7 9.t 3.1g 2.1 7 4.2 2.1 9.3 3.1 9.7 b.2 2.1 20.1 k t e h.c 1g.w
i 5 3.9 2 4.4 7 4 4.1 2.a 3.3 6.4 5 y.o nc.p 1fr.1a 3.3n 8.7 d.11 2 6 3.1j 8 g.n a.6 2.6 2.6 2.6 2.6
2.6 2.6 2.6 2.v 1c d2.2 q.e 2.4 3.4 5.2d 3.1 3.2 2.2h 2.3 6.16 2.2l i.v 1d.f e9.533 1t.g70 4.wc
1w.19 3.7g 4.r m.1d 2.9 2.36 12.8 4.2t 4.1f 4.7 18.1d 5 k.1f d.1x b.9 7.n 4 2.1c 3.z d.s 4.1s f.a
7.u 2.1i a.d 3.9 7.m 4.20 p.2 3.f 3.4 b.5 3.5 3.5 a.6 2.6 2.16 2.d 7.3e 2.1 3.9 7.8mb d.m 5.1c
6it.a5 3.2x 13.6 d.4 6.b 2.c 2.4 2 2.1 2.1 2.2z y.a2 j.1r 3.1h 15.b 5.f h.f 4.1 p.2 x.4 2.3q k.9 12
2.p c.2g 4.5 3.5 3.5 3.2 10.b 2.p 2.i 2.1 2.e 3.d z.3e 1y.1g 3t 3n.s 4.1c g w.v e.t 6.16 6.t 3.z 5.7
2.4 2b.39 3.9 1b.z 5.13 9.1f 4d.8m a.l b.7 49.5 3 2.17 2.1 4 3.m b.m a.u 1u.i 2.1 b.l b.p 1z.1j 7.1
1t.3 2.1 6.7 2.2 2.s 3.2 5 x.s 4.s 10.7 2.t q.1h b.l b.i e.h 33.20 3c.1e e.13 9.9 93.15 2.1 4.1 27.s
b 9.w 2o.k s.m a.1y w.9 g.1n m.o 8.9 7.1g 2.9 5.3 9.z 3 a.1w 5.3 2.c 2 10.h 2.10 7 1u.6 2 2.3 2.e
2.9 8.1m 6.9 7.3 2.7 3.1 3.l 2.6 2.1 2.4 2.9 3.1 3.2 3 7 6.6 3.6 4.4 3w.22 6.9 5.3 v.1x 2 9.9 4n.1h
3.8 o.5 z.1s 4 c.9 13.1k 8.9 1j.q 3.e 5.9 5j.1m 3q.15 m.7 3 3.7 2.1 2.t 2.1 3.8 d.9 1z.7 3.19 3.7
2.1 s.1q 9 9.21 4 z.1k 7c.8 2.18 2.8 g.9 p.t 3.l 2.d 22.6 2.1 2.17 4 2.1 2.8 9.9 7.5 2.1 2.10 2.1
2.5 8.9 8n.m 56 28.pl 2v.32 i.5f 24d.tq 34i.g6 6nu.fs 8.u 2.9 2v.t 3.4 c.1i a.3 d.9 a.k 6.i k1.v
3l.22 5.1k 8.g 1t.1 2.1 c.1 f.4qf 9.yd 17.8 6wo.7y 1e.2 i.3 9.az 1s5.2y 6.c 4.8 8.9 4.1 43r.4 4.5
9.7 3.6 v.3 45.2 cc.2c 2.1y 2.1 3 3.1 3.3 2.b 2 2.6 2.1s 2.3 3.7 2.6 2.r 2.3 2.4 2 4.6 2.9f 3.o 2.o
2.u 2.o 2.u 2.o 2.u 2.o 2.u 2.o 2.7 3.1d e9.1i 5.1d 9 f n.4 2.e 11t.6 2.g 3.6 2.1 2.4 5y.18 4.d 3.9
5 aa.1l zr.5g c.6 24.15 5.9 x3.3 2.q 2.1 2 3 2.9 2.3 2 2 7 5 2 2 2.2 2.1 2 3 2 2 2 2 2.1 2 3.3 2.6
2.3 2.3 2 2.9 2.g 6.2 2.4 2.g hh.p 7.p 7.p 21z.9 sn.wyl z.378 c.65 3.4g1 f.5rk 2e8.f1 15v.3t6
fcmu.6n
"""


@cache
def _dropped_characters() -> re.Pattern[str]:
    """Return the pattern of the characters that a slug drops, above ASCII as well."""
    ranges, last = [], 0x80
    for entry in _LETTER_RANGES.split():
        gap, _, length = entry.partition(".")
        first = last + int(gap, 36)
        last = first + int(length or "0", 36)
        ranges.append(f"\\U{first:08x}-\\U{last:08x}")
    return re.compile(f"[^a-z0-9_ {''.join(ranges)}-]")


def slugify(text: str) -> str:
    """Return the slug of a heading's text, whatever other headings the page has."""
    text = text.lower()
    dropped = _ASCII_DROPPED if text.isascii() else _dropped_characters()
    return dropped.sub("", text).replace(" ", "-")


class Slugger:
    """Make slugs that are unique within one document: the second `setup` becomes `setup-1`."""

    def __init__(self) -> None:
        self._counts: dict[str, int] = {}

    def slug(self, text: str) -> str:
        """Return the next slug for this text."""
        original = slug = slugify(text)
        while slug in self._counts:
            self._counts[original] += 1
            slug = f"{original}-{self._counts[original]}"
        self._counts[slug] = 0
        return slug
