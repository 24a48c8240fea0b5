"""A simulated call of M/M/100+M at load 1: ours, Ciw's and SimPy's, in the same replications."""

from collections.abc import Callable

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
from staffing.models.erlang import erlang_a
from staffing.models.roster import roster_performance
from staffing.models.simulation.shared_queue import SharedQueueSimulation

ALIKE = "a simulated call, 100 agents alike"
EQUAL = np.ones(AGENTS)
UNEQUAL = np.random.default_rng(1).gamma(25, 1 / 25, AGENTS)


def simulate(rates: np.ndarray, replications: int, seed: int) -> list[Answer]:
    """All replications in one go, on one core, as users run them."""
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
    simulation.run(replications)
    return [Answer(*(values[name] for name in Answer._fields)) for values in simulation.batch_values()]


@pytest.mark.parametrize(
    ("what", "rates"),
    [(ALIKE, EQUAL), ("a simulated call, 100 agents who differ", UNEQUAL)],
    ids=["alike", "differ"],
)
def test_ours(timed: Callable, what: str, rates: np.ndarray) -> None:
    rounds = [(rates, REPLICATIONS, seed) for seed in range(20)]
    found = timed(what, OURS, simulate, rounds, per=REPLICATIONS * CALLS)
    assert_agree(
        [answer for answers in found for answer in answers],
        roster_performance(rates, float(rates.sum()), ABANDONMENT_RATE),
    )


@pytest.mark.parametrize(
    ("who", "peer"),
    [
        ("SimPy, callbacks", simpy_callbacks),
        ("SimPy, processes", simpy_processes),
        ("Ciw", ciw_queue),
    ],
    ids=lambda value: getattr(value, "__name__", "").rpartition(".")[2],
)
def test_peer(timed: Callable, who: str, peer: object) -> None:
    centre = (AGENTS, ARRIVAL_RATE, ABANDONMENT_RATE, WARM_UP_CALLS, CALLS)
    answers = timed(ALIKE, who, peer.simulate, [(*centre, seed) for seed in range(REPLICATIONS)], per=CALLS)
    assert_agree(answers, erlang_a(ARRIVAL_RATE, 1.0, ABANDONMENT_RATE, AGENTS))
