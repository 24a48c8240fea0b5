"""What rosters too rare to be simulated may add to the mean over rosters."""

import math

from staffing.models.agents import Agents
from staffing.optimize.costs import Costs

FEWEST_ROSTERS = 3
"""Rosters of a kind to be expected among those simulated, below which there may well be none."""


class Unseen:
    """Rosters below the load, where they are so rare that a simulation hardly meets one.

    There callers wait for as long as their patience or the places to wait let them, which may be far beyond what all
    others wait: a mean can hang on rosters that are one in a million, and neither a simulation nor its standard error
    knows of them.

    Parameters
    ----------
    model : Agents
        Whose rosters are simulated; callers must give up, or be blocked.
    costs : Costs
        Prices.
    """

    def __init__(self, model: Agents, costs: Costs) -> None:
        self._model, self._costs = model, costs
        callers = model.callers
        longest_line = math.inf if callers.max_calls is None else callers.max_calls / callers.arrival_rate
        self._patience = min(callers.mean_patience, longest_line)

    def share(self, agents: int, rosters: int) -> float:
        """The share of rosters below the load if so many rosters may well hold none; otherwise 0."""
        share = self._model.capacity_cdf(agents, self._model.callers.arrival_rate)
        return share if share * rosters < FEWEST_ROSTERS else 0.0

    def most(self, measure: str, agents: int, rosters: int) -> float:
        """The most that they may add to a measure."""
        return self.share(agents, rosters) * (self._patience if measure == "mean_wait" else 1.0)

    def most_cost(self, agents: int, rosters: int) -> float:
        """The most that they may add to the cost per hour."""
        queue = self._model.callers.arrival_rate * self._patience
        worst = self._costs.total(
            0, {"mean_queue": queue, "abandonment_probability": 1.0, "blocking_probability": 0.0}
        )
        return self.share(agents, rosters) * worst
