"""Laws given by their quantiles at even steps, the values in between being equally likely."""

import math

import numpy as np
from numpy.typing import NDArray

from staffing.models.errors import ScenarioError


def patience_table(quantiles: NDArray[np.float64] | None) -> NDArray[np.float64]:
    """A checked table of patience, infinite for callers who never give up; empty if there is none."""
    return np.empty(0) if quantiles is None else _table("patience_quantiles", quantiles)


def gap_table(quantiles: NDArray[np.float64] | None) -> NDArray[np.float64]:
    """A checked table of times between calls, divided by its own mean; empty if there is none."""
    if quantiles is None or np.size(quantiles) == 0:
        return np.empty(0)
    table = _table("gap_quantiles", quantiles)
    if not 0 < table[-1] < math.inf:
        raise ScenarioError(f"gap_quantiles: the last is {table[-1]:g}, must be above 0 and finite")
    table /= table[-1]  # whatever the unit, sums are then finite
    table /= table_mean(table)
    return table


def table_mean(table: NDArray[np.float64]) -> float:
    """The mean of the law of a table."""
    return float(np.mean((table[1:] + table[:-1]) / 2))


def table_scv(table: NDArray[np.float64]) -> float:
    """The squared coefficient of variation of the law of a finite table of mean 1."""
    low, high = table[:-1], table[1:]
    # About the mean, where nothing cancels.
    return float(np.mean((low - 1) ** 2 + (low - 1) * (high - 1) + (high - 1) ** 2) / 3)


def _table(name: str, values: NDArray[np.float64]) -> NDArray[np.float64]:
    table = np.array(values, np.float64)
    if table.ndim != 1 or table.size < 2 or not table[0] >= 0 or not np.all(table[1:] >= table[:-1]):
        raise ScenarioError(f"{name}: must be two or more numbers from 0 up that do not fall")
    return table
