"""Shared queues the long way round: chains solved state by state, waits of one tagged call.

Nothing here imports the package. A chain is truncated at a queue so long that its chance is below rounding.
"""

from collections.abc import Iterator, Sequence
from math import ceil, sqrt

import numpy as np
from scipy.special import betainc, gammaincc

# --- chains with a state per set (or list) of idle agents ----------------------------------------------------------

State = tuple[tuple[int, ...], int]
"""Idle agents (longest idle first, or sorted if routing is random) and callers waiting."""


def moves(
    state: State, rates: Sequence[float], lam: float, theta: float, routing: str | Sequence[int], longest: int
) -> Iterator[tuple[State, float]]:
    """Where the system goes from `state`, and how fast; a sequence for routing is a priority list."""
    idle, waiting = state
    if idle:
        if routing == "longest-idle":
            heads = idle[:1]
        else:
            heads = idle if routing == "random" else (min(idle, key=routing.index),)
        for agent in heads:
            yield (tuple(k for k in idle if k != agent), 0), lam / len(heads)
    elif waiting < longest:
        yield ((), waiting + 1), lam
    for agent, rate in enumerate(rates):
        if agent not in idle:
            if waiting:
                yield ((), waiting - 1), rate
            else:
                after = (*idle, agent)
                yield (after if routing == "longest-idle" else tuple(sorted(after)), 0), rate
    if waiting:
        yield ((), waiting - 1), waiting * theta


def stationary(q: np.ndarray) -> np.ndarray:
    """Stationary law of a chain with transition rates q, without a subtraction (Grassmann, Taksar, Heyman)."""
    q = q.copy()
    size = len(q)
    for m in range(size - 1, 0, -1):
        q[:m, m] /= q[m, :m].sum()
        q[:m, :m] += np.outer(q[:m, m], q[m, :m])
    law = np.ones(size)
    for m in range(1, size):
        law[m] = law[:m] @ q[:m, m]
    return law / law.sum()


class Roster:
    """Agents with these rates in one queue, by the chain of all its states."""

    def __init__(
        self,
        rates: Sequence[float],
        lam: float,
        theta: float,
        routing: str | Sequence[int],
        longest: int = 150,
    ) -> None:
        self.lam, self.theta, self.capacity, self.agents = lam, theta, sum(rates), len(rates)
        index: dict[State, int] = {(tuple(range(len(rates))), 0): 0}
        found = list(index)
        jumps = []
        for state in found:  # which grows as it is walked
            for after, speed in moves(state, rates, lam, theta, routing, longest):
                if after not in index:
                    index[after] = len(index)
                    found.append(after)
                jumps.append((index[state], index[after], speed))
        q = np.zeros((len(found), len(found)))
        for before, after, speed in jumps:
            q[before, after] += speed
        law = stationary(q)
        self.ahead = np.array([law[index[(), k]] for k in range(longest + 1)])
        self.busy = sum(p * (self.agents - len(idle)) for p, (idle, _) in zip(law, found, strict=True))
        self.served = sum(
            p * sum(rate for k, rate in enumerate(rates) if k not in idle)
            for p, (idle, _) in zip(law, found, strict=True)
        )

    def answered_wait(self) -> float:
        """E[wait; answered] per call, by one step of the tagged call at a time."""
        answered, waited, result = 1.0, 0.0, 0.0
        for k, p in enumerate(self.ahead):
            down = self.capacity + k * self.theta
            pace = down + self.theta
            answered *= down / pace
            waited = answered / pace + down / pace * waited
            result += p * waited
        return result

    def still_waiting(self, t: float, *, patient: bool) -> tuple[float, float]:
        """(P(tagged call still waits at t), P(it has been answered after a wait, by t)), by uniformisation.

        A patient call never gives up: its wait is the offered one.
        """
        k = np.arange(len(self.ahead))
        down = self.capacity + k * self.theta
        leave = np.zeros_like(down) if patient else np.full_like(down, self.theta)
        pace = (down + leave).max()
        assert pace * t < 700, "the chance of no step at all must not underflow"
        law, done, weight = self.ahead.copy(), 0.0, np.exp(-pace * t)
        waits, answered, step, covered = weight * law.sum(), 0.0, 0, weight
        while covered < 1 - 1e-15 and step < 10_000:
            done += law[0] * down[0] / pace
            stay = law * (1 - (down + leave) / pace)
            stay[:-1] += law[1:] * down[1:] / pace
            law = stay
            step += 1
            weight *= pace * t / step
            covered += weight
            waits += weight * law.sum()
            answered += weight * done
        return waits, answered

    def measures(self, threshold: float) -> dict[str, float]:
        """Every measure of the record, each from what it means."""
        waits = self.ahead.sum()
        queue = self.ahead @ np.arange(len(self.ahead))
        lost = self.theta * queue / self.lam
        _, answered_in_time = self.still_waiting(threshold, patient=False)
        offered = 1 - waits + answered_in_time
        virtually_late, _ = self.still_waiting(threshold, patient=True)
        return {
            "wait_probability": waits,
            "mean_wait": queue / self.lam,
            "mean_wait_answered": self.answered_wait() / (self.served / self.lam),
            "mean_queue": queue,
            "abandonment_probability": lost,
            "blocking_probability": 0.0,
            "service_level_offered": offered,
            "service_level_answered": offered / (self.served / self.lam),
            "service_level_virtual": 1 - virtually_late,
            "occupancy": self.busy / self.agents,
            "capacity_utilisation": self.served / self.capacity,
            "throughput": self.served,
        }


# --- identical agents ----------------------------------------------------------------------------------------------


class Centre:
    """M/M/n+M state by state; the wait of a call with k ahead is a sum of k + 1 exponential times.

    With k ahead, exp(-theta V) has the Beta(S / theta, k + 1) law; a caller is answered if patience outlasts V.
    """

    def __init__(self, lam: float, mu: float, theta: float, n: int) -> None:
        self.lam, self.theta, self.capacity, self.agents = lam, theta, n * mu, n
        over = max(lam - self.capacity, 0.0) / theta
        longest = ceil(over + 14 * sqrt(lam / theta) + 60)
        x = np.arange(n + longest)
        ratio = lam / (np.minimum(x + 1, n) * mu + np.maximum(x + 1 - n, 0) * theta)
        mode = int(np.count_nonzero(ratio > 1))
        up = np.cumprod(ratio[mode:])
        down = np.cumprod(1 / ratio[:mode][::-1])[::-1]
        law = np.concatenate([down, [1.0], up])
        law /= law.sum()
        self.ahead = law[n:]
        self.busy = law @ np.minimum(np.arange(law.size), n)
        self._seen = np.flatnonzero(self.ahead > 1e-25)

    def late(self, t: float) -> tuple[float, float]:
        """(P(V > t), P(V > t and answered)) for the offered wait V."""
        k = self._seen
        p = self.ahead[k]
        a = self.capacity / self.theta
        if a == 0:
            return float(p.sum()), 0.0
        y = np.exp(-self.theta * t)
        return float(p @ betainc(a, k + 1.0, y)), float(
            p @ (a / (a + k + 1) * betainc(a + 1, k + 1.0, y)),
        )

    def answered_wait(self) -> float:
        """E[wait; answered] per call; an answered call's steps have rates S + (j + 1) theta."""
        k = np.arange(self.ahead.size)
        steps = np.cumsum(1 / (self.capacity + (k + 1) * self.theta))
        return float(self.ahead @ (self.capacity / (self.capacity + (k + 1) * self.theta) * steps))

    def measures(self, threshold: float) -> dict[str, float]:
        waits = self.ahead.sum()
        queue = self.ahead @ np.arange(self.ahead.size)
        served = self.busy * (self.capacity / self.agents) if self.agents else 0.0
        virtually_late, late = self.late(threshold)
        offered = 1 - self.theta * queue / self.lam - late
        return {
            "wait_probability": waits,
            "mean_wait": queue / self.lam,
            "mean_wait_answered": self.answered_wait() / (served / self.lam) if served else np.inf,
            "mean_queue": queue,
            "abandonment_probability": self.theta * queue / self.lam,
            "blocking_probability": 0.0,
            "service_level_offered": offered,
            "service_level_answered": offered / (served / self.lam) if served else 0.0,
            "service_level_virtual": 1 - virtually_late,
            "occupancy": self.busy / self.agents if self.agents else 0.0,
            "capacity_utilisation": served / self.capacity if self.agents else 0.0,
            "throughput": served,
        }


def blocking(load: float, n: int) -> float:
    """Erlang B by the recursion that every textbook has."""
    b = 1.0
    for k in range(1, n + 1):
        b = load * b / (k + load * b)
    return b


def erlang_c_measures(lam: float, mu: float, n: int, threshold: float) -> dict[str, float]:
    """Erlang C from Erlang B and the exponential law of the wait of those who wait; lam < n mu."""
    b = blocking(lam / mu, n)
    rho = lam / (n * mu)
    waits = b / (1 - rho * (1 - b))
    late = waits * np.exp(-(n * mu - lam) * threshold)
    return {
        "wait_probability": waits,
        "mean_wait": waits / (n * mu - lam),
        "mean_wait_answered": waits / (n * mu - lam),
        "mean_queue": waits * rho / (1 - rho),
        "abandonment_probability": 0.0,
        "blocking_probability": 0.0,
        "service_level_offered": 1 - late,
        "service_level_answered": 1 - late,
        "service_level_virtual": 1 - late,
        "occupancy": rho,
        "capacity_utilisation": rho,
        "throughput": lam,
    }


def erlang_c_late(lam: float, s: float, waits: float, t: float) -> float:
    """P(V > t) for nobody giving up, state by state: with k ahead V is Erlang(k + 1, S)."""
    k = np.arange(ceil(60 / -np.log(lam / s)))
    return float(waits * (1 - lam / s) * (lam / s) ** k @ gammaincc(k + 1, s * t))


def closure_chain(n: int, s: float, c2: float, lam: float, theta: float) -> np.ndarray:
    """Law of the number in system with the gamma closure's death rates; no queue beyond 0 where theta is 0."""
    longest = ceil(max(lam - s, 0.0) / theta + 14 * sqrt(lam / theta) + 60) if theta else 0
    x = np.arange(1, n + longest + 1)
    idle = np.maximum(n - x, 0)
    # An idle agent more: death rate S (n - i) / (n + i c2) takes i idle agents to i + 1.
    deaths = np.where(x <= n, s * (n - idle) / (n + idle * c2), s + (x - n) * theta)
    law = np.exp(np.concatenate([[0.0], np.cumsum(np.log(lam / deaths))]))
    return law / law.sum()
