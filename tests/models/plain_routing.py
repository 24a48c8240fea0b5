"""Routing rules the long way round: small chains solved whole, sets counted one by one, a plain simulation.

Nothing here imports the package. Death rates are d_i = E[rate of the busy agents | i idle], i = 0, ..., n - 1.
"""

from collections.abc import Sequence
from decimal import Decimal
from itertools import combinations

import numpy as np
from numba import njit
from scipy.sparse import coo_array
from scipy.sparse.linalg import splu

from tests.models.plain_chain import stationary


def lumped_death_rates(rates: Sequence[float], lam: float) -> list[float]:
    """Recursive lumping, highest priority first: each chain of (idle among those added, next agent idle) is solved."""
    births = [0.0]
    for mu in rates:
        top = len(births)
        q = np.zeros((2 * top, 2 * top))
        for m in range(top):
            for idle in (0, 1):
                here = 2 * m + idle
                if m + 1 < top:
                    q[here, here + 2] = births[m]
                if m > 0:
                    q[here, here - 2] = lam
            q[2 * m, 2 * m + 1] = mu
        q[1, 0] = lam
        law = stationary(q)
        weight, flow = np.zeros(top + 1), np.zeros(top + 1)
        for m in range(top):
            for idle in (0, 1):
                weight[m + idle] += law[2 * m + idle]
                flow[m + idle] += law[2 * m + idle] * (births[m] + (0 if idle else mu))
        births = list(flow / weight)
    return births[:-1]


def lumped_in_digits(rates: Sequence[Decimal], lam: Decimal) -> list[Decimal]:
    """The same by the chance that the next agent is busy given m idle, in the digits of the context."""
    births = [Decimal(0)]
    for mu in rates:
        e = [mu] * len(births)
        for m in range(len(births) - 2, -1, -1):
            e[m] = mu + births[m] * e[m + 1] / (lam + e[m + 1])
        busy = [lam / (lam + e[0])]
        for later in e[1:]:
            busy.append(busy[-1] * lam / (lam + later))
        after = [births[0] + mu]
        for m in range(1, len(births)):
            both = busy[m] * births[m - 1], lam * (1 - busy[m - 1])
            after.append((both[0] * (births[m] + mu) + both[1] * births[m - 1]) / sum(both))
        births = [*after, Decimal(0)]
    return births[:-1]


def counted_death_rates(rates: Sequence[float], odds: Sequence[float]) -> list[float]:
    """Sets of i idle agents as the product of their odds, set by set."""
    result = []
    for i in range(len(rates)):
        sets = [set(idle) for idle in combinations(range(len(rates)), i)]
        weights = [np.prod([odds[k] for k in idle]) for idle in sets]
        busy = [sum(rate for k, rate in enumerate(rates) if k not in idle) for idle in sets]
        result.append(np.dot(weights, busy) / sum(weights))
    return result


def pooled_death_rates(sizes: tuple[int, int], rates: tuple[float, float], lam: float) -> np.ndarray:
    """Two pools of equal agents, the first has priority: the chain of the numbers idle in both, solved whole."""
    one, two = (idle.ravel() for idle in np.meshgrid(*(np.arange(size + 1) for size in sizes), indexing="ij"))
    here, step = np.arange(one.size), sizes[1] + 1
    jumps = [
        (step, (sizes[0] - one) * rates[0]),
        (1, (sizes[1] - two) * rates[1]),
        (-step, lam * (one > 0)),
        (-1, lam * ((one == 0) & (two > 0))),
    ]
    rows, columns, speeds = [], [], []
    for by, speed in jumps:
        there = speed > 0
        rows += [here[there], here[there]]
        columns += [here[there] + by, here[there]]
        speeds += [speed[there], -speed[there]]
    q = coo_array((np.concatenate(speeds), (np.concatenate(rows), np.concatenate(columns)))).tocsc()
    busy = (sizes[0] - one) * rates[0] + (sizes[1] - two) * rates[1]
    law = np.ones(one.size)
    likely = np.argmin(np.abs(busy - lam))  # a state that is not rare stands for the equation left out
    others = np.delete(here, likely)
    flows = q.T.tocsc()
    law[others] = splu(flows[others][:, others].tocsc()).solve(-flows[others][:, [likely]].toarray().ravel())
    idle = one + two
    return (np.bincount(idle, law * busy) / np.bincount(idle, law))[:-1]


@njit
def simulated_idle(
    rates: np.ndarray, lam: float, weights: np.ndarray, least: bool, steps: int, batches: int, seed: int
) -> np.ndarray:
    """How many of so many steps of equal mean length have i agents idle, per batch, while nobody waits.

    A call goes to an idle agent drawn by weight, or, if `least`, to the one idle for longest in all so far.
    """
    np.random.seed(seed)  # noqa: NPY002 - the state is this compiled function's own
    n = rates.size
    marks = np.cumsum(rates)
    pace = lam + marks[-1]
    who, idle = np.empty(n, np.int64), np.zeros(n, np.bool_)
    since, so_far, now, i = np.zeros(n), np.zeros(n), 0.0, 0
    counts = np.zeros((batches, n + 1), np.int64)
    for batch in range(-1, batches):  # the first is not counted
        for _ in range(steps):
            now += np.random.exponential(1 / pace)  # noqa: NPY002
            if batch >= 0:
                counts[batch, i] += 1
            u = pace * np.random.random()  # noqa: NPY002
            if u < lam and i > 0:
                best, most = i - 1, -1.0
                rest = np.random.random() * weights[who[:i]].sum()  # noqa: NPY002
                for j in range(i):
                    k = who[j]
                    if least and so_far[k] + now - since[k] > most:
                        best, most = j, so_far[k] + now - since[k]
                    if not least:
                        rest -= weights[k]
                        if rest < 0:
                            best = j
                            break
                k = who[best]
                idle[k] = False
                so_far[k] += now - since[k]
                i -= 1
                who[best] = who[i]
            elif u >= lam:
                k = min(np.searchsorted(marks, u - lam, side="right"), n - 1)
                if not idle[k]:
                    idle[k] = True
                    since[k] = now
                    who[i] = k
                    i += 1
    return counts
