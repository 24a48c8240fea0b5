"""Patience the long way round: laws and the integral over the wait in 40 digits, and chains that know each caller.

Nothing here imports the package.
"""

from collections.abc import Callable
from dataclasses import dataclass
from itertools import pairwise, product

import mpmath
import numpy as np
from mpmath import mp, mpf
from scipy import sparse
from scipy.sparse.linalg import spsolve

DIGITS = 40
Function = Callable[[mpf], mpf]

# --- laws ----------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Law:
    """Survival, 1 - survival, and the integral of survival from 0, as functions of a 40-digit time."""

    survival: Function
    given_up: Function
    waited: Function
    bends: tuple[float, ...] = ()

    def __repr__(self) -> str:
        return "in 40 digits"


def exponential(mean: float) -> Law:
    m = mpf(mean)
    return Law(lambda t: mp.exp(-t / m), lambda t: -mp.expm1(-t / m), lambda t: -m * mp.expm1(-t / m))


def deterministic(mean: float) -> Law:
    m = mpf(mean)
    return Law(lambda t: mpf(t < m), lambda t: mpf(t >= m), lambda t: min(t, m), (mean,))


def gamma(mean: float, scv: float) -> Law:
    m, a = mpf(mean), 1 / mpf(scv)
    b = m / a

    def lower(shape: mpf, t: mpf) -> mpf:
        return mp.gammainc(shape, 0, t / b, regularized=True)

    def upper(t: mpf) -> mpf:
        return mp.gammainc(a, t / b, mp.inf, regularized=True)

    return Law(upper, lambda t: lower(a, t), lambda t: m * lower(a + 1, t) + t * upper(t))


def weibull(mean: float, scv: float) -> Law:
    m, c = mpf(mean), mpf(scv)
    k = mp.findroot(
        lambda k: mp.log(mp.gamma(1 + 2 / k)) - 2 * mp.log(mp.gamma(1 + 1 / k)) - mp.log1p(c),
        mp.mpf(float(c) ** -0.55 if c < 3 else 1 / (0.5 + mp.log(c))),
    )
    b = m / mp.gamma(1 + 1 / k)

    def waited(t: mpf) -> mpf:
        x = (t / b) ** k
        return m * mp.gammainc(1 + 1 / k, 0, x, regularized=True) + t * mp.exp(-x)

    return Law(lambda t: mp.exp(-((t / b) ** k)), lambda t: -mp.expm1(-((t / b) ** k)), waited)


def lognormal(mean: float, scv: float) -> Law:
    m, sigma = mpf(mean), mp.sqrt(mp.log1p(mpf(scv)))
    median = m / mp.sqrt(1 + mpf(scv))

    def phi(z: mpf) -> mpf:
        return mp.erfc(-z / mp.sqrt(2)) / 2

    def z(t: mpf) -> mpf:
        return mp.log(t / median) / sigma

    return Law(
        lambda t: phi(-z(t)) if t else mpf(1),
        lambda t: phi(z(t)) if t else mpf(0),
        lambda t: m * phi(z(t) - sigma) + t * phi(-z(t)) if t else mpf(0),
    )


def hyperexponential(mean: float, scv: float) -> Law:
    m, c = mpf(mean), mpf(scv)
    p = (1 + mp.sqrt((c - 1) / (c + 1))) / 2
    parts = [(share, 2 * share / m) for share in (p, 1 - p)]
    return Law(
        lambda t: sum(share * mp.exp(-rate * t) for share, rate in parts),
        lambda t: -sum(share * mp.expm1(-rate * t) for share, rate in parts),
        lambda t: -sum(share / rate * mp.expm1(-rate * t) for share, rate in parts),
    )


def curve(points: list[tuple[float, float]]) -> Law:
    """A straight line in the log between points, on and on after the last; in the share if it ends at 0."""

    def survival(t: mpf) -> mpf:
        for (a, before), (b, after) in pairwise(points):
            if t <= b or (b == points[-1][0] and after > 0):
                x = (t - a) / (mpf(b) - a)
                return before * (mpf(after) / before) ** x if after else before * (1 - x)
        return mpf(0)

    def waited(t: mpf) -> mpf:
        ends = [mpf(a) for a, _ in points if a < t] + [t]
        return sum((mp.quad(survival, [a, b]) for a, b in pairwise(ends)), mpf(0))

    return Law(survival, lambda t: 1 - survival(t), waited, tuple(a for a, _ in points[1:]))


# --- the integral --------------------------------------------------------------------------------------------------


def waits_and_lost(law: Law, mean: float, lam: float, s: float, total: float) -> tuple[mpf, mpf]:
    """(P(wait), P(abandon)) from idle weights `total` against a_0 = 1, in 40 digits.

    Panels end where exp(lam H - s t) has dropped by ever more from its peak, found by bisection, until nothing of it
    or of what it loses is left.
    """
    with mpmath.workdps(DIGITS):

        def log_v(t: mpf) -> mpf:
            return lam * law.waited(t) - s * t

        def bisect(low: float, high: float, right: Callable[[float], bool]) -> float:
            for _ in range(60):
                middle = (low + high) / 2
                low, high = (low, middle) if right(middle) else (middle, high)
            return high

        far = (lam * mean + 900) / s
        peak = bisect(0.0, far, lambda t: lam * law.survival(mpf(t)) < s) if lam > s else 0.0
        top = log_v(mpf(peak))
        ends = {0.0, peak, *law.bends}
        for drop in (0.05, 0.3, 1, 2, 4, *range(8, 120, 8), *range(120, 900, 20)):
            ends.add(bisect(peak, peak + far, lambda t, d=drop: top - log_v(mpf(t)) > d))
            if drop < 120 and top > drop:
                ends.add(bisect(0.0, peak, lambda t, d=drop: top - log_v(mpf(t)) < d))
        panels = sorted(ends)
        if not law.bends:  # the law may go as any power of time near 0, so time grows threefold at most
            panels[1:1] = [panels[1] / 3.0**k for k in range(39, 0, -1)]
            for low, high in pairwise(panels[1:]):
                panels += [low * 3.0**k for k in range(1, 60) if low * 3.0**k < high]
        nodes = mpmath.calculus.quadrature.GaussLegendre(mp).get_nodes(-1, 1, 4, mp.prec)
        reached = lost = mpf(0)
        for low, high in pairwise(sorted(panels)):
            if high < peak and top - log_v(mpf(high)) > 110:
                continue
            half, middle = (mpf(high) - low) / 2, (mpf(high) + low) / 2
            for node, weight in nodes:
                t = middle + half * node
                v = half * weight * mp.exp(log_v(t) - top)
                reached += v
                lost += v * law.given_up(t)
        norm = total * mp.exp(-top) + s * reached
        return s * reached / norm, s * lost / norm


# --- callers one by one --------------------------------------------------------------------------------------------


def chain(
    lam: float,
    mu: float,
    agents: int,
    arrive: dict[str, float],
    move: dict[str, tuple[str, float]],
    most: int,
) -> tuple[float, float, float]:
    """(P(wait), E[queue], P(abandon)) of identical agents and callers whose patience has phases, by the whole chain.

    A caller's patience starts in a phase with the chances `arrive`; `move` has where each phase leads, "" for giving
    up, and at which rate. A state is the number busy and the phase of every caller who waits, in their order; a call
    that finds `most` waiting is turned away, so that must be rare.
    """
    states = [(busy, "") for busy in range(agents)]
    states += [(agents, "".join(word)) for k in range(most + 1) for word in product(move, repeat=k)]
    at = {state: j for j, state in enumerate(states)}
    rows, columns, rates = [], [], []

    def go(one: tuple[int, str], other: tuple[int, str], rate: float) -> None:
        rows.extend((at[other], at[one]))
        columns.extend((at[one], at[one]))
        rates.extend((rate, -rate))

    for state in states:
        busy, queue = state
        if busy < agents:
            go(state, (busy + 1, ""), lam)
        elif len(queue) < most:
            for phase, share in arrive.items():
                go(state, (busy, queue + phase), lam * share)
        if queue:
            go(state, (busy, queue[1:]), agents * mu)
        elif busy:
            go(state, (busy - 1, ""), busy * mu)
        for j, phase in enumerate(queue):
            to, rate = move[phase]
            go(state, (busy, queue[:j] + to + queue[j + 1 :]), rate)
    balance = sparse.csr_matrix((rates, (rows, columns)), shape=(len(states),) * 2).tolil()
    balance[0] = 1.0
    right = np.zeros(len(states))
    right[0] = 1.0
    law = spsolve(balance.tocsc(), right)
    waits = sum(law[at[state]] for state in states if state[0] == agents)
    queue = sum(law[at[state]] * len(state[1]) for state in states)
    leaving = sum(
        law[at[state]] * sum(move[phase][1] for phase in state[1] if not move[phase][0]) for state in states
    )
    return float(waits), float(queue), float(leaving / lam)
