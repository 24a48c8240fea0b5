"""What a centre owes its callers: limits on measures, kept on average over rosters."""

from collections.abc import Mapping
from dataclasses import dataclass

from staffing.models.performance import Values


@dataclass(frozen=True)
class Promise:
    """One measure held at or above a limit (`at_least`), or at or below it."""

    measure: str
    limit: float
    at_least: bool

    def shortfall(self, values: Mapping[str, Values]) -> Values:
        """By how much the promise is broken, by one roster or each of several; zero or below if it is kept."""
        gap = self.limit - values[self.measure]
        return gap if self.at_least else -gap

    def kept(self, values: Mapping[str, float]) -> bool:
        """Whether the promise is kept; a rounding error of the limit is forgiven."""
        return self.shortfall(values) <= 1e-12 * max(abs(self.limit), 1e-3)
