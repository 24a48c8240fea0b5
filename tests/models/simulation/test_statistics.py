"""The simulation against exact numbers, and its standard errors against its own scatter.

A comparison allows 4.5 standard errors: a right simulation fails it with probability 7e-6 for a random seed (the
batches are many enough for the normal law to hold). Each error is bounded, so that 5% off would be seen.
"""

import math
from itertools import product

import numpy as np
import pytest
from scipy import stats

from staffing.models.simulation.shared_queue import SharedQueueSimulation


def fixed(rates):
    return lambda size, generator: np.tile(np.array(rates), (size, 1))


def simulate(rates, lam, theta, threshold=0.0, *, batches, **changes):
    done = SharedQueueSimulation(
        arrival_rate=lam,
        rosters=fixed(rates),
        agents=len(rates),
        abandonment_rate=theta,
        threshold=threshold,
        **changes,
    )
    done.run(batches, workers=2)
    return done.performance()


def agrees(found, measure, exact, share=0.01):
    error = found.standard_errors[measure]
    assert error < share * exact, (measure, error)
    assert abs(found.value(measure) - exact) < 4.5 * error, (measure, found.value(measure), exact, error)


ERLANG_A = [
    (48, 1, 0.5, 50, "abandonment_probability", 0.030912),
    (48, 1, 0.5, 50, "wait_probability", 0.467774),
    (48, 1, 0.5, 50, "service_level_offered", 0.943019),
    (48, 1, 0.5, 50, "service_level_virtual", 0.967943),
    (48, 1, 0.5, 50, "service_level_answered", 0.973100),
    (20, 1 / 3, 0.5, 60, "abandonment_probability", 0.056609),
    (20, 1 / 3, 0.5, 60, "service_level_offered", 0.828025),
    (20, 1 / 3, 0.5, 60, "service_level_virtual", 0.851178),
    (20, 1 / 3, 0.5, 60, "service_level_answered", 0.877712),
    (20, 1 / 3, 0.5, 50, "abandonment_probability", 0.175311),
    (4.2, 0.5, 1.0, 12, "wait_probability", 0.12737228),
    (4.2, 0.5, 1.0, 12, "abandonment_probability", 0.02967891),
]


@pytest.fixture(scope="module")
def erlang_a():
    done = {}

    def of(lam, mu, theta, n):
        if (lam, n) not in done:
            done[lam, n] = simulate([mu] * n, lam, theta, 1 / 3, batches=60)
        return done[lam, n]

    return of


@pytest.mark.parametrize(("lam", "mu", "theta", "n", "measure", "exact"), ERLANG_A)
def test_erlang_a(erlang_a, lam, mu, theta, n, measure, exact):
    found = erlang_a(lam, mu, theta, n)
    agrees(found, measure, exact)
    # Busy agents: throughput / mu, since all are alike.
    lost = found.abandonment_probability
    spread = 6 * math.hypot(found.standard_errors["occupancy"], found.standard_errors["capacity_utilisation"])
    assert abs(found.occupancy - lam * (1 - lost) / (n * mu)) < spread


@pytest.mark.parametrize(
    ("rates", "lam", "theta", "exact"),
    [
        ((0.5, 1, 1.5), 2.8, 0.5, (0.6090772, 0.9422104, 0.1682519)),
        ((0.4, 0.8, 1, 1.2, 1.6), 5, 0.5, (0.6473345, 1.4940505, 0.1494051)),
        ((1, 2, 0.5, 1.3), 4.5, 0.4, (0.63672801, None, 0.12578797)),
    ],
)
def test_unlike_agents(rates, lam, theta, exact):
    found = simulate(rates, lam, theta, batches=100, calls_per_roster=2000)
    for measure, value in zip(
        ("wait_probability", "mean_queue", "abandonment_probability"), exact, strict=True
    ):
        if value is not None:
            agrees(found, measure, value)


def wait_probability(rates, lam, theta):
    """P(W > 0) with longest idle first: the product form for idle agents, a birth-death chain for the queue."""
    idle = np.zeros(len(rates) + 1)
    idle[0] = 1.0
    for rate in rates:
        idle[1:] += np.arange(1, len(rates) + 1) * rate / lam * idle[:-1]
    queue = np.cumprod(lam / (sum(rates) + theta * np.arange(1, 400))).sum()
    return (1 + queue) / (idle.sum() + queue)


def test_the_exact_value_used_here_is_that_of_the_tables():
    assert wait_probability([0.5, 1, 1.5], 2.8, 0.5) == pytest.approx(0.6090772, abs=1e-7)
    assert wait_probability([1] * 50, 48, 0.5) == pytest.approx(0.467774, abs=1e-6)


def test_erlang_c():
    lam, mu, n = 10 / 3, 1 / 3, 14
    found = simulate([mu] * n, lam, 0.0, 1 / 3, batches=120)
    exact = wait_probability([mu] * n, lam, 0.0)
    agrees(found, "wait_probability", exact)
    agrees(found, "mean_wait", exact / (n * mu - lam), share=0.02)
    agrees(found, "service_level_answered", 0.88835)
    assert found.abandonment_probability == 0
    for t in (0.1, 1 / 3, 1.0):
        late = exact * math.exp(-(n * mu - lam) * t)
        assert 1 - found.wait_cdf(t) == pytest.approx(late, rel=0.05)


def test_standard_errors_are_honest():
    """The sum of squares of 200 z-scores has the chi-square law; it must lie within that law's 1e-4 interval.

    Standard errors a quarter too small or a third too large would show with probability above .9. Rosters differ,
    so the errors must cover their scatter, too, which no correction for luck takes away.
    """
    slow, fast, n, lam, theta = 0.6, 1.4, 3, 2.5, 1.0
    exact = np.mean([wait_probability(r, lam, theta) for r in product((slow, fast), repeat=n)])
    batches, runs = 60, 200
    scores = []
    for seed in range(runs):
        done = SharedQueueSimulation(
            arrival_rate=lam,
            rosters=lambda size, generator: generator.choice([slow, fast], (size, n)),
            agents=n,
            abandonment_rate=theta,
            seed=seed,
            rosters_per_batch=4,
            calls_per_roster=100,
            warm_up_calls=40,
        )
        done.run(batches)
        found = done.performance()
        scores.append((found.wait_probability - exact) / found.standard_errors["wait_probability"])
    freedom = done.degrees_of_freedom
    squares = (
        np.sum(np.square(scores)) * (freedom - 2) / freedom
    )  # Student's t has the inverse of that variance
    low, high = stats.chi2.ppf([5e-5, 1 - 5e-5], runs)
    assert low < squares < high
    assert stats.chi2.cdf(high * (3 / 4) ** 2, runs) < 0.1
    assert stats.chi2.sf(low * (4 / 3) ** 2, runs) < 0.1
    assert abs(np.mean(scores)) < 3.9 / math.sqrt(runs)
