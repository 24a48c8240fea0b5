"""Rosters drawn so evenly that averages over them hardly vary, and so that a roster can grow by one agent."""

import numpy as np
from numpy.typing import NDArray

from staffing.models.rate_laws import RateLaw


class LatinHypercube:
    """Rates of many rosters, agent by agent, in independent groups.

    Within a group the rates of the k-th agents are one from each of as many equally likely ranges as there are rosters,
    in random order, divided by their mean over the mean of the law: so the mean capacity of the group is that of
    the law at every head count, and a mean cost over rosters is as convex in the head count as the cost itself.
    The k-th agents depend on the seed and k alone.

    Parameters
    ----------
    law : RateLaw
        The law of one agent's rate.
    groups : int
        Independent groups, >= 2; their scatter tells how uncertain averages are.
    size : int
        Rosters in a group, >= 1.
    seed : int
        Seed, >= 0.
    """

    def __init__(self, law: RateLaw, *, groups: int, size: int, seed: int) -> None:
        self._law, self._groups, self._size, self._seed = law, groups, size, seed
        self._rates = np.empty((0, groups * size))

    def rates(self, agents: int) -> NDArray[np.float64]:
        """Rates of the first `agents` agents, shape (agents, rosters), the rosters of a group next to each other."""
        known = self._rates.shape[0]
        if agents > known:
            more = np.empty((agents - known, self._rates.shape[1]))
            for k in range(known, agents):
                more[k - known] = self._drawn(k).ravel()
            self._rates = np.concatenate([self._rates, more])
        return self._rates[:agents]

    def _drawn(self, agent: int) -> NDArray[np.float64]:
        generator = np.random.default_rng(np.random.SeedSequence(self._seed, spawn_key=(agent,)))
        ranks = generator.permuted(np.tile(np.arange(self._size), (self._groups, 1)), axis=1)
        u = (ranks + generator.random(ranks.shape)) / self._size
        rates = self._law.quantile(np.maximum(u, 1e-300))
        rates *= self._law.mean / rates.mean(axis=1, keepdims=True)
        return rates
