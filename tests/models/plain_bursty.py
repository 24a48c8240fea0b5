"""Renewal arrivals the long way round: every state of queue and phase, block after block.

Nothing here imports the package.
"""

from collections.abc import Sequence
from math import ceil, exp, inf, sqrt

import numpy as np
from scipy.sparse import coo_matrix, csc_matrix, eye, kron
from scipy.sparse.linalg import spsolve
from scipy.special import betainc, gammaincc

Phases = tuple[np.ndarray, np.ndarray]
"""Law of the first phase of a gap, and the rates between phases; what a row lacks to 0 is the rate of a call."""


def hyper(lam: float, scv: float, third: float | None = None) -> Phases:
    """Two exponential laws of gaps, mean 1 / lam, E[T^3] = third / lam^3; otherwise each has half of the mean."""
    third = 3 * scv * (1 + scv) if third is None else third
    # Powers of the two means, averaged, are 1, 1, E[T^2] / 2, E[T^3] / 6: a linear recursion of order 2.
    second = (1 + scv) / 2
    total = (third / 6 - second) / (second - 1)
    both = total - second
    root = sqrt(total * total - 4 * both)
    means = np.array([total - root, total + root]) / 2
    share = (means[1] - 1) / (means[1] - means[0])
    return np.array([share, 1 - share]), -np.diag(lam / means)


def exponential(lam: float) -> Phases:
    return np.ones(1), np.array([[-lam]])


def with_erlang(lam: float, scv: float, k: int) -> tuple[Phases, float]:
    """(One or k phases in series, E[T^3] / E[T]^3), 1 / k < scv < 1: the mixture that is not `erlang`."""
    # p + (1 - p) k phases in the mean, 2 p + (1 - p) k (k + 1) the second moment: a quadratic in p.
    p = min(
        (
            r.real
            for r in np.roots(
                [
                    (1 + scv) * (1 - k) ** 2,
                    2 * (1 + scv) * (1 - k) * k + k * (k + 1) - 2,
                    (1 + scv) * k * k - k * (k + 1),
                ]
            )
            if 0 <= r.real <= 1
        ),
    )
    mean = p + (1 - p) * k
    alpha = np.zeros(k)
    alpha[0], alpha[-1] = 1 - p, p
    third = (6 * p + (1 - p) * k * (k + 1) * (k + 2)) / mean**3
    return (alpha, lam * mean * (np.eye(k, k=1) - np.eye(k))), third


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
    if scv == 1:
        return exponential(lam)
    return hyper(lam, scv) if scv > 1 else erlang(lam, scv)


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


class TwoKinds:
    """Equally many agents of two rates, one queue, calls to a random idle agent or by priority; all states at once."""

    def __init__(
        self, phases: Phases, each: int, rates: tuple[float, float], theta: float, routing: str, longest: int
    ) -> None:
        alpha, inner = phases
        calls = -inner.sum(1)
        self.lam = 1 / float(alpha @ np.linalg.solve(-inner, np.ones(alpha.size)))
        index = {(i, j, 0): i * (each + 1) + j for i in range(each + 1) for j in range(each + 1)}
        index |= {(0, 0, k): len(index) + k - 1 for k in range(1, longest + 1)}
        leave: list[tuple[int, int, float]] = []
        arrive: list[tuple[int, int, float]] = []
        for (i, j, k), here in index.items():
            if k:
                leave.append((here, index[0, 0, k - 1], each * sum(rates) + k * theta))
            if not k and i < each:
                leave.append((here, index[i + 1, j, 0], (each - i) * rates[0]))
            if not k and j < each:
                leave.append((here, index[i, j + 1, 0], (each - j) * rates[1]))
            if i + j == 0:
                arrive.append((here, index[0, 0, min(k + 1, longest)], 1.0))
                continue
            first = i / (i + j) if routing == "random" else float(i > 0)
            if i:
                arrive.append((here, index[i - 1, j, 0], first))
            if j:
                arrive.append((here, index[i, j - 1, 0], 1 - first))
        size = len(index)

        def matrix(jumps: list[tuple[int, int, float]]) -> coo_matrix:
            before, after, speed = zip(*jumps, strict=True)
            return coo_matrix((speed, (before, after)), (size, size))

        down = matrix(leave)
        diagonal = np.asarray(down.sum(1)).ravel()
        still = coo_matrix((diagonal, (np.arange(size), np.arange(size))), (size, size))
        generator = csc_matrix(
            kron(down - still, eye(alpha.size))
            + kron(eye(size), inner)
            + kron(matrix(arrive), np.outer(calls, alpha))
        ).T.tocsc()
        # The weight of the first state is set, and its equation left out.
        rest = spsolve(generator[1:, 1:], -generator[1:, [0]].toarray().ravel())
        joint = np.append(1.0, rest).reshape(size, alpha.size)
        joint /= joint.sum()
        law, seen = joint.sum(1), joint @ calls / self.lam
        ahead = [index[0, 0, k] for k in range(longest + 1)]
        self.waits = float(seen[ahead].sum())
        self.queue = float(law[ahead] @ np.arange(longest + 1))
        self.busy = 2 * each - sum((i + j) * float(law[here]) for (i, j, _), here in index.items())
