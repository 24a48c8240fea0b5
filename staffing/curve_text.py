"""Levels as a table for the screen."""

import math
import textwrap
from collections.abc import Sequence

from staffing.level import Level
from staffing.models.performance import Performance
from staffing.wording import WIDTH, duration, money, percent

_SHARES = ("wait_probability", "service_level_offered", "abandonment_probability")


def curve_text(
    levels: Sequence[Level], *, definition: str = "offered", recommended: int | None = None
) -> str:
    """A line per level, with the recommended one marked; columns as wide as their figures.

    `definition` names the service level shown: offered, answered or virtual.
    """
    if not levels:
        return "no levels"
    missing = any(level.promises for level in levels)
    limited = any(level.performance.blocking_probability > 0 for level in levels)
    seconds = f"{levels[0].performance.service_level.threshold:g}s"
    blocked = ["blocked"] if limited else []
    header = [
        "agents",
        "cost/h",
        f"SL {definition} {seconds}",
        "abandoned",
        *blocked,
        "wait all",
        "ASA",
        "occupancy",
    ]
    rows = [header + (["rosters missing"] if missing else [])]
    for level in levels:
        p = level.performance
        row = [
            str(level.agents),
            money(level.cost_per_hour),
            percent(p.value(f"service_level_{definition}")),
            percent(p.abandonment_probability),
            *([percent(p.blocking_probability)] if limited else []),
            duration(p.mean_wait),
            duration(p.mean_wait_answered),
            percent(p.occupancy),
        ]
        rows.append(row + ([percent(level.rosters.share_missing_any)] if missing else []))
    widths = [max(len(row[column]) for row in rows) for column in range(len(header) + missing)]
    lines = ["  ".join(cell.rjust(width) for cell, width in zip(row, widths, strict=True)) for row in rows]
    marks = ["", *("  <" if level.agents == recommended else "" for level in levels)]
    return "\n".join(f"  {line}{mark}" for line, mark in zip(lines, marks, strict=True))


def largest_error(performance: Performance) -> float:
    """The largest stated error of the shares of calls; infinite if the method states none."""
    stated = [performance.method_error[measure] for measure in _SHARES]
    if "unknown" in stated:
        return math.inf
    return max((error for error in stated if isinstance(error, float)), default=0.0)


def method_note(performance: Performance) -> str:
    """`method_text` as it stands below a table."""
    return textwrap.fill(method_text(performance), WIDTH, initial_indent="  ", subsequent_indent="  ")


def method_text(performance: Performance) -> str:
    """How the figures were found, and how far they can be wrong."""
    stated, wait = performance.method_error, performance.method_error["mean_wait"]
    if all(stated[measure] == "exact" for measure in _SHARES):
        return f"{performance.method}, exact"
    share = largest_error(performance)
    if share == math.inf:
        return f"{performance.method}; how far it is off is not known"
    text = f"{performance.method}; percentages within {max(100 * share, 1e-4):.2g} points"
    return text + (f", mean wait within {wait:.2g} s" if isinstance(wait, float) else "")
