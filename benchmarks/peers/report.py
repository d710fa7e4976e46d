"""Tables of the comparison for the documentation and the README, and its plot."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any
from xml.sax.saxutils import escape

from peers.environments import ROOT

Figures = Mapping[str, Any]

COMPARISON = ROOT / "docs" / "comparison.md"
README = ROOT / "README.md"
PICTURE = ROOT / "docs" / "images" / "comparison.svg"
OWN = "pertinent"
KINDS = {
    "questions": "questions",
    "names": "page names",
    "names, letters swapped": "names with two letters swapped",
    "names, cut off": "names cut off",
}
NO_FIGURE = "–"


@dataclass(frozen=True)
class Column:
    """A measure of the peers: what it is called, how it is read, and whether more is better."""

    title: str
    read: Callable[[Figures], float | None]
    form: str = ".3f"
    more_is_better: bool = True

    def is_better(self, value: float, than: float) -> bool:
        """Whether a value is better, as far as the printed digits tell."""
        printed, other = (float(format(number, self.form)) for number in (value, than))
        return printed > other if self.more_is_better else printed < other


def write_documents(figures: Figures) -> None:
    """Put the tables into the documentation and the README, and draw the plot."""
    replace_block(COMPARISON, make_tables(figures))
    replace_block(README, make_short_table(figures))
    PICTURE.write_text(draw(figures), encoding="utf-8")


def replace_block(path: Any, text: str) -> None:
    """Replace what stands between the comments that mark the tables."""
    before = path.read_text(encoding="utf-8")
    pattern = re.compile(r"(<!-- comparing\.py -->\n).*?(<!-- end -->)", re.S)
    after, count = pattern.subn(lambda match: f"{match[1]}\n{text}\n\n{match[2]}", before)
    if count != 1:
        raise ValueError(f"{path.name} must have one pair of <!-- comparing.py --> and <!-- end -->")
    path.write_text(after, encoding="utf-8")


def make_tables(figures: Figures) -> str:
    """Return all tables as Markdown."""
    beir, docs = _list_sets(figures, "beir"), _list_sets(figures, "docs")
    sections = []
    if beir:
        sections += ["### BEIR sets", _make_table(figures, _beir_columns(beir)), _describe_lead(figures)]
    for name in docs:
        sections += [f"### Readers of {name}", _make_table(figures, _reader_columns(name))]
    largest = _find_largest(figures)
    sections += [
        f"### Speed and size, on {largest}",
        _make_table(figures, _speed_columns(largest)),
        "### Where another library is better",
        "\n".join(_list_better(figures)) or "Nowhere in these figures.",
        "### Set-ups and versions",
        _make_setup_table(figures),
        "### Sets",
        _make_set_table(figures),
    ]
    return "\n\n".join(sections)


def make_short_table(figures: Figures) -> str:
    """Return the table of the README: means over the sets."""
    beir, docs = _list_sets(figures, "beir"), _list_sets(figures, "docs")
    speed = _speed_columns(_find_largest(figures))[0]
    columns = [
        Column("nDCG@10", _mean(_read_score(name, "ndcg@10") for name in beir)),
        *(
            Column(title, _mean(_read_score(name, kind, "in_1") for name in docs), ".2f")
            for kind, title in KINDS.items()
        ),
        speed,
    ]
    return _make_table(figures, columns)


def list_columns(figures: Figures) -> list[Column]:
    """Return every measure, with the set in its title."""
    beir, docs = _list_sets(figures, "beir"), _list_sets(figures, "docs")
    return [
        *_beir_columns(beir),
        *(
            replace(column, title=f"{name}: {column.title}")
            for name in docs
            for column in _reader_columns(name)
        ),
        *_speed_columns(_find_largest(figures)),
    ]


def _list_sets(figures: Figures, kind: str) -> list[str]:
    return [name for name, entry in figures["sets"].items() if entry["kind"] == kind]


def _find_largest(figures: Figures) -> str:
    """Return the set with the most work: few queries give no percentiles, and few chunks no load."""
    sets: Mapping[str, Any] = figures["sets"]
    return max(sets, key=lambda name: int(sets[name]["chunks"] * sets[name]["queries"]))


def _read_score(name: str, *keys: str) -> Callable[[Figures], float | None]:
    return _read(name, "scores", *keys)


def _read(name: str, *keys: str) -> Callable[[Figures], float | None]:
    """Return a function that reads a figure of a peer; None where the peer was not measured."""

    def read(peer: Figures) -> float | None:
        value: Any = peer["sets"]
        for key in (name, *keys):
            if key not in value:
                return None
            value = value[key]
        return float(value)

    return read


def _mean(readers: Iterator[Callable[[Figures], float | None]]) -> Callable[[Figures], float | None]:
    functions = list(readers)

    def read(peer: Figures) -> float | None:
        values = [value for function in functions if (value := function(peer)) is not None]
        return sum(values) / len(values) if values and len(values) == len(functions) else None

    return read


def _beir_columns(names: Sequence[str]) -> list[Column]:
    ndcg = [Column(f"{name}: nDCG@10", _read_score(name, "ndcg@10")) for name in names]
    recall = [Column(f"{name}: recall@10", _read_score(name, "recall@10")) for name in names]
    mean = Column("mean nDCG@10", _mean(_read_score(name, "ndcg@10") for name in names))
    return [*ndcg, mean, *recall]


def _reader_columns(name: str) -> list[Column]:
    return [
        Column(f"{title}, {words}", _read_score(name, kind, key))
        for kind, title in KINDS.items()
        for key, words in (("in_1", "first"), ("in_5", "in five"))
    ]


def _speed_columns(name: str) -> list[Column]:
    return [
        Column("search, p50 (ms)", _read(name, "search_ms", "p50"), ".1f", more_is_better=False),
        Column("search, p95 (ms)", _read(name, "search_ms", "p95"), ".1f", more_is_better=False),
        Column("build (s)", _read(name, "build_s"), ".2f", more_is_better=False),
        Column("nothing changed (s)", _read(name, "unchanged_s"), ".2f", more_is_better=False),
        Column("installed (MB)", lambda peer: peer.get("installed_mb"), ".1f", more_is_better=False),
    ]


def _make_table(figures: Figures, columns: Sequence[Column]) -> str:
    peers = figures["peers"].values()
    columns = [column for column in columns if any(column.read(peer) is not None for peer in peers)]
    rows = [["", *(column.title for column in columns)], ["---", *("---:" for _ in columns)]]
    for peer in peers:
        cells = [_format_cell(column, peer, figures) for column in columns]
        rows.append([peer["title"], *cells])
    return _join_rows(rows)


def _format_cell(column: Column, peer: Figures, figures: Figures) -> str:
    """Format a figure; the best of a column is bold."""
    value = column.read(peer)
    if value is None:
        return NO_FIGURE
    values = [number for entry in figures["peers"].values() if (number := column.read(entry)) is not None]
    is_best = not any(column.is_better(number, value) for number in values)
    text = format(value, column.form)
    return f"**{text}**" if is_best else text


def _describe_lead(figures: Figures) -> str:
    """Say how far Pertinent is from the best other library in nDCG@10, for each set and in the mean."""
    parts = []
    own = figures["peers"].get(OWN, {"sets": {}})
    for column in _beir_columns(_list_sets(figures, "beir")):
        values = [
            (value, peer["title"])
            for key, peer in figures["peers"].items()
            if not key.startswith(OWN) and (value := column.read(peer)) is not None
        ]
        own_value = column.read(own)
        if "nDCG@10" in column.title and values and own_value is not None:
            best, title = max(values)
            difference = f"{(own_value / best - 1) * 100:+.1f} %"
            parts.append(f"- {column.title}: {difference} against {title}, the best of the others")
    return "\n".join(["Pertinent's distance from the others:", "", *parts])


def _list_better(figures: Figures) -> Iterator[str]:
    """Yield a line for each measure in which a peer is better than Pertinent."""
    own = figures["peers"].get(OWN, {"sets": {}})
    for column in list_columns(figures):
        own_value = column.read(own)
        if own_value is None:
            continue
        better = [
            (value, peer["title"])
            for key, peer in figures["peers"].items()
            if not key.startswith(OWN)
            and (value := column.read(peer)) is not None
            and column.is_better(value, own_value)
        ]
        if better:
            better.sort(reverse=column.more_is_better)
            names = ", ".join(f"{title} {value:{column.form}}" for value, title in better)
            yield f"- {column.title}: {names}; Pertinent {own_value:{column.form}}"


def _make_setup_table(figures: Figures) -> str:
    rows = [["", "set-up", "versions", "measured"], ["---"] * 4]
    for peer in figures["peers"].values():
        versions = ", ".join(f"{package} {version}" for package, version in peer["versions"].items())
        date = max(entry["date"] for entry in peer["sets"].values())[:10]
        rows.append([peer["title"], peer["setup"], versions, date])
    return _join_rows(rows)


def _make_set_table(figures: Figures) -> str:
    rows = [["", "chunks", "queries", "embedding the chunks (s)"], ["---", *["---:"] * 3]]
    rows += [
        [name, f"{entry['chunks']:,}", f"{entry['queries']:,}", f"{entry['embedding_s']:g}"]
        for name, entry in figures["sets"].items()
    ]
    return _join_rows(rows)


def _join_rows(rows: Sequence[Sequence[str]]) -> str:
    return "\n".join(f"| {' | '.join(row)} |" for row in rows)


LABELS, WIDTH, ROW, TOP, RIGHT = 250, 420, 30, 40, 190


def draw(figures: Figures) -> str:
    """Draw a line for each measure of quality, with a dot for each peer; names are in the tooltips."""
    docs = _list_sets(figures, "docs")
    columns = [column for column in list_columns(figures) if "nDCG@10" in column.title]
    columns += [
        Column(f"{title}: first", _mean(_read_score(name, kind, "in_1") for name in docs))
        for kind, title in KINDS.items()
    ]
    shapes = [
        f'<circle cx="{LABELS + 6}" cy="16" r="6" class="own"/>',
        f'<text x="{LABELS + 18}" y="20">Pertinent</text>',
        f'<circle cx="{LABELS + 106}" cy="16" r="5" class="variant"/>',
        f'<text x="{LABELS + 118}" y="20">with bge-small</text>',
        f'<circle cx="{LABELS + 226}" cy="16" r="5"/>',
        f'<text x="{LABELS + 238}" y="20">others, the best of them named</text>',
    ]
    for number, column in enumerate(columns):
        shapes += _draw_row(figures, column, TOP + number * ROW + ROW // 2)
    bottom = TOP + len(columns) * ROW
    for tenth in range(0, 11, 2):
        x = LABELS + tenth / 10 * WIDTH
        shapes += [
            f'<path d="M{x:g} {TOP}V{bottom}" class="line"/>',
            f'<text x="{x:g}" y="{bottom + 18}" text-anchor="middle">{tenth / 10:g}</text>',
        ]
    style = (
        "text{font:12px sans-serif;fill:#57606a}.line{fill:none;stroke:#8c959f;stroke-opacity:.5;"
        "stroke-dasharray:3 3}circle{fill:#8c959f;fill-opacity:.7}circle.own{fill:#0969da;fill-opacity:1}"
        "circle.variant{fill:#fff;fill-opacity:1;stroke:#0969da;stroke-width:2}"
    )
    size = f'viewBox="0 0 {LABELS + WIDTH + RIGHT} {bottom + 30}" width="{LABELS + WIDTH + RIGHT}"'
    title = "<title>Quality of Pertinent and of other libraries</title>"
    head = f'<svg xmlns="http://www.w3.org/2000/svg" {size} role="img">{title}<style>{style}</style>'
    return "\n".join([head, *shapes, "</svg>"]) + "\n"


def _draw_row(figures: Figures, column: Column, y: int) -> Iterator[str]:
    yield f'<text x="{LABELS - 14}" y="{y + 4}" text-anchor="end">{escape(column.title)}</text>'
    peers = figures["peers"]
    dots = [(key, value) for key, peer in peers.items() if (value := column.read(peer)) is not None]
    # Pertinent is drawn last, above the others.
    for key, value in sorted(dots, key=lambda dot: (dot[0].startswith(OWN), dot[0] == OWN)):
        label = escape(f"{peers[key]['title']}: {value:.3f}")
        kind = ' class="own"' if key == OWN else ' class="variant"' if key.startswith(OWN) else ""
        radius = 6 if key == OWN else 5
        x = LABELS + value * WIDTH
        yield f'<circle cx="{x:.1f}" cy="{y}" r="{radius}"{kind}><title>{label}</title></circle>'
    others = [(value, peers[key]["title"]) for key, value in dots if not key.startswith(OWN)]
    if others:
        value, name = max(others)
        yield f'<text x="{LABELS + WIDTH + 16}" y="{y + 4}">{escape(name)} {value:.3f}</text>'
