"""Given, unequal agents: printed figures, chains with a state per set or list of idle agents, symmetric properties."""

import csv
import math
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.integrate import quad

from staffing.models.erlang import erlang_a
from staffing.models.performance import MEASURES
from staffing.models.roster import ROUTINGS, roster_performance
from tests.models.plain_chain import Roster
from tests.models.plain_sums import roster_shares_by_integral

TABLE = Path(__file__).resolve().parents[1] / "reference" / "roster_exact.csv"
ROWS = [row for row in csv.DictReader(TABLE.read_text("utf-8").splitlines()) if row["routing"] in ROUTINGS]


@pytest.mark.parametrize("row", ROWS, ids=lambda row: f"{row['rates']}-{row['routing']}")
def test_printed_figures(row):
    performance = roster_performance(
        [float(rate) for rate in row["rates"].split()],
        float(row["arrival_rate"]),
        float(row["abandonment_rate"]),
        routing=row["routing"],
    )
    tolerance = float(row["tolerance"])
    for measure in ("wait_probability", "mean_queue", "abandonment_probability"):
        if row[measure]:
            assert performance.value(measure) == pytest.approx(float(row[measure]), abs=tolerance)


def test_every_row_with_an_exact_law_is_read():
    assert {row["routing"] for row in ROWS} == {"longest-idle", "random"}
    assert len(ROWS) == 3


def unequal(n, seed):
    return np.random.default_rng(seed).gamma(1.5, 1 / 1.5, n) + 0.02


CASES = [
    (n, load, theta)
    for n in (1, 2, 3, 5, 8)
    for load, theta in ((0.3, 0.5), (0.95, 0.15), (1.3, 1.0), (0.8, 6.0), (0.6, 0.0))
]


def equals_the_chain(rates, lam, theta, routing):
    chain = Roster(rates.tolist(), lam, theta, routing, longest=40 if theta > 2 else 150)
    assert chain.ahead[-1] < 1e-20, "the chain is too short"
    for threshold in (0.0, 0.3 / rates.sum(), 1.5 / rates.sum()):
        performance = roster_performance(rates, lam, theta, routing=routing, threshold=threshold)
        for measure, value in chain.measures(threshold).items():
            assert performance.value(measure) == pytest.approx(value, rel=1e-12, abs=1e-13), (
                measure,
                threshold,
            )


@pytest.mark.parametrize(("n", "load", "theta"), CASES)
def test_random_routing_equals_the_chain_of_all_sets_of_idle_agents(n, load, theta):
    rates = unequal(n, seed=n)
    equals_the_chain(rates, load * rates.sum(), theta, "random")


@pytest.mark.parametrize(("n", "load", "theta"), [case for case in CASES if case[0] <= 5])
def test_longest_idle_first_equals_the_chain_of_all_lists_of_idle_agents(n, load, theta):
    rates = unequal(n, seed=10 + n)
    equals_the_chain(rates, load * rates.sum(), theta, "longest-idle")


def test_very_unequal_agents_equal_the_chain():
    rates = np.array([0.01, 0.01, 0.3, 5.0, 40.0])
    for routing in ROUTINGS:
        equals_the_chain(rates, 20.0, 0.7, routing)


@pytest.mark.parametrize(("load", "theta"), [(0.9, 0.4), (1.4, 0.8), (0.7, 0.0), (0.7, 9.0)])
def test_the_law_of_the_wait(load, theta):
    """By uniformisation of the tagged call; its mean by integration; its quantiles are its inverse."""
    rates = unequal(6, seed=3)
    lam = load * rates.sum()
    performance = roster_performance(rates, lam, theta)
    chain = Roster(rates.tolist(), lam, theta, "random", longest=40 if theta > 2 else 150)
    unit = 1 / rates.sum()
    for t in unit * np.array([0, 0.01, 0.2, 1, 3, 10]):
        late, answered = chain.still_waiting(t, patient=False)
        assert 1 - performance.wait_cdf(t) == pytest.approx(late, rel=1e-11, abs=1e-14)
        in_time = roster_performance(rates, lam, theta, threshold=t).service_level.offered
        assert in_time == pytest.approx(1 - chain.ahead.sum() + answered, abs=1e-13)
    ends = [performance.wait_quantile(1 - 10.0**-k) for k in range(13)]
    mean = sum(
        quad(lambda t: 1 - performance.wait_cdf(t), low, high, epsabs=1e-14, epsrel=1e-12)[0]
        for low, high in pairwise(ends)
    )
    assert mean == pytest.approx(performance.mean_wait, rel=1e-9)
    for p in (0.5, 0.8, 0.99, 0.99999):
        t = performance.wait_quantile(p)
        assert performance.wait_cdf(t) == pytest.approx(max(p, 1 - performance.wait_probability), abs=1e-11)


@pytest.mark.parametrize(("n", "load"), [(1, 0.7), (20, 0.9), (20, 1.4), (400, 0.97), (2000, 1.02)])
@pytest.mark.parametrize("theta", [0.0, 0.3, 4.0, math.inf])
def test_equal_agents_are_erlang_a(n, load, theta):
    found = roster_performance(np.full(n, 1.7), load * 1.7 * n, theta, threshold=0.05)
    expected = erlang_a(load * 1.7 * n, 1.7, theta, n, threshold=0.05)
    assert found.values() == pytest.approx(expected.values(), rel=1e-11, abs=1e-13)
    for t in (0.0, 0.01, 0.3):
        assert found.wait_cdf(t) == pytest.approx(expected.wait_cdf(t), abs=1e-10)


def test_unequal_agents_of_equal_capacity_are_not_erlang_a():
    """Slow agents are more often busy: fewer are idle, and more calls wait than among equals."""
    found = roster_performance([0.5, 1, 1.5], 2.8, 0.5)
    assert found.wait_probability > erlang_a(2.8, 1.0, 0.5, 3).wait_probability + 0.005
    assert found.occupancy > found.capacity_utilisation + 0.01


@pytest.mark.parametrize(
    ("n", "cv", "load"), [(2000, 1.0, 0.98), (2000, 1.0, 1.1), (800, 0.3, 0.7), (300, 2.0, 0.95)]
)
def test_large_rosters_against_the_integral(n, cv, load):
    """Idle states from the integral for i!; the queue given that all are busy is that of equal agents of capacity S."""
    rates = np.random.default_rng(n).gamma(1 / cv**2, cv**2, n) + 1e-4
    lam, theta = load * rates.sum(), 0.5
    performance = roster_performance(rates, lam, theta)
    full, idle = roster_shares_by_integral(rates, lam)
    alike = erlang_a(
        lam, rates.sum(), theta, 1
    )  # one agent as fast as all: same queue, odds of idleness S / lam
    odds = alike.wait_probability / (1 - alike.wait_probability) * (rates.sum() / lam)
    waits = full * odds / (full * odds + 1 - full)
    assert performance.wait_probability == pytest.approx(waits, rel=1e-10)
    assert performance.mean_wait / waits == pytest.approx(alike.mean_wait / alike.wait_probability, rel=1e-10)
    busy = n - idle / (1 - full) * (1 - waits)
    assert performance.occupancy == pytest.approx(busy / n, rel=1e-10)


@pytest.mark.parametrize(
    "rates",
    [[1e-6] * 30 + [1e6], [1e-3, 1e3] * 20, [5.0], [1e-100, 1e100], [2.0**k for k in range(-30, 30)]],
    ids=["one fast", "half fast", "one", "extreme", "powers"],
)
@pytest.mark.parametrize("load", [1e-9, 0.5, 1.0, 2.0, 100.0])
@pytest.mark.parametrize("theta", [1e-3, 1.0, math.inf])
def test_extreme_rosters_stay_in_range(rates, load, theta):
    performance = roster_performance(rates, load * sum(rates), theta, threshold=1e-3)
    for measure, value in performance.values().items():
        assert not math.isnan(value), measure
        assert value >= 0, measure
        if "prob" in measure or "level" in measure or measure == "occupancy":
            assert value <= 1, measure
    busy = sum(rates) * performance.capacity_utilisation
    assert busy == pytest.approx(performance.throughput, rel=1e-12)


@pytest.mark.parametrize("load", [1e-6, 0.05, 0.5, 1.0, 3.0])
def test_two_thousand_very_unequal_agents_stay_in_range(load):
    rates = np.random.default_rng(1).exponential(1.0, 2000)
    performance = roster_performance(rates, load * rates.sum(), 0.5, threshold=0.1)
    values = performance.values()
    assert all(math.isfinite(value) and value >= 0 for value in values.values())
    assert performance.throughput == pytest.approx(min(load, 1) * rates.sum(), rel=0.03)


def test_two_thousand_agents_with_thirty_times_their_work():
    rates = np.random.default_rng(1).exponential(1.0, 2000)
    performance = roster_performance(rates, 30 * rates.sum(), 0.5)
    assert performance.wait_probability == pytest.approx(1, abs=1e-6)
    assert performance.abandonment_probability == pytest.approx(29 / 30, rel=1e-6)


def test_no_agents_and_no_calls():
    nobody = roster_performance([], 3.0, 0.5, threshold=0.1)
    assert nobody.values() == erlang_a(3.0, 1.0, 0.5, 0, threshold=0.1).values()
    idle = roster_performance([0.5, 1.5], 0.0, 0.5)
    assert idle.values() == erlang_a(0.0, 1.0, 0.5, 2).values()


@pytest.mark.parametrize("rates", [[1.0, 2.0], [0.2] * 5])
@pytest.mark.parametrize("excess", [1.0, 1.5])
def test_a_queue_that_grows_without_end(rates, excess):
    performance = roster_performance(rates, excess * sum(rates), 0.0, threshold=1.0)
    assert performance.wait_probability == performance.occupancy == 1
    assert performance.mean_wait == performance.mean_queue == math.inf
    assert performance.throughput == pytest.approx(sum(rates), rel=1e-15)
    assert performance.capacity_utilisation == pytest.approx(1, rel=1e-15)
    assert performance.service_level.offered == 0


# --- what holds for every roster ---

RATE = st.floats(-2, 2).map(lambda power: 10.0**power)
ROSTERS = st.lists(RATE, min_size=1, max_size=40)
LOAD = st.floats(0.01, 10)


@given(ROSTERS, LOAD, RATE, RATE, st.randoms(use_true_random=False))
def test_the_order_of_agents_does_not_matter(rates, load, theta, threshold, random):
    lam = load * sum(rates)
    one = roster_performance(rates, lam, theta, threshold=threshold)
    shuffled = rates.copy()
    random.shuffle(shuffled)
    other = roster_performance(shuffled, lam, theta, threshold=threshold, routing="random")
    assert other.values() == pytest.approx(one.values(), rel=1e-9, abs=1e-10)


@given(ROSTERS, LOAD, RATE, RATE)
def test_shares_are_shares_and_flows_balance(rates, load, theta, threshold):
    lam = load * sum(rates)
    p = roster_performance(rates, lam, theta, threshold=threshold)
    for measure in MEASURES:
        value = p.value(measure)
        assert value >= 0, measure
        if "prob" in measure or "level" in measure or measure == "occupancy":
            assert value <= 1 + 1e-15, measure
    assert p.capacity_utilisation <= 1 + 1e-12
    assert p.mean_queue == pytest.approx(lam * p.mean_wait, rel=1e-13)
    assert theta * p.mean_queue == pytest.approx(lam * p.abandonment_probability, rel=1e-13)
    assert p.throughput == pytest.approx(lam * (1 - p.abandonment_probability), abs=1e-13 * lam)
    # The slower an agent, the larger its share of time busy.
    assert p.occupancy >= p.capacity_utilisation - 1e-12
    assert p.service_level.offered <= p.service_level.answered + 1e-14
    assert p.service_level.offered <= p.service_level.virtual + 1e-13
    assert p.wait_cdf(0) == pytest.approx(1 - p.wait_probability, abs=1e-11)


def test_the_chance_of_waiting_is_at_most_one():
    rates = [10.0**1.9375, 2.4631857768221717]
    assert roster_performance(rates, 6.1875 * sum(rates), 1.0).wait_probability <= 1


@given(ROSTERS, LOAD, RATE, RATE, RATE)
def test_time_may_be_told_in_any_unit(rates, load, theta, threshold, unit):
    lam = load * sum(rates)
    one = roster_performance(rates, lam, theta, threshold=threshold)
    two = roster_performance(
        [unit * rate for rate in rates], unit * lam, unit * theta, threshold=threshold / unit
    )
    for measure in MEASURES:
        factor = 1 / unit if "mean_wait" in measure else unit if measure == "throughput" else 1
        expected = one.value(measure) * factor
        assert two.value(measure) == pytest.approx(expected, rel=1e-9, abs=1e-11 * factor), measure


@given(ROSTERS, LOAD, RATE, RATE, RATE)
def test_one_more_agent_never_hurts_a_caller(rates, load, theta, threshold, new):
    """However slow: a call that would have waited behind it waits no longer for being taken by it."""
    lam = load * sum(rates)
    one = roster_performance(rates, lam, theta, threshold=threshold)
    more = roster_performance([*rates, new], lam, theta, threshold=threshold)
    for measure in ("wait_probability", "mean_wait", "mean_queue", "abandonment_probability"):
        assert more.value(measure) <= one.value(measure) * (1 + 1e-10) + 1e-13, measure
    for measure in ("service_level_offered", "service_level_virtual", "throughput"):
        # Shares come from differences of logarithms of the size of lam / theta.
        assert more.value(measure) >= one.value(measure) * (1 - 1e-10) - 1e-13 - 1e-15 * lam / theta, measure


@given(ROSTERS, LOAD, RATE, st.floats(1.01, 3), st.data())
def test_one_faster_agent_never_hurts_a_caller(rates, load, theta, factor, data):
    lam = load * sum(rates)
    k = data.draw(st.integers(0, len(rates) - 1))
    one = roster_performance(rates, lam, theta)
    faster = roster_performance([*rates[:k], factor * rates[k], *rates[k + 1 :]], lam, theta)
    assert faster.wait_probability <= one.wait_probability * (1 + 1e-10) + 1e-13
    assert faster.mean_wait <= one.mean_wait * (1 + 1e-10) + 1e-13


@given(ROSTERS, LOAD, RATE)
def test_equal_agents_of_the_same_capacity_never_serve_worse(rates, load, theta):
    """Maclaurin's inequality: among rosters of one size and capacity equal rates leave most agents idle."""
    lam = load * sum(rates)
    unequal_rates = roster_performance(rates, lam, theta)
    equal = roster_performance([sum(rates) / len(rates)] * len(rates), lam, theta)
    assert equal.wait_probability <= unequal_rates.wait_probability * (1 + 1e-10) + 1e-13
