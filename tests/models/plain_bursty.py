"""Renewal arrivals the long way round: every state of queue and phase, block after block.

Nothing here imports the package.
"""

from collections.abc import Sequence
from math import ceil, exp, inf, sqrt

import numpy as np
from scipy.special import betainc, gammaincc

Phases = tuple[np.ndarray, np.ndarray]
"""Law of the first phase of a gap, and the rates between phases; what a row lacks to 0 is the rate of a call."""


def hyper(lam: float, scv: float, first_mean: float | None = None) -> Phases:
    """Two exponential laws of gaps, mean 1 / lam; each has half of the mean unless told how much the rarer has."""
    part = 0.5 if first_mean is None else first_mean
    # E[T^2] = 2 sum of part_i^2 / share_i = (1 + scv): a quadratic in the share of the first.
    b = 1 + part**2 * 2 / (1 + scv) - (1 - part) ** 2 * 2 / (1 + scv)
    share = (b - sqrt(b * b - 8 * part**2 / (1 + scv))) / 2
    shares = np.array([share, 1 - share])
    rates = lam * shares / np.array([part, 1 - part])
    return shares, -np.diag(rates)


def erlang(lam: float, scv: float) -> Phases:
    """k - 1 or k phases in series, 1 / k <= scv <= 1 / (k - 1)."""
    k = ceil(1 / scv - 1e-9)
    skip = (k * scv - sqrt(max(k * (1 + scv) - k * k * scv, 0.0))) / (1 + scv)
    alpha = np.zeros(k)
    alpha[0] = 1 - skip
    alpha[min(1, k - 1)] += skip
    pace = (k - skip) * lam
    return alpha, pace * (np.eye(k, k=1) - np.eye(k))


def gaps(lam: float, scv: float) -> Phases:
    return hyper(lam, scv) if scv >= 1 else erlang(lam, scv)


class BurstyCentre:
    """Calls of a phase-type law of gaps, agents whose busy ones work at deaths[x - 1] if x are; block by block."""

    def __init__(
        self, phases: Phases, deaths: Sequence[float], capacity: float, theta: float, longest: int = 400
    ) -> None:
        alpha, inner = phases
        calls = -inner.sum(1)
        self.lam = 1 / float(alpha @ np.linalg.solve(-inner, np.ones(alpha.size)))
        self.theta, self.capacity, self.agents = theta, capacity, len(deaths)
        longest = 0 if theta == inf else longest
        down = np.array([0.0, *deaths, *(capacity + k * theta for k in range(1, longest + 1))])
        up = np.outer(calls, alpha)
        eye = np.eye(alpha.size)
        # From the top: pi_x = pi_(x-1) R_x, R_x = A_up (down_x - inner - R_(x+1) down_(x+1))^-1.
        ratios = [np.empty(0)] * down.size
        after = up  # a call at the top is turned away, and another gap begins
        for x in range(down.size - 1, 0, -1):
            ratios[x] = up @ np.linalg.inv(down[x] * eye - inner - after)
            after = ratios[x] * down[x]
        bottom = inner + after
        # The law at 0 is the left null vector of `bottom`.
        system = np.vstack([bottom.T, np.ones(alpha.size)])
        law = [np.linalg.lstsq(system, np.append(np.zeros(alpha.size), 1.0), rcond=None)[0]]
        for x in range(1, down.size):
            law.append(law[-1] @ ratios[x])
            if law[-1].sum() > 1e200:
                law = [p / 1e200 for p in law]
        joint = np.array(law)
        joint /= joint.sum()
        self.law = joint.sum(1)
        self.seen = joint @ calls / self.lam
        self.births = joint @ calls / np.where(self.law > 0, self.law, 1.0)

    def late(self, t: float) -> tuple[float, float]:
        """(P(V > t), P(V > t and answered)) for the offered wait V, from what calls see."""
        seen = self.seen[self.agents :]
        k = np.arange(seen.size)
        s, theta = self.capacity, self.theta
        if theta == inf:
            return float(seen.sum()) * exp(-s * t), 0.0
        if theta == 0:
            late = float(seen @ gammaincc(k + 1.0, s * t))
            return late, late
        a, y = s / theta, exp(-theta * t)
        return float(seen @ betainc(a, k + 1.0, y)), float(
            seen @ (a / (a + k + 1) * betainc(a + 1, k + 1.0, y))
        )

    def sums(self, threshold: float) -> np.ndarray:
        """Waits, queue, lost, answered wait, answered in time, virtually late, busy, answered."""
        n, s, theta = self.agents, self.capacity, self.theta
        ahead = self.seen[n:]
        k = np.arange(ahead.size)
        waits = ahead.sum()
        queue = self.law[n:] @ k
        if theta == inf:
            answers, steps, queue = np.zeros(ahead.size), np.zeros(ahead.size), 0.0
        else:
            answers = s / (s + (k + 1) * theta)
            steps = np.cumsum(1 / (s + (k + 1) * theta))
        late, answered_late = self.late(threshold)
        answered = 1 - waits + ahead @ answers
        return np.array(
            [
                waits,
                queue,
                ahead @ (1 - answers),
                ahead @ (answers * steps),
                answered - answered_late,
                late,
                self.law @ np.minimum(np.arange(self.law.size), n),
                answered,
            ]
        )
