"""Regimes: labels by realised safety, chances from the law of capacity."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from staffing.models.days import Days
from staffing.models.erlang import erlang_a
from staffing.models.errors import ScenarioError
from staffing.models.kinds_of_days import drawn_kinds
from staffing.models.rate_laws import GammaRates
from staffing.models.regime import classify, regime_probabilities, safety
from staffing.models.shared_queue import Callers
from staffing.models.uncertain_days import UncertainDays


def chances_of(lam, law, n, **options):
    return regime_probabilities(lam, law.mean, lambda capacity: law.capacity_cdf(n, capacity), **options)


def test_safety_is_capacity_beyond_the_load_in_roots_of_it():
    assert safety(100.0, 1.0, 110.0) == pytest.approx(1)
    assert safety(400.0, 4.0, 380.0) == pytest.approx(-0.5)
    assert safety(9.0, 1.0, 9.0) == 0


@given(st.floats(-5, 5), st.floats(0.1, 1e4), st.floats(0.01, 100), st.floats(0.01, 100))
def test_safety_has_no_unit(beta, load, mean, unit):
    capacity = load * mean + beta * math.sqrt(load) * mean
    one = safety(load * mean, mean, capacity)
    assert one == pytest.approx(beta, abs=1e-9)
    assert safety(load * mean * unit, mean * unit, capacity * unit) == pytest.approx(one, abs=1e-9)


@pytest.mark.parametrize(
    ("beta", "label"),
    [
        (-2.0001, "ED"),
        (-2.0, "QED"),
        (0.0, "QED"),
        (2.0, "QED"),
        (2.0001, "QD"),
        (math.inf, "QD"),
        (-9.0, "ED"),
    ],
)
def test_labels_and_their_bounds(beta, label):
    assert classify(beta) == label


def test_the_bounds_are_parameters():
    assert classify(1.5) == "QED"
    assert classify(1.5, upper=1.0) == "QD"
    assert classify(-1.5, upper=1.0) == "QED"
    assert classify(-0.1, lower=0.0, upper=0.0) == "ED"
    assert classify(0.0, lower=0.0, upper=0.0) == "QED"


def test_bounds_in_the_wrong_order_are_refused_by_both_names():
    words = r"lower: 2\.0 is above upper, -2\.0; .* give the lesser as lower"
    with pytest.raises(ScenarioError, match=words):
        classify(0.0, lower=2.0, upper=-2.0)
    with pytest.raises(ScenarioError, match=words):
        chances_of(60.0, GammaRates(1.0, 0.2), 60, lower=2.0, upper=-2.0)
    with pytest.raises(ScenarioError, match="upper: nan"):
        classify(0.0, upper=math.nan)


def test_bounds_need_not_lie_evenly():
    law, n, lam = GammaRates(1.0, 0.3), 62, 60.0
    chances = chances_of(lam, law, n, lower=-0.5, upper=0.25)
    capacity = stats.gamma(n / 0.09, scale=0.09)
    assert chances["ED"] == pytest.approx(capacity.cdf(lam - 0.5 * math.sqrt(lam)), abs=1e-10)
    assert chances["QD"] == pytest.approx(capacity.sf(lam + 0.25 * math.sqrt(lam)), abs=1e-10)


def test_over_days_they_are_shares_of_labels_among_draws():
    """4096 even points: each share within .004, a few times their discrepancy."""
    lam, law, days, n = 60.0, GammaRates(1.0, 0.2), Days(0.1, 0.1, 0.05), 66
    model = UncertainDays(Callers(lam, 0.5), law, days)
    chances = regime_probabilities(lam, 1.0, lambda s: model.capacity_cdf(n, s), lower=-1.0, upper=1.5)
    kinds = drawn_kinds(law, days, n, seed=0)
    labels = [classify(safety(lam, 1.0, s), lower=-1.0, upper=1.5) for s in kinds.capacities / kinds.calls]
    for label, chance in chances.items():
        assert 0.05 < chance < 0.9
        assert labels.count(label) / len(labels) == pytest.approx(chance, abs=0.004)


@pytest.mark.parametrize(
    ("n", "lam", "cv"), [(60, 60.0, 0.2), (70, 60.0, 0.5), (5, 9.0, 1.0), (2000, 1900.0, 0.3)]
)
@pytest.mark.parametrize("bound", [0.5, 2.0])
def test_chances_are_those_of_capacity(n, lam, cv, bound):
    chances = chances_of(lam, GammaRates(1.0, cv), n, lower=-bound, upper=bound)
    law = stats.gamma(n / cv**2, scale=cv**2)
    step = bound * math.sqrt(lam)
    assert chances["QD"] == pytest.approx(law.sf(lam + step), abs=1e-10)
    assert chances["ED"] == pytest.approx(law.cdf(lam - step), abs=1e-10)
    assert sum(chances.values()) == pytest.approx(1, rel=1e-15)
    assert list(chances) == ["QD", "QED", "ED"]
    assert all(0 <= chance <= 1 for chance in chances.values())


def test_chances_are_shares_of_labels_among_drawn_rosters():
    """20,000 rosters, 4.5 standard errors: false alarm 2e-5 in all."""
    n, lam, law = 30, 27.0, GammaRates(1.0, 0.6)
    capacity = law.rosters(n, 20_000, np.random.default_rng(6)).sum(axis=1)
    labels = [classify(safety(lam, 1.0, s), lower=-0.5, upper=0.5) for s in capacity]
    for label, chance in chances_of(lam, law, n, lower=-0.5, upper=0.5).items():
        assert chance > 0.02
        share = labels.count(label) / len(labels)
        assert share == pytest.approx(chance, abs=4.5 * math.sqrt(chance * (1 - chance) / len(labels)))


@pytest.mark.parametrize("n", [79, 80, 81, 100, 119, 120, 121])
def test_without_spread_the_chances_are_the_label(n):
    """100 erlangs: beta = -2 at 80 agents and 2 at 120, both balanced."""
    label = classify(safety(100.0, 1.0, float(n)))
    chances = chances_of(100.0, GammaRates(1.0, 0.0), n)
    assert chances == {"QD": 0.0, "QED": 0.0, "ED": 0.0} | {label: 1.0}


@given(st.floats(1, 1e4), st.floats(0.05, 1), st.integers(1, 3000))
def test_more_agents_make_it_more_quality_driven(lam, cv, n):
    law = GammaRates(1.0, cv)
    one, more = chances_of(lam, law, n), chances_of(lam, law, n + 1)
    assert more["QD"] >= one["QD"] - 1e-12
    assert more["ED"] <= one["ED"] + 1e-12


def test_what_the_labels_mean_to_callers():
    """Far above the load nobody waits, far below everybody does and the excess is lost, in between some wait."""
    for n, waits in ((1300, 0.0), (700, 1.0)):
        performance = erlang_a(1000.0, 1.0, 0.5, n)
        assert classify(safety(1000.0, 1.0, n)) == ("QD" if n > 1000 else "ED")
        assert performance.wait_probability == pytest.approx(waits, abs=1e-9)
        lost = max(1 - n / 1000, 0)
        assert performance.abandonment_probability == pytest.approx(lost, abs=1e-9)
    assert classify(safety(1000.0, 1.0, 1020.0)) == "QED"
    assert 0.1 < erlang_a(1000.0, 1.0, 0.5, 1020).wait_probability < 0.9


@pytest.mark.parametrize("bad", [0.0, -1.0, math.nan, math.inf])
def test_rates_that_make_no_sense_are_refused(bad):
    law = GammaRates(1.0, 0.3)
    for name, rates in (("arrival_rate", (bad, 1.0)), ("mean_rate", (100.0, bad))):
        with pytest.raises(ScenarioError, match=f"{name}: {bad!r}|{name}: nan"):
            safety(*rates, 1.0)
        with pytest.raises(ScenarioError, match=f"{name}: {bad!r}|{name}: nan"):
            regime_probabilities(*rates, lambda s: law.capacity_cdf(100, s))
    with pytest.raises(ScenarioError, match="capacity: nan"):
        safety(100.0, 1.0, math.nan)
    with pytest.raises(ScenarioError, match="beta: nan"):
        classify(math.nan)
