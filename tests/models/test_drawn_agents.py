"""Agents yet to be drawn: quadrature over capacity, the closure's bias and its rate, risk over rosters."""

import csv
import math
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from staffing.models.drawn_agents import DrawnAgents
from staffing.models.erlang import erlang_a
from staffing.models.performance import MEASURES, Sums
from staffing.models.rate_laws import GammaRates
from staffing.models.shared_queue import Callers, averaged_measures, closure_rows, roster_row
from tests.models.plain_chain import Centre, closure_chain

TABLE = Path(__file__).resolve().parents[1] / "reference" / "random_rates.csv"
ROWS = list(csv.DictReader(TABLE.read_text("utf-8").splitlines()))
SHARES = [m for m in MEASURES if "prob" in m or "level" in m or m == "occupancy"]


def drawn(n, load, theta, cv, threshold=0.2, mean=1.0):
    return DrawnAgents(Callers(load * n * mean, theta * mean, threshold / mean), GammaRates(mean, cv))


# --- published and sampled figures ---


def share_failing(model, n, fails):
    shares, share_failing_any = model.shares_failing(n, {"test": fails})
    assert shares == {"test": share_failing_any}
    return share_failing_any


@pytest.mark.parametrize("row", ROWS, ids=lambda row: f"{row['agents']}-{row['load']}-{row['quantity']}")
def test_sampled_figures(row):
    """Within 4 standard errors (false alarm 6e-5 per row, had the rows been drawn anew) and the closure's own error."""
    n = int(row["agents"])
    model = drawn(
        n, float(row["load"]), float(row["abandonment_over_service"]), float(row["rate_cv"]), threshold=1 / 9
    )
    mean, error = float(row["mean"]), float(row["standard_error"])
    if row["quantity"].startswith("share_of_rosters"):
        share = share_failing(model, n, lambda values: 0.8 - values["service_level_offered"])
        assert share == pytest.approx(mean, abs=error)
        return
    performance = model.performance(n)
    bias = performance.method_error[row["quantity"]]
    assert performance.value(row["quantity"]) == pytest.approx(mean, abs=4 * error + bias)
    # The standard deviation over rosters, nearly all of it capacity's, from at least 120 of them: 4 x 6.5%.
    scores, weights = np.polynomial.hermite_e.hermegauss(60)
    values = model.at_scores(n, scores)[row["quantity"]]
    weights /= weights.sum()
    deviation = math.sqrt(weights @ values**2 - (weights @ values) ** 2)
    assert deviation == pytest.approx(float(row["sd_over_rosters"]), rel=0.26)


def test_every_row_of_the_table_is_read():
    assert len(ROWS) == 9


# --- one capacity ---


@pytest.mark.parametrize("c2", [0.0, 0.04, 1.0])
@pytest.mark.parametrize(
    ("n", "s", "lam", "theta"), [(1, 0.7, 1.0, 0.5), (12, 10.0, 9.0, 0.3), (60, 66.0, 60.0, 2.0)]
)
def test_a_row_is_a_birth_death_chain_with_the_closures_rates(n, s, lam, theta, c2):
    row = Sums(*closure_rows(Callers(lam, theta), n, np.array([s]), c2)[0, :-1])
    law = closure_chain(n, s, c2, lam, theta)
    x = np.arange(law.size)
    assert row.waits == pytest.approx(law[n:].sum(), rel=1e-12)
    assert row.queue == pytest.approx(law @ np.maximum(x - n, 0), rel=1e-12)
    assert row.busy == pytest.approx(law @ np.minimum(x, n), rel=1e-12)
    assert row.lost == pytest.approx(theta / lam * (law @ np.maximum(x - n, 0)), rel=1e-12)


# --- the average over capacity ---


def by_brute_quadrature(model, n, panels=1500):
    """Means over the gamma law of capacity with its density from scipy, in panels that know of no turn."""
    law = stats.gamma(n / model.law.cv**2, scale=model.law.mean * model.law.cv**2)
    ends = np.unique(np.concatenate([law.ppf(np.logspace(-16, -1, 40)), law.isf(np.logspace(-16, -1, 40))]))
    ends = np.interp(np.linspace(0, 1, panels + 1), np.linspace(0, 1, ends.size), ends)
    lam = model.callers.arrival_rate
    fine = np.linspace(-1, 1, 81)
    for kink in (lam, lam * math.exp(-model.callers.abandonment_rate * model.callers.threshold)):
        near = kink * (1 + np.sign(fine) * np.abs(fine) ** 4)
        ends = np.concatenate([ends, near[(near > ends.min()) & (near < ends.max())]])
    ends = np.unique(ends)
    nodes, weights = np.polynomial.legendre.leggauss(6)
    half = np.diff(ends)[:, np.newaxis] / 2
    capacities = ((ends[1:] + ends[:-1])[:, np.newaxis] / 2 + half * nodes).ravel()
    weights = (half * weights).ravel() * law.pdf(capacities)
    assert weights.sum() == pytest.approx(1, abs=1e-9)  # what the density is worth at large shapes
    weights /= weights.sum()
    rows = closure_rows(model.callers, n, capacities, model.law.cv**2)
    if model.callers.abandonment_rate == 0:
        rows[:, [1, 3]] = np.inf
    return averaged_measures(model.callers, n, rows, weights @ capacities, weights)


@pytest.mark.parametrize(
    ("n", "load", "theta", "cv", "threshold"),
    [
        (60, 1.0, 1.5, 0.2, 1 / 9),
        (60, 0.8, 0.5, 0.2, 0.0),
        (20, 1.1, 0.5, 0.3, 0.5),
        (5, 0.7, 5.0, 1.0, 0.1),
        (1, 0.5, 1.0, 0.6, 0.3),
        (400, 0.97, 0.3, 0.5, 0.02),
        (5000, 1.0, 0.5, 0.2, 0.01),
        (60, 1.0, math.inf, 0.3, 0.1),
        (60, 1.0, 1e-3, 0.2, 0.1),
        (60, 1.0, 1e-5, 0.2, 0.1),  # patience of 1e5 handle times: a kink at S = lam
        (60, 1.0, 1e-5, 0.2, 500.0),  # and another where the long queue's wait passes the threshold
        (60, 0.85, 1e-5, 0.2, 0.1),
        (300, 1.01, 1e-5, 0.5, 2.0),
        (60, 1.0, 0.0, 0.2, 0.1),
        (60, 0.9, 0.0, 0.2, 30.0),
        (12, 0.9, 0.0, 0.6, 0.0),
    ],
)
def test_the_quadrature_equals_brute_force(n, load, theta, cv, threshold):
    model = drawn(n, load, theta, cv, threshold)
    found, expected = model.values(n), by_brute_quadrature(model, n)
    for measure, value in expected.items():
        if math.isfinite(value):
            assert found[measure] == pytest.approx(value, rel=1e-8, abs=1e-9), measure
        else:
            assert found[measure] == value, measure


@pytest.mark.parametrize("theta", [0.5, 1e-5, 0.0])
def test_the_law_of_the_wait_is_the_mixture(theta):
    """P(W > t) = E P(V > t) e^(-theta t); virtual service levels come by another path."""
    for t in (0.0, 0.05, 0.5, 4.0):
        model = drawn(30, 0.95, theta, 0.3, threshold=t)
        performance = model.performance(30)
        late = (1 - performance.service_level.virtual) * math.exp(-theta * t)
        assert 1 - performance.wait_cdf(t) == pytest.approx(late, abs=1e-11)
        assert performance.wait_cdf(0) == pytest.approx(1 - performance.wait_probability, abs=1e-11)
    for p in (0.9, 0.97) if theta else (0.6, 0.65):
        assert performance.wait_cdf(performance.wait_quantile(p)) == pytest.approx(p, abs=1e-10)


def test_the_quantile_of_a_wait_that_may_never_end_is_infinite():
    model = drawn(30, 0.95, 0.0, 0.3)
    performance = model.performance(30)
    assert performance.wait_quantile(1 - 0.5 * model.unstable_share(30)) == math.inf
    assert performance.wait_quantile(1 - 1.5 * model.unstable_share(30)) < math.inf


# --- agents who do not differ ---


@pytest.mark.parametrize("theta", [0.0, 0.4, math.inf])
@pytest.mark.parametrize("n", [0, 1, 57, 63])
def test_without_spread_it_is_erlang_a(n, theta):
    performance = DrawnAgents(Callers(30.0, theta / 2, 0.1), GammaRates(0.5, 0.0)).performance(n)
    expected = erlang_a(30.0, 0.5, theta / 2, n, threshold=0.1)
    assert performance == expected  # the method's name and its exactness included
    assert performance.spread == {}
    assert performance.wait_cdf(0.3) == expected.wait_cdf(0.3)
    if 0 < theta < math.inf and n:
        chain = Centre(30.0, 0.5, theta / 2, n).measures(0.1)
        assert performance.values() == pytest.approx(chain, rel=1e-10)


@pytest.mark.parametrize("measure", ["wait_probability", "mean_wait", "service_level_offered", "occupancy"])
def test_vanishing_spread_tends_to_erlang_a_at_rate_two(measure):
    limit = erlang_a(18.0, 1.0, 0.5, 20, threshold=0.2).value(measure)
    gaps = [drawn(20, 0.9, 0.5, cv).values(20)[measure] - limit for cv in (0.04, 0.02, 0.01)]
    exponents = [math.log2(before / after) for before, after in pairwise(gaps)]
    assert exponents[-1] == pytest.approx(2, abs=0.01)
    tiny = drawn(20, 0.9, 0.5, 1e-7).values(20)[measure]
    assert tiny == pytest.approx(limit, rel=1e-11)


# --- risk over rosters ---


@pytest.mark.parametrize(
    ("n", "load", "theta", "cv"), [(60, 1.0, 1.5, 0.2), (8, 0.8, 0.4, 0.7), (300, 0.9, 0.1, 0.3)]
)
def test_spread_is_the_measures_at_quantiles_of_capacity(n, load, theta, cv):
    model = drawn(n, load, theta, cv)
    spread = model.performance(n).spread
    law = stats.gamma(n / cv**2, scale=cv**2)
    assert set(spread) == set(MEASURES)
    for measure in MEASURES:
        at = [
            averaged_measures(
                model.callers,
                n,
                closure_rows(model.callers, n, np.array([s]), cv**2),
                s,
                np.ones(1),
            )[measure]
            for s in law.ppf([0.05, 0.5, 0.95])
        ]
        points = (spread[measure].low, spread[measure].median, spread[measure].high)
        assert points == pytest.approx(sorted(at), rel=1e-9, abs=1e-14), measure
        assert points[0] <= points[1] <= points[2]


def test_spread_holds_the_sampled_quantiles_of_exact_rosters():
    """The share of 4000 rosters below each point: false alarm 5e-6 a point, with .002 for the closure's own error."""
    n, size = 20, 4000
    model = drawn(n, 0.95, 0.5, 0.3)
    spread = model.performance(n).spread["wait_probability"]
    rates = model.law.rosters(n, size, np.random.default_rng(11))
    sampled = np.array([roster_row(model.callers, roster)[0, 0] for roster in rates])
    for point, p in ((spread.low, 0.05), (spread.median, 0.5), (spread.high, 0.95)):
        error = math.sqrt(p * (1 - p) / size)
        assert np.mean(sampled <= point) == pytest.approx(p, abs=4.6 * error + 0.002)


@pytest.mark.parametrize("measure", ["service_level_offered", "abandonment_probability", "mean_wait"])
@pytest.mark.parametrize(("n", "theta", "cv"), [(60, 1.5, 0.2), (12, 0.2, 0.6), (61, 1e-2, 0.2)])
def test_the_share_that_misses_a_promise_by_inversion_on_a_grid(measure, n, theta, cv):
    model = drawn(n, 60 / 61, theta, cv)
    law = stats.gamma(n / cv**2, scale=cv**2)
    capacities = law.ppf(np.linspace(0.0005, 0.9995, 2001))
    rows = closure_rows(model.callers, n, capacities, cv**2)
    sums = Sums(*rows[:, :-1].T)
    values = {
        "service_level_offered": sums.answered_in_time,
        "abandonment_probability": sums.lost,
        "mean_wait": sums.queue / model.callers.arrival_rate,
    }[measure]
    sign = -1 if measure == "service_level_offered" else 1
    for level in np.quantile(values, [0.1, 0.5, 0.9]):
        share = share_failing(model, n, lambda v, level=level: sign * (v[measure] - level))
        misses = np.count_nonzero(sign * (values - level) > 0)
        assert share == pytest.approx(0.0005 + 0.999 * misses / 2001, abs=1.5 / 2001)


def test_shares_that_are_all_or_nothing():
    model = drawn(60, 0.9, 0.5, 0.2)
    assert share_failing(model, 60, lambda v: np.full_like(v["occupancy"], 1.0)) == 1
    assert share_failing(model, 60, lambda v: np.full_like(v["occupancy"], -1.0)) == 0
    assert share_failing(model, 60, lambda v: np.full_like(v["occupancy"], 0.0)) == 0
    alike = drawn(60, 0.9, 0.5, 0.0)
    level = alike.values(60)["service_level_offered"]
    assert share_failing(alike, 60, lambda v: level + 1e-9 - v["service_level_offered"]) == 1
    assert share_failing(alike, 60, lambda v: level - 1e-9 - v["service_level_offered"]) == 0


def test_shares_of_rosters_fall_with_agents():
    model = DrawnAgents(Callers(60.0, 1.5, 1 / 9), GammaRates(1.0, 0.2))
    shares = [share_failing(model, n, lambda v: 0.8 - v["service_level_offered"]) for n in range(50, 75)]
    assert shares == sorted(shares, reverse=True)
    assert shares[0] > 0.999
    assert shares[-1] < 1e-6


# --- callers who never give up ---


@pytest.mark.parametrize(("n", "load", "cv"), [(60, 0.9, 0.2), (60, 0.7, 0.2), (5, 0.5, 1.0), (60, 1.1, 0.2)])
def test_infinite_patience_and_random_rates(n, load, cv):
    """A roster below the load is always possible: means are infinite, the share of such rosters is capacity's."""
    model = drawn(n, load, 0.0, cv)
    law = stats.gamma(n / cv**2, scale=cv**2)
    assert model.unstable_share(n) == pytest.approx(law.cdf(load * n), rel=1e-10, abs=1e-300)
    performance = model.performance(n)
    for measure in ("mean_wait", "mean_wait_answered", "mean_queue"):
        assert performance.value(measure) == math.inf
    assert performance.abandonment_probability == 0
    for measure in SHARES:
        assert 0 <= performance.value(measure) <= 1 + 1e-12
    assert performance.throughput <= load * n * (1 + 1e-12)
    assert performance.capacity_utilisation < 1
    spread = performance.spread["mean_wait"]
    assert (spread.high == math.inf) == (model.unstable_share(n) > 0.05)
    assert (spread.low == math.inf) == (model.unstable_share(n) > 0.95)
    never = share_failing(model, n, lambda v: np.where(np.isinf(v["mean_wait"]), 1.0, -1.0))
    assert never == pytest.approx(model.unstable_share(n), abs=1e-6)


def test_the_mean_service_level_of_callers_who_never_give_up_by_direct_integration():
    """Given the capacity: the plain chain's chance to wait, and an exponential wait of rate S - lam."""
    n, lam, cv, t = 20, 17.0, 0.3, 0.25
    law = stats.gamma(n / cv**2, scale=cv**2)

    def level(s):
        chain = closure_chain(n, s, cv**2, lam, 0.0)
        full = chain[n]  # and the queue is geometric: the chance to wait is full / (1 - lam / S) over all
        waits = full / (1 - lam / s) / (1 - full + full / (1 - lam / s))
        return 1 - waits * math.exp(-(s - lam) * t)

    nodes, weights = np.polynomial.legendre.leggauss(40)
    expected = 0.0
    for low, high in pairwise([lam, lam + 0.5, lam + 2, lam + 5, lam + 10, lam + 20]):
        s = (low + high) / 2 + (high - low) / 2 * nodes
        expected += (high - low) / 2 * weights @ (law.pdf(s) * [level(each) for each in s])
    model = DrawnAgents(Callers(lam, 0.0, t), GammaRates(1.0, cv))
    values = model.values(n)
    assert values["service_level_offered"] == pytest.approx(expected, abs=1e-9)
    assert values["service_level_virtual"] == pytest.approx(expected, abs=1e-9)
    s = np.linspace(0, lam, 4001)
    served = lam - np.trapezoid(law.cdf(s), s)  # E min(lam, S): a roster below the load answers what it can
    assert values["throughput"] == pytest.approx(served, rel=1e-8)
    assert values["service_level_answered"] == pytest.approx(expected * lam / served, abs=1e-8)


def test_nobody_is_unstable_who_gives_up():
    assert drawn(10, 5.0, 1e-9, 0.5).unstable_share(10) == 0
    assert drawn(10, 1.2, 0.0, 0.0).unstable_share(10) == 1
    assert drawn(10, 0.8, 0.0, 0.0).unstable_share(10) == 0


# --- conventions and extremes ---


def test_no_calls():
    values = DrawnAgents(Callers(0.0, 0.5, 0.1), GammaRates(1.0, 0.3)).values(5)
    assert values == erlang_a(0.0, 1.0, 0.5, 5, threshold=0.1).values()


@pytest.mark.parametrize("cv", [1e-6, 0.01, 1.0, 3.0])
@pytest.mark.parametrize("n", [1, 3, 2000])
@pytest.mark.parametrize("load", [1e-3, 0.9, 1.1, 20.0])
def test_extremes_stay_in_range(n, load, cv):
    for theta in (1e-4, 1.0, math.inf):
        performance = drawn(n, load, theta, cv).performance(n)
        for measure in MEASURES:
            value = performance.value(measure)
            assert not math.isnan(value), measure
            assert value >= -1e-15, measure
            if measure in SHARES:
                assert value <= 1 + 1e-12, measure
            spread = performance.spread[measure]
            assert spread.low <= spread.median <= spread.high, measure
            error = performance.method_error[measure]
            assert error == "exact" or 0 <= error < math.inf


# --- what holds for every law of rates ---

CENTRES = st.fixed_dictionaries(
    {
        "n": st.integers(1, 300),
        "load": st.floats(0.05, 4),
        "theta": st.floats(-3, 2).map(lambda power: 10.0**power),
        "cv": st.floats(0.01, 1.2),
        "threshold": st.floats(0, 3),
    }
)


@given(CENTRES)
def test_shares_are_shares_and_flows_balance(centre):
    n, theta = centre["n"], centre["theta"]
    model = drawn(**centre)
    p = model.performance(n)
    lam = model.callers.arrival_rate
    for measure in SHARES:
        assert -1e-15 <= p.value(measure) <= 1 + 1e-12, measure
    assert p.mean_queue == pytest.approx(lam * p.mean_wait, rel=1e-13)
    assert theta * p.mean_queue == pytest.approx(lam * p.abandonment_probability, rel=1e-12)
    assert p.throughput == pytest.approx(lam * (1 - p.abandonment_probability), rel=1e-11)
    assert p.throughput == pytest.approx(n * p.capacity_utilisation, rel=1e-11)  # mean capacity is n
    assert p.occupancy >= p.capacity_utilisation - 1e-9
    assert p.service_level.offered <= p.service_level.answered + 1e-12
    assert p.service_level.offered <= p.service_level.virtual + 1e-12
    assert p.wait_cdf(0) == pytest.approx(1 - p.wait_probability, abs=1e-10)
    assert p.wait_cdf(centre["threshold"]) >= p.service_level.offered - 1e-12


def test_shares_are_shares_to_the_last_digit():
    values = drawn(n=55, load=3.0, theta=1.0, cv=0.5, threshold=0.0625).values(55)
    assert all(0 <= values[measure] <= 1 for measure in SHARES)


def test_agents_who_differ_beyond_all_reason():
    """CV 8: a roster without any capacity to speak of is likely."""
    values = drawn(n=3, load=0.9, theta=1e-4, cv=8.0).values(3)
    assert 0.9 < values["wait_probability"] <= 1 + 1e-12


@given(CENTRES, st.floats(-3, 3).map(lambda power: 10.0**power))
def test_time_may_be_told_in_any_unit(centre, unit):
    one, two = drawn(**centre).values(centre["n"]), drawn(**centre, mean=unit).values(centre["n"])
    for measure in MEASURES:
        factor = 1 / unit if "mean_wait" in measure else unit if measure == "throughput" else 1
        assert two[measure] == pytest.approx(one[measure] * factor, rel=1e-8, abs=1e-10 * factor), measure


@given(CENTRES)
def test_one_more_agent_never_hurts(centre):
    n = centre["n"]
    model = drawn(**centre)
    one, more = model.values(n), model.values(n + 1)
    for measure in ("wait_probability", "mean_wait", "mean_queue", "abandonment_probability"):
        assert more[measure] <= one[measure] * (1 + 1e-8) + 1e-10, measure
    for measure in ("service_level_offered", "service_level_virtual", "throughput"):
        assert more[measure] >= one[measure] * (1 - 1e-8) - 1e-10, measure


@given(CENTRES, st.floats(1.05, 2))
def test_more_spread_among_agents_loses_more_calls(centre, factor):
    """Capacity at risk and slow agents busy: both cost callers."""
    n = centre["n"]
    one = drawn(**centre).values(n)
    more = drawn(**centre | {"cv": centre["cv"] * factor}).values(n)
    assert more["abandonment_probability"] >= one["abandonment_probability"] * (1 - 1e-8) - 1e-10


@given(CENTRES)
def test_capacity_never_hurts_a_caller(centre):
    """What quantiles over rosters rest on: every measure is monotone in capacity, in its own direction."""
    n = centre["n"]
    points = drawn(**centre).at_scores(n, np.linspace(-5, 5, 21))
    for measure in MEASURES:
        steps = np.diff(points[measure])
        up = measure.startswith("service_level") or measure == "throughput"
        assert np.all(steps >= -1e-9 if up else steps <= 1e-9), measure
