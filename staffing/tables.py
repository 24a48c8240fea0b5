"""Levels as a table, and a table as a file that a spreadsheet opens and does not run."""

import math
import os
from collections.abc import Sequence
from typing import Any

import pandas as pd

from staffing.level import Level
from staffing.whole_file import write_whole

_COLUMNS = {
    "service_level_offered": "service_level_offered_in_{}_fraction",
    "service_level_answered": "service_level_answered_in_{}_fraction",
    "service_level_virtual": "service_level_virtual_in_{}_fraction",
    "abandonment_probability": "abandonment_fraction",
    "blocking_probability": "blocking_fraction",
    "wait_probability": "wait_probability_fraction",
    "mean_wait": "mean_wait_all_calls_seconds",
    "mean_wait_answered": "mean_wait_answered_calls_seconds",
    "mean_queue": "mean_queue_callers",
    "occupancy": "occupancy_fraction",
}
_FRACTIONS = tuple(measure for measure, column in _COLUMNS.items() if column.endswith("_fraction"))
_SPREAD = ("service_level_offered", "abandonment_probability", "mean_wait")
"""Measures whose 5 and 95% points over rosters have columns of their own."""
# A spreadsheet takes a cell that starts like this for a formula.
_RUNS = ("=", "+", "-", "@", "\t", "\r", "\n")


def row_of(name: str, level: Level) -> dict[str, Any]:
    """One level as a flat row with units in the column names."""
    p, rosters = level.performance, level.rosters
    seconds = f"{p.service_level.threshold:g}s"
    row: dict[str, Any] = {
        "name": name,
        "agents": level.agents,
        "agents_gross": level.agents_gross,
        "cost_per_hour": level.cost_per_hour,
        **{f"cost_of_{part}_per_hour": cost for part, cost in level.cost_parts.items()},
        "cost_per_hour_5pct_of_rosters": rosters.cost_per_hour.low,
        "cost_per_hour_95pct_of_rosters": rosters.cost_per_hour.high,
        **{column.format(seconds): p.value(measure) for measure, column in _COLUMNS.items()},
        "calls_answered_per_hour": p.throughput * 3600,
    }
    for measure in _SPREAD:
        column, spread = _COLUMNS[measure].format(seconds), rosters.quantiles.get(measure)
        row[f"{column}_5pct_of_rosters"] = spread.low if spread else p.value(measure)
        row[f"{column}_95pct_of_rosters"] = spread.high if spread else p.value(measure)
    for promise, kept in level.promises.items():
        row[f"keeps_{promise}_on_average"] = kept
        row[f"share_of_rosters_missing_{promise}_fraction"] = rosters.share_missing[promise]
    row["share_of_rosters_missing_any_promise_fraction"] = rosters.share_missing_any
    row["share_of_rosters_unstable_fraction"] = rosters.share_unstable
    row["method"] = p.method
    stated = [p.method_error[measure] for measure in _FRACTIONS]
    row["method_error_of_fractions"] = (
        math.inf
        if "unknown" in stated
        else max((error for error in stated if isinstance(error, float)), default=0.0)
    )
    return row


def frame_of(name: str, levels: Sequence[Level]) -> pd.DataFrame:
    """One row per level of the scenario of this name."""
    return pd.DataFrame([row_of(name, level) for level in levels])


def write_csv(frame: pd.DataFrame, path: str | os.PathLike[str]) -> None:
    """Write a frame as CSV; the file appears whole or not at all.

    UTF-8, comma separated, `.` decimals, numbers with all their digits. A text cell that a spreadsheet would run as
    a formula gets an apostrophe before it; numbers, negative ones too, stay numbers.

    Raises
    ------
    StaffingError
        If the file cannot be written.
    """
    safe = frame.rename(columns=_harmless)
    for column in safe.columns[[not pd.api.types.is_numeric_dtype(kind) for kind in safe.dtypes]]:
        safe[column] = [_harmless(cell) for cell in safe[column]]
    text = safe.to_csv(index=False, lineterminator="\n")
    write_whole(path, text)


def _harmless(cell: Any) -> Any:
    return "'" + cell if isinstance(cell, str) and cell.startswith(_RUNS) else cell
