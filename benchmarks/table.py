"""Figures of one run, ours beside each peer's, as a table that Markdown lays out."""

import math
from typing import NamedTuple

OURS = "staffing"
TITLES = ("what", "staffing", "peer", "peer's", "ratio")


class Row(NamedTuple):
    """How long (s) or how large (MB) one thing is for one of those who do it."""

    what: str
    who: str
    value: float
    unit: str


def lines(rows: list[Row]) -> list[str]:
    """A line per thing and peer, in the order of their first rows; what was measured repeatedly at its least."""
    things: dict[str, dict[str, Row]] = {}
    for row in rows:
        measured = things.setdefault(row.what, {})
        measured[row.who] = min(row, measured.get(row.who, row), key=lambda again: again.value)
    cells = [TITLES]
    for what, measured in things.items():
        ours = measured.pop(OURS, None)
        mine = shown(ours) if ours else ""
        cells += [
            (what, mine, peer.who, shown(peer), f"{three_figures(peer.value / ours.value)} x" if ours else "")
            for peer in measured.values()
        ] or [(what, mine, "", "", "")]
    widths = [max(map(len, column)) for column in zip(*cells, strict=True)]
    text = [" | ".join(f"{cell:{width}}" for cell, width in zip(row, widths, strict=True)) for row in cells]
    rule = "-|-".join("-" * width for width in widths)
    return [f"| {line} |" for line in [text[0], rule, *text[1:]]]


def shown(row: Row) -> str:
    """Its figure in the unit in which it reads best."""
    if row.unit != "s":
        return f"{row.value:,.0f} {row.unit}"
    scales = {"s": 1.0, "ms": 1e3, "µs": 1e6, "ns": 1e9}
    unit = next((unit for unit, scale in scales.items() if row.value * scale >= 1), "ns")
    return f"{three_figures(row.value * scales[unit])} {unit}"


def three_figures(value: float) -> str:
    """At least the three leading digits."""
    return f"{value:,.{max(0, 2 - math.floor(math.log10(value)))}f}"
