"""Renewal arrivals at a shared queue, against every state of queue and phase, Poisson calls and the diffusion."""

import math
from itertools import pairwise

import numpy as np
import pytest
from scipy.special import log_ndtr

from staffing.models._kernels import priority_death_rates, weighted_death_rates
from staffing.models.arrival_error import arrival_error, gap_law_error
from staffing.models.bursty_arrivals import (
    BurstyWaits,
    bursty_chain_rows,
    bursty_closure_days,
    bursty_closure_rows,
)
from staffing.models.performance import measures
from staffing.models.renewal_gaps import RenewalGaps
from staffing.models.shared_queue import Callers, QueueWaits, chain_rows, closure_rows
from tests.models.plain_bursty import BurstyCentre, TwoKinds, gaps, hyper, with_erlang

INF = math.inf
WAITS, QUEUE, LOST, ANSWERED_WAIT, IN_TIME, LATE, BUSY, ANSWERED, BLOCKED, LOG_MOST = range(10)


def row(n, lam, ca2, theta, *, capacity=None, c2=0.0, threshold=0.2):
    capacities = np.array([float(n) if capacity is None else capacity])
    return bursty_closure_rows(lam, ca2, theta, threshold, n, capacities, c2)[0]


def named(values, lam, n, capacity):
    return measures(values[:9].tolist(), arrival_rate=lam, agents=n, capacity=capacity)


def closure_deaths(n, c2):
    x = np.arange(1, n + 1)
    return n * x / (n + (n - x) * c2)


def longest(lam, ca2, s, theta):
    return int(max(0.0, lam - s) / theta + 10 * math.sqrt(0.5 * (1 + ca2) * lam / theta) + 80)


@pytest.mark.parametrize("theta", [0.0, 0.01, 0.5, 50.0, INF])
@pytest.mark.parametrize("n", [0, 1, 5, 300])
def test_poisson_calls_are_among_them(n, theta):
    for load in (0.1, 0.9, 1.3, 3.0):
        callers = Callers(load * max(n, 1), theta, 0.3)
        capacities = np.array([float(n), 0.7 * n, 0.0])
        known = closure_rows(callers, n, capacities, 0.3)
        found = bursty_closure_rows(callers.arrival_rate, 1.0, theta, 0.3, n, capacities, 0.3)
        np.testing.assert_allclose(found[:, :8], known[:, :8], rtol=1e-12, atol=1e-13)
        if n:
            deaths = (np.arange(n, 0, -1) * (1 + 0.1 * np.sin(np.arange(n))))[np.newaxis]
            known = chain_rows(callers, deaths)
            found = bursty_chain_rows(callers.arrival_rate, 1.0, theta, 0.3, deaths)
            np.testing.assert_allclose(found[:, :8], known[:, :8], rtol=1e-12, atol=1e-13)


@pytest.mark.parametrize("theta", [0.1, 0.5, 2.0, INF])
@pytest.mark.parametrize("ca2", [0.05, 0.3, 0.5, 0.9, 1.5, 4.0, 25.0])
@pytest.mark.parametrize("n", [0, 1, 7, 30])
def test_equals_every_state_of_queue_and_phase(n, ca2, theta):
    lam = 0.95 * max(n, 1)
    queue = 300 if theta == INF else longest(lam, 2 * ca2 + 1, n, theta)
    exact = BurstyCentre(gaps(lam, ca2), closure_deaths(n, 0.3), float(n), theta, queue)
    found = row(n, lam, ca2, theta, c2=0.3)
    np.testing.assert_allclose(found[:8], exact.sums(0.2), rtol=1e-9, atol=1e-11)


@pytest.mark.parametrize("ca2", [0.05, 0.5, 4.0])
@pytest.mark.parametrize("n", [1, 20])
def test_equals_every_state_where_nobody_gives_up(n, ca2):
    exact = BurstyCentre(gaps(0.8 * n, ca2), closure_deaths(n, 0.1), float(n), 0.0, 600)
    np.testing.assert_allclose(row(n, 0.8 * n, ca2, 0.0, c2=0.1)[:8], exact.sums(0.2), rtol=1e-9, atol=1e-11)


@pytest.mark.parametrize("scv", [0.01, 0.0725, 0.25, 0.7, 1.0, 1.5, 25.0])
def test_one_agent_waits_as_the_transform_of_the_gaps_says(scv):
    lam = 0.9
    sigma = row(1, lam, scv, 0.0)[WAITS]
    score = np.linspace(-36, 36, 40_001)
    u = 1 / (1 + np.exp(-score))
    gap = RenewalGaps(scv).at(u) / lam
    transform = np.trapezoid(np.exp(-(1 - sigma) * gap) * u * (1 - u), score)
    assert sigma == pytest.approx(transform, abs=1e-9)


@pytest.mark.parametrize("theta", [1e-3, 0.5, 30.0])
@pytest.mark.parametrize("ca2", [0.0, 0.2, 1.0, 3.0, 100.0])
def test_what_is_lost_waited_and_busy_balances(ca2, theta):
    for n, load in ((1, 0.5), (10, 0.9), (100, 1.0), (40, 2.0)):
        lam = load * n
        found = row(n, lam, ca2, theta)
        assert lam * found[LOST] == pytest.approx(theta * found[QUEUE], rel=1e-13)
        assert found[LOST] + found[ANSWERED] == pytest.approx(1.0, abs=1e-11)
        assert found[BUSY] == pytest.approx(lam * found[ANSWERED], rel=1e-11)


@pytest.mark.parametrize("ca2", [0.0, 1e-9, 0.01, 0.999999, 1.0, 1.000001, 100.0, 1e6])
def test_no_centre_is_too_odd(ca2):
    for n in (0, 1, 3, 30):
        for load in (1e-6, 0.5, 1.0, 1.0 - 1e-9, 20.0):
            for theta in (0.0, 1e-3, 1.0, 1e4, INF):
                lam = load * max(n, 1)
                for capacity in (0.0, 1e-3 * n, float(n)):
                    found = row(n, lam, ca2, theta, capacity=capacity, c2=0.5)
                    if theta == 0.0 and found[QUEUE] == INF:
                        assert lam >= capacity * (1 - 1e-12)
                        continue
                    assert not np.isnan(found).any(), (n, load, theta, capacity)
                    shares = found[[WAITS, LOST, IN_TIME, LATE, ANSWERED]]
                    assert shares.min() >= 0.0
                    assert shares.max() <= 1.0 + 1e-12
                    assert -1e-9 <= found[BUSY] <= n * (1 + 1e-12)


def test_a_queue_without_end_has_the_row_of_poisson_calls():
    known = closure_rows(Callers(12.0, 0.0, 0.2), 10, np.array([10.0]), 0.0)[0]
    np.testing.assert_array_equal(row(10, 12.0, 4.0, 0.0), known)


@pytest.mark.parametrize("ca2", [0.5, 4.0])
def test_a_million_may_wait(ca2):
    found = row(100, 1100.0, ca2, 1e-3)
    np.testing.assert_allclose(found[LOST], 1 - 100 / 1100, rtol=1e-9)
    found = row(1000, 1100.0, ca2, 1e-4)
    np.testing.assert_allclose(found[QUEUE], 1e6, rtol=1e-6)
    assert found[LATE] == pytest.approx(1.0, abs=1e-9)


def test_days_are_rows_of_their_own():
    lams, agents, capacities = np.array([3.0, 50.0]), np.array([4, 45]), np.array([4.4, 46.0])
    days = bursty_closure_days(lams, 3.0, 0.5, 0.2, agents, capacities, 0.2)
    for day, lam, n, capacity in zip(days, lams, agents, capacities, strict=True):
        np.testing.assert_array_equal(day, row(int(n), lam, 3.0, 0.5, capacity=capacity, c2=0.2))


def law_of(ca2, theta, lam, n, capacities, weights):
    rows = bursty_closure_rows(lam, ca2, theta, 0.2, n, capacities, 0.1)
    return BurstyWaits(lam, ca2, theta, capacities, weights, rows[:, LOG_MOST].copy()), rows


@pytest.mark.parametrize("theta", [0.0, 0.5, 3.0])
@pytest.mark.parametrize("ca2", [0.3, 5.0])
def test_waits_are_those_of_every_state(ca2, theta):
    n, lam = 12, 10.0
    capacities, weights = np.array([11.0, 13.0]), np.array([0.3, 0.7])
    law, rows = law_of(ca2, theta, lam, n, capacities, weights)
    assert law.survival(0.0) == pytest.approx(weights @ rows[:, WAITS], rel=1e-12)
    queue = 900 if theta == 0 else longest(lam, 2 * ca2, 11.0, theta)
    exact = [
        BurstyCentre(gaps(lam, ca2), closure_deaths(n, 0.1) * s / n, s, theta, queue) for s in capacities
    ]
    for t in (0.05, 0.3, 1.0):
        known = sum(w * centre.late(t)[0] for w, centre in zip(weights, exact, strict=True))
        assert law.survival(t) == pytest.approx(known * math.exp(-theta * t), rel=1e-9)


@pytest.mark.parametrize("theta", [0.0, 0.01, 0.5, INF])
def test_waits_of_poisson_calls_are_known_far_out(theta):
    capacities, weights = np.array([95.0, 110.0]), np.array([0.5, 0.5])
    lam = 90.0 if theta == 0 else 100.0
    law, _ = law_of(1.0, theta, lam, 100, capacities, weights)
    callers = Callers(lam, theta, 0.2)
    known = QueueWaits(callers, capacities, weights, closure_rows(callers, 100, capacities, 0.1)[:, -1], 100)
    for t in (0.0, 0.1, 3.0, 40.0, INF):
        assert law.survival(t) == pytest.approx(known.survival(t), rel=1e-9)
        assert law.log_survival(t) == pytest.approx(known.log_survival(t), rel=1e-10)


@pytest.mark.parametrize("ca2", [0.2, 8.0])
def test_waits_fall_and_their_logs_last(ca2):
    law, _ = law_of(ca2, 0.5, 95.0, 100, np.array([100.0]), np.ones(1))
    logs = [law.log_survival(t) for t in np.linspace(0.0, 60.0, 61)]
    assert all(later < earlier for earlier, later in pairwise(logs))
    assert -INF < logs[-1] < -1000


# --- how fast errors vanish ----------------------------------------------------------------------------------------


def two_kinds(ca2, each, lam, theta, cv, routing="random"):
    rates = np.array([1 + cv] * each + [1 - cv] * each)
    deaths = np.empty(2 * each)
    if routing == "random":
        weighted_death_rates(rates, rates, deaths)
    else:
        priority_death_rates(rates, lam, deaths)
    found = bursty_chain_rows(lam, ca2, theta, 0.2, deaths[np.newaxis])[0]
    queue = longest(lam, 2 * ca2 + 1, 2.0 * each, theta)
    return found, TwoKinds(gaps(lam, ca2), each, (1 + cv, 1 - cv), theta, routing, queue)


@pytest.mark.parametrize("ca2", [0.25, 0.5, 4.0, 25.0])
@pytest.mark.parametrize("routing", ["random", "fastest"])
def test_unlike_agents_err_within_the_bounds(ca2, routing):
    for each in (1, 3, 10):
        for load in (0.5, 0.9, 1.1):
            n, lam, cv, theta = 2 * each, 2 * each * load, 0.5, 0.5
            found, exact = two_kinds(ca2, each, lam, theta, cv, routing)
            values = named(found, lam, n, float(n))
            bound = arrival_error(n, ca2, values, rate_cv=cv, by_rate=routing == "fastest")
            assert abs(found[WAITS] - exact.waits) <= bound["wait_probability"]
            assert abs(found[QUEUE] - exact.queue) <= bound["mean_queue"]
            assert abs(found[QUEUE] - exact.queue) * theta / lam <= bound["abandonment_probability"]
            assert abs(found[BUSY] - exact.busy) / n <= bound["occupancy"]


def test_who_waits_waits_as_long_whoever_the_agents_are():
    found, exact = two_kinds(4.0, 5, 9.0, 0.5, 0.6)
    assert abs(found[WAITS] - exact.waits) > 1e-4
    assert found[QUEUE] / found[WAITS] == pytest.approx(exact.queue / exact.waits, rel=1e-9)


def test_unlike_agents_err_by_one_over_n():
    errors = []
    for n in (20, 40, 80, 160):
        found, exact = two_kinds(0.5, n // 2, n - 0.5 * math.sqrt(n), 0.5, 0.5)
        errors.append(found[WAITS] - exact.waits)
    exponents = np.log2(np.divide(errors[:-1], errors[1:]))
    assert (np.diff(exponents) > 0).all()
    assert 2 * exponents[2] - exponents[1] == pytest.approx(1.0, abs=0.04)


def diffusion(lam, ca2, n, theta):
    """(P(wait), E[Q]) of the diffusion limit with agents of rate 1, variance (lam ca2 + min(lam, n)) / n."""
    variance, drift = (lam * ca2 + min(lam, n)) / n, (lam - n) / math.sqrt(n)

    def side(d, k):
        s = math.sqrt(variance / (2 * k))
        z = d / (k * s)
        log_phi = log_ndtr(z)
        return math.log(s) + 0.5 * math.log(2 * math.pi) + z * z / 2 + log_phi, s * (
            z + math.exp(-z * z / 2 - log_phi) / math.sqrt(2 * math.pi)
        )

    (waiting, mean), (idle, _) = side(drift, theta), side(-drift, 1.0)
    chance = 1 / (1 + math.exp(idle - waiting))
    return chance, math.sqrt(n) * chance * mean


@pytest.mark.parametrize("ca2", [0.25, 4.0])
def test_the_diffusion_errs_by_one_over_root_n(ca2):
    errors = []
    for n in (400, 1600, 6400):
        lam = n - 0.5 * math.sqrt(n)
        errors.append(row(n, lam, ca2, 0.5)[WAITS] - diffusion(lam, ca2, n, 0.5)[0])
    exponents = np.log(np.divide(errors[:-1], errors[1:])) / math.log(4)
    assert 2 * exponents[1] - exponents[0] == pytest.approx(0.5, abs=0.02)


@pytest.mark.parametrize("ca2", [0.25, 0.5, 2.0, 4.0, 10.0])
def test_another_law_of_gaps_changes_what_the_bounds_allow(ca2):
    for n in (5, 50):
        for load in (0.7, 1.0, 1.2):
            lam = load * n
            for theta in (0.5, 2.0):
                found = row(n, lam, ca2, theta)
                values = named(found, lam, n, float(n))
                if ca2 < 1:
                    others = [with_erlang(lam, ca2, round(1 / ca2) + 2)]
                else:
                    thirds = ((1 + ca2) * (1 + 2 * ca2), (1 + ca2) ** 3)
                    others = [(hyper(lam, ca2, third), third) for third in thirds]
                for phases, third in others:
                    queue = min(longest(lam, 3 * ca2, float(n), theta), 900)
                    known = BurstyCentre(phases, np.arange(1, n + 1.0), float(n), theta, queue).sums(0.2)
                    bound = gap_law_error(n, ca2, third, values, theta)
                    assert abs(found[WAITS] - known[WAITS]) <= bound["wait_probability"]
                    assert abs(found[QUEUE] - known[QUEUE]) <= bound["mean_queue"]
                    assert abs(found[LOST] - known[LOST]) <= bound["abandonment_probability"]
                    assert abs(found[IN_TIME] - known[IN_TIME]) <= bound["service_level_offered"]
                    assert abs(found[LATE] - known[LATE]) <= bound["service_level_virtual"]


def test_another_law_of_gaps_changes_p_wait_by_one_over_root_n():
    errors = []
    for n in (100, 400, 1600):
        lam = n - 0.5 * math.sqrt(n)
        third = 5.0 * 9.0
        other = BurstyCentre(
            hyper(lam, 4.0, third), np.arange(1, n + 1.0), float(n), 0.5, longest(lam, 9.0, n, 0.5)
        )
        errors.append(row(n, lam, 4.0, 0.5)[WAITS] - other.sums(0.2)[WAITS])
    exponents = np.log(np.divide(errors[:-1], errors[1:])) / math.log(4)
    assert 2 * exponents[1] - exponents[0] == pytest.approx(0.5, abs=0.05)


def test_the_least_scv_is_near_enough_to_clockwork():
    for n in (1, 5, 100):
        for load in (0.7, 0.95, 1.05):
            for theta in (0.1, 2.0):
                lam = load * n
                # What a hundredth changes, by the change from a fiftieth.
                least, double = row(n, lam, 0.0, theta), row(n, lam, 0.02, theta)
                bound = arrival_error(n, 0.0, named(least, lam, n, float(n)))
                assert abs(least[WAITS] - double[WAITS]) <= bound["wait_probability"]
                assert abs(least[QUEUE] - double[QUEUE]) <= bound["mean_queue"]
                assert abs(least[LOST] - double[LOST]) <= bound["abandonment_probability"]
                assert abs(least[IN_TIME] - double[IN_TIME]) <= bound["service_level_offered"]
                assert abs(least[BUSY] - double[BUSY]) / n <= bound["occupancy"]


def test_agents_who_are_alike_leave_no_error():
    values = named(row(10, 9.0, 4.0, 0.5), 9.0, 10, 10.0)
    assert set(arrival_error(10, 4.0, values).values()) == {"exact"}
    assert set(arrival_error(10, 1.0, values, rate_cv=0.5).values()) == {"exact"}


def test_where_nobody_waits_the_chance_to_wait_is_nothing():
    law, rows = law_of(0.0, 0.0, 1e-6, 1, np.array([1.0]), np.ones(1))
    assert rows[0, WAITS] == 0.0
    assert law.log_survival(1.0) == -INF
    assert law.survival(INF) == 0.0


def test_a_queue_without_end_is_waited_for_ever():
    law, _ = law_of(4.0, 0.0, 12.0, 12, np.array([10.0, 14.0]), np.array([0.25, 0.75]))
    assert law.survival(INF) == pytest.approx(0.25)
