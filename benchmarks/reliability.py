"""How often the first hit is right, by its score: `python benchmarks/reliability.py` draws the diagrams.

The benchmarks of quality and reading store the bins with their figures. This draws those of the default
model into one picture of the documentation.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any

HERE = Path(__file__).parent
PICTURE = HERE.parent / "docs" / "images" / "reliability.svg"
BINS = 10
SIDE, GAP, LEFT, TOP = 150, 40, 46, 34


def count_bins(outcomes: Iterable[tuple[float, bool]]) -> list[dict[str, float]]:
    """Count first hits and right ones in each tenth of the score; empty tenths are left out."""
    counts = [[0, 0] for _ in range(BINS)]
    for score, right in outcomes:
        cell = counts[min(int(score * BINS), BINS - 1)]
        cell[0] += 1
        cell[1] += right
    return [
        {"from": number / BINS, "hits": hits, "right": round(right / hits, 3)}
        for number, (hits, right) in enumerate(counts)
        if hits
    ]


def main() -> None:
    sets = read_bins()
    PICTURE.write_text(draw(sets))
    print(f"{PICTURE.name}: {', '.join(sets)}")


def read_bins() -> dict[str, list[dict[str, float]]]:
    """Read the recorded bins of each set, with the default model."""
    sets: dict[str, list[dict[str, float]]] = {}
    for path in sorted((HERE / "results").glob("*.json")):
        figures: dict[str, Any] = json.loads(path.read_text())
        if bins := figures.get("reliability"):
            sets[path.stem.partition("-")[2]] = bins
    # The results of another model have the name of the set and of the model.
    return {
        name: bins for name, bins in sets.items() if not any(name.startswith(f"{other}-") for other in sets)
    }


def draw(sets: dict[str, list[dict[str, float]]]) -> str:
    """Draw a diagram for each set: the area of a dot is the number of hits, the diagonal a probability."""
    width = LEFT + len(sets) * (SIDE + GAP)
    shapes = []
    for number, (name, bins) in enumerate(sets.items()):
        x, most = LEFT + number * (SIDE + GAP), max(cell["hits"] for cell in bins)
        total = sum(int(cell["hits"]) for cell in bins)
        shapes += [
            f'<text x="{x}" y="{TOP - 12}">{name}, {total:,}</text>',
            f'<rect x="{x}" y="{TOP}" width="{SIDE}" height="{SIDE}" class="frame"/>',
            f'<path d="M{x} {TOP + SIDE}L{x + SIDE} {TOP}M{x + SIDE / 2} {TOP}V{TOP + SIDE}" class="line"/>',
        ]
        for cell in bins:
            cx, cy = x + (cell["from"] + 0.5 / BINS) * SIDE, TOP + (1 - cell["right"]) * SIDE
            radius = 2 + 7 * (cell["hits"] / most) ** 0.5
            label = f"{cell['right']:.0%} of {cell['hits']:,.0f} hits right"
            shapes.append(
                f'<circle cx="{cx:.1f}" cy="{cy:.1f}" r="{radius:.1f}"><title>{label}</title></circle>'
            )
        shapes += [
            f'<text x="{x}" y="{TOP + SIDE + 16}">0</text>',
            f'<text x="{x + SIDE / 2 - 8}" y="{TOP + SIDE + 16}">0.5</text>',
            f'<text x="{x + SIDE - 6}" y="{TOP + SIDE + 16}">1</text>',
        ]
    middle = TOP + SIDE / 2
    shapes += [
        f'<text x="{LEFT}" y="{TOP + SIDE + 36}">score of the first hit</text>',
        f'<text x="{-middle - 50}" y="16" transform="rotate(-90)">share that is right</text>',
    ]
    style = (
        "text{font:12px sans-serif;fill:#57606a}.frame,.line{fill:none;stroke:#8c959f}"
        ".line{stroke-dasharray:3 3}circle{fill:#0969da;fill-opacity:.65}"
    )
    size = f'viewBox="0 0 {width} {TOP + SIDE + 46}" width="{width}"'
    title = "<title>How often the first hit is right, by its score</title>"
    body = "\n".join(shapes)
    head = f'<svg xmlns="http://www.w3.org/2000/svg" {size} role="img">{title}<style>{style}</style>'
    return f"{head}\n{body}\n</svg>\n"


if __name__ == "__main__":
    main()
