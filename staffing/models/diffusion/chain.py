"""The exact chain beside the diffusion: the law of the number of callers in the system, state by state."""

import math
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike, NDArray

from staffing.models.arguments import non_negative, positive
from staffing.models.diffusion.upward_drift import refuse_upward_drift
from staffing.models.errors import ScenarioError

Vector = NDArray[np.float64]

_GONE = 280 * math.log(10)
"""States whose chance is below exp of minus this, against the likeliest, are left out."""


@dataclass(frozen=True, eq=False)
class BirthDeathChain:
    """Callers in the system of n agents: births at lam, deaths at d_x, d_x = S + theta (x - n) beyond n.

    Exact for the death rates given; states whose chance is below 1e-280 of the likeliest's are left out.

    Parameters
    ----------
    arrival_rate : float
        lam > 0.
    death_rates : array_like, shape (n,)
        d_0, ..., d_(n-1) by the number of idle agents, > 0, as `roster_death_rates` has them; n >= 1.
    theta : float
        Abandonment rate, >= 0; 0 needs lam < S.

    Raises
    ------
    ScenarioError
        If a parameter is out of range or there is no stationary law.
    """

    arrival_rate: float
    death_rates: Vector
    theta: float

    def __init__(self, arrival_rate: float, death_rates: ArrayLike, theta: float) -> None:
        deaths = np.asarray(death_rates, np.float64)
        if deaths.ndim != 1 or deaths.size == 0 or not np.all(np.isfinite(deaths) & (deaths > 0)):
            raise ScenarioError(
                "death_rates: give d_0, ..., d_(n-1) of at least one agent, each above 0 and finite"
            )
        object.__setattr__(self, "arrival_rate", positive("arrival_rate", arrival_rate))
        object.__setattr__(self, "death_rates", deaths)
        object.__setattr__(self, "theta", non_negative("theta", theta))
        refuse_upward_drift("theta", self.theta, self.arrival_rate, float(deaths[0]))

    @property
    def agents(self) -> int:
        """n."""
        return self.death_rates.size

    @cached_property
    def _states(self) -> tuple[Vector, Vector]:
        """The states kept, and the logs of their chances."""
        lam, s, theta = self.arrival_rate, float(self.death_rates[0]), self.theta
        if theta > 0:
            # log p_k falls by theta j / lam and more from one state to the next, j beyond the mode
            most = max(lam - s, 0.0) / theta + math.sqrt(2 * _GONE * (max(lam, s) + theta) / theta) + _GONE
            if s < lam:
                most += _GONE
        else:
            most = _GONE / math.log(s / lam)
        queue = np.arange(1, math.ceil(most) + 1)
        steps = np.concatenate([np.log(lam / self.death_rates[::-1]), np.log(lam / (s + theta * queue))])
        logs = np.concatenate([[0.0], np.cumsum(steps)])
        kept = np.flatnonzero(logs > logs.max() - _GONE)
        x = np.arange(kept[0], kept[-1] + 1)
        part = logs[x]
        return x.astype(np.float64), part - part.max() - math.log(np.exp(part - part.max()).sum())

    @property
    def states(self) -> Vector:
        """Numbers of callers in the system, in steps of 1."""
        return self._states[0]

    @property
    def chances(self) -> Vector:
        """Their chances."""
        return np.exp(self._states[1])

    @property
    def deaths(self) -> Vector:
        """d_x of each state."""
        return self.death_rate(self.states)

    def death_rate(self, x: ArrayLike) -> Vector:
        """d at any x >= 0: linear between whole numbers."""
        at, n = np.asarray(x, np.float64), self.agents
        inside = np.interp(at, np.arange(n + 1.0), np.concatenate([[0.0], self.death_rates[::-1]]))
        return np.asarray(inside + self.theta * np.maximum(at - n, 0.0))

    @property
    def scaled(self) -> Vector:
        """(x - n) / sqrt(n) of each state."""
        return (self.states - self.agents) / math.sqrt(self.agents)
