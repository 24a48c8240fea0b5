"""A simulated call of M/M/100+M at load 1: ours, Ciw's and SimPy's, in replications of the same size."""

from collections.abc import Callable
from types import ModuleType

import numpy as np
import pytest

from benchmarks import ciw_queue, simpy_callbacks, simpy_processes
from benchmarks.simulated_queue import (
    ABANDONMENT_RATE,
    AGENTS,
    ARRIVAL_RATE,
    CALLS,
    REPLICATIONS,
    WARM_UP_CALLS,
    Answer,
    assert_agree,
)
from benchmarks.table import OURS
from staffing.models.roster import roster_performance
from staffing.models.simulation.shared_queue import SharedQueueSimulation
from staffing.simulating import cores

ALIKE, DIFFER = "a simulated call, 100 agents alike", "a simulated call, 100 agents who differ"
ALL_CORES = f"{ALIKE}, all cores"
RATES = {ALIKE: np.ones(AGENTS), DIFFER: np.random.default_rng(1).gamma(25, 1 / 25, AGENTS)}
RATES[ALL_CORES] = RATES[ALIKE]


def ours(what: str) -> tuple[str, str, Callable[[int], list[Answer]], int]:
    """All replications of a seed in one go, on one core unless said otherwise."""
    rates = RATES[what]

    def simulate(seed: int) -> list[Answer]:
        simulation = SharedQueueSimulation(
            arrival_rate=float(rates.sum()),
            rosters=lambda size, _: np.tile(rates, (size, 1)),
            agents=AGENTS,
            abandonment_rate=ABANDONMENT_RATE,
            seed=seed,
            rosters_per_batch=1,
            calls_per_roster=CALLS,
            warm_up_calls=WARM_UP_CALLS,
        )
        simulation.run(REPLICATIONS, cores() if what == ALL_CORES else 1)
        return [Answer(*(values[name] for name in Answer._fields)) for values in simulation.batch_values()]

    return what, OURS, simulate, REPLICATIONS


def peer(
    who: str, module: ModuleType, what: str = ALIKE
) -> tuple[str, str, Callable[[int], list[Answer]], int]:
    """One replication of a seed."""

    def simulate(seed: int) -> list[Answer]:
        return [module.simulate(AGENTS, ARRIVAL_RATE, ABANDONMENT_RATE, WARM_UP_CALLS, CALLS, seed)]

    return what, who, simulate, 1


# Ours is over in a moment, which may be a bad one.
ORDER = [
    ours(ALIKE),
    ours(DIFFER),
    peer("SimPy, callbacks", simpy_callbacks),
    ours(ALIKE),
    ours(DIFFER),
    peer("SimPy, processes", simpy_processes),
    ours(ALL_CORES),
    peer("SimPy, callbacks", simpy_callbacks, ALL_CORES),
    ours(ALL_CORES),
    ours(ALIKE),
    ours(DIFFER),
    peer("Ciw", ciw_queue),
    ours(ALIKE),
    ours(DIFFER),
]


@pytest.mark.parametrize(("what", "who", "simulate", "replications"), ORDER)
def test_simulated_call(
    timed: Callable, what: str, who: str, simulate: Callable[[int], list[Answer]], replications: int
) -> None:
    rounds = [(seed,) for seed in range(REPLICATIONS)]
    found = timed(what, who, simulate, rounds, per=replications * CALLS)
    rates = RATES[what]
    exact = roster_performance(rates, float(rates.sum()), ABANDONMENT_RATE)
    assert_agree([answer for answers in found for answer in answers], exact)
