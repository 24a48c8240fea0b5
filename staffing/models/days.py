"""How one day differs from another: a factor on all agents' rates, one on the calls, and who is absent."""

import math
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import nnls
from scipy.special import bdtr, gammaln, xlog1py, xlogy

from staffing.models.arguments import non_negative
from staffing.models.errors import ScenarioError
from staffing.models.rate_laws import GammaRates
from staffing.models.score_nodes import gauss_size, smooth_step

Vector = NDArray[np.float64]
Whole = NDArray[np.int64]

_RARE = 1e-12
_SPREAD_OUT = 2.0


@dataclass(frozen=True)
class Days:
    """The law of a day, its three parts independent.

    Parameters
    ----------
    rate_cv : float
        CV of a factor Z common to all agents' rates, >= 0: lognormal of mean 1, exp(t z - t^2 / 2) with
        t^2 = log(1 + rate_cv^2).
    arrival_cv : float
        CV of a factor A on the day's calls, >= 0: gamma of mean 1.
    absence : float
        Chance that a scheduled agent is absent, each independently, >= 0 and < 1: the number present is binomial.

    Raises
    ------
    ScenarioError
        If a parameter is out of range.
    """

    rate_cv: float = 0.0
    arrival_cv: float = 0.0
    absence: float = 0.0
    _calls: GammaRates = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        for name in ("rate_cv", "arrival_cv", "absence"):
            object.__setattr__(self, name, non_negative(name, getattr(self, name)))
        if self.absence >= 1:
            raise ScenarioError(f"absence: {self.absence!r} must be below 1, or nobody is ever present")
        object.__setattr__(self, "_calls", GammaRates(1.0, self.arrival_cv))

    @property
    def alike(self) -> bool:
        """Whether every day is like any other."""
        return self.rate_cv == self.arrival_cv == self.absence == 0

    @property
    def rate_log_sd(self) -> float:
        """t, the standard deviation of log Z."""
        return math.sqrt(math.log1p(self.rate_cv**2))

    def rate_factor(self, z: Vector) -> Vector:
        """Z at the normal score z."""
        t = self.rate_log_sd
        return np.exp(t * z - t * t / 2)

    def arrival_factor(self, z: Vector) -> Vector:
        """A at the normal score z."""
        return self._calls.capacity_at_score(1, z)

    def arrival_survival(self, factor: Vector) -> Vector:
        """P(A >= factor)."""
        from scipy.special import gammaincc

        if self._calls.alike:
            return np.asarray(factor <= 1 + 1e-12, np.float64)
        shape = 1 / self.arrival_cv**2
        return np.asarray(gammaincc(shape, shape * factor))

    def mean_present(self, agents: int) -> float:
        """Agents present in the mean."""
        return agents * (1 - self.absence)

    def present(self, agents: int, u: Vector) -> Whole:
        """How many of the agents scheduled are present, at probability u."""
        below = bdtr(np.arange(agents, dtype=np.float64), agents, 1 - self.absence)
        return np.searchsorted(below, u, side="left").astype(np.int64)

    def present_nodes(self, agents: int, turning: float = math.inf) -> tuple[Whole, Vector]:
        """Numbers m and weights with sum f(m) w close to E f(agents present).

        For f as smooth as the normal distribution function of `turning` scores; all m that matter if it is infinite.
        Gently turning f: whole numbers beside Gauss's nodes, with weights that keep as many moments; others: every
        k-th number, k as large as the law's characteristic function allows.
        """
        m = np.arange(agents + 1)
        if self.absence == 0 or agents == 0:
            return m[-1:].astype(np.int64), np.ones(1)
        p = 1 - self.absence
        log_chance = gammaln(agents + 1) - gammaln(m + 1) - gammaln(agents - m + 1)
        chance = np.exp(log_chance + xlogy(m, p) + xlog1py(agents - m, -p))
        variance = agents * p * self.absence
        if chance[0] > _RARE:
            # A centre where nobody is present is another altogether: f is not smooth down to there.
            return m.astype(np.int64), chance
        gentle = (size := gauss_size(turning)) > 0 and variance > _SPREAD_OUT
        if gentle and (found := _gauss_like(m, chance, agents, p, size + 1)):
            return found
        step = max(int(smooth_step(turning) * math.sqrt(variance)), 1)
        while step > 1 and variance * (1 - math.cos(2 * math.pi / step)) < 12 * (1 + turning**2):
            step -= 1
        kept = (np.arange(agents + 1) - round(agents * p)) % step == 0
        kept &= chance > _RARE
        return m[kept].astype(np.int64), chance[kept] / chance[kept].sum()


def _gauss_like(m: Whole, chance: Vector, agents: int, p: float, degree: int) -> tuple[Whole, Vector] | None:
    """Whole numbers on either side of Gauss's nodes, and weights, none negative, that keep the moments to a degree.

    At most as many weights as moments are above 0. Against the whole sum they err by 2e-5 (1 to 1000 agents, absence
    .02 to .5, variances above 2). None if the search for them does not end, as among very few agents it may not.
    """
    gauss = _gauss_present(agents, p, degree + 1)
    near = np.unique(np.clip(np.concatenate([np.floor(gauss), np.ceil(gauss)]), 0, agents).astype(np.int64))
    scores = (m - agents * p) / math.sqrt(agents * p * (1 - p))
    moments = np.polynomial.hermite_e.hermevander(scores, degree)
    moments /= np.sqrt(chance @ moments**2)
    try:
        weights, left = nnls(moments[near].T, chance @ moments)
    except RuntimeError:
        return None
    if left > _RARE:
        return None
    return near[weights > 0], weights[weights > 0]


def _gauss_present(agents: int, p: float, size: int) -> Vector:
    """Gauss's nodes for the binomial law: eigenvalues of the recurrence of its orthogonal polynomials."""
    k = np.arange(size, dtype=np.float64)
    beside = np.sqrt(k[1:] * p * (1 - p) * (agents - k[1:] + 1))
    return np.linalg.eigvalsh(np.diag(p * (agents - k) + k * (1 - p)) + np.diag(beside, -1))
