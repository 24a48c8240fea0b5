"""The diffusion with the chain's own drift and variance: its law, and its errors against exact rosters."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats
from scipy.integrate import quad

from staffing.models.diffusion.death_rates import (
    closure_death_rates,
    linear_death_rates,
    roster_death_rates,
)
from staffing.models.diffusion.universal import UniversalDiffusion
from staffing.models.diffusion.universal_roster import roster_universal
from staffing.models.erlang import erlang_a
from staffing.models.errors import ScenarioError
from staffing.models.idle_sets import exact_roster_performance
from staffing.models.performance import MEASURES
from staffing.models.rate_laws import GammaRates
from staffing.models.roster import roster_performance
from staffing.models.routing import WeightedRandom
from staffing.models.shared_queue import Callers, measures_by_roster, roster_levels


def identical(n, lam, theta, **options):
    return UniversalDiffusion(lam, closure_death_rates(n, float(n), 0.0), theta, **options)


@pytest.mark.parametrize("scv", [0.3, 1.0, 3.0])
def test_with_as_many_agents_as_calls_it_is_a_gamma_law(scv):
    # d(x) = x from 0 on: a(X) = lam ca^2 + X is gamma of shape 2 lam (1 + ca^2) and rate 2, cut off at 0
    lam = 40.0
    law = identical(45, lam, 1.0, arrival_scv=scv, lowest=0.0)
    same = stats.gamma(2 * lam * (1 + scv), scale=0.5)
    cut = same.sf(lam * scv)
    for x in (3.0, 30.5, 44.7, 45.0, 51.2, 80.0):
        assert law.survival(x) == pytest.approx(same.sf(lam * scv + x) / cut, rel=1e-10)
        assert law.log_density(x) == pytest.approx(same.logpdf(lam * scv + x) - math.log(cut), abs=1e-10)
        assert law.quantile(law.cdf(x)) == pytest.approx(x, abs=1e-5)
    if scv == 1:
        assert law.mean == pytest.approx(lam, rel=1e-9)
        assert law.stationary_variance == pytest.approx(lam, rel=1e-9)


@pytest.mark.parametrize(
    ("lam", "theta", "scv", "lowest"),
    [
        (7.0, 0.5, 1.0, -0.5),
        (7.0, 0.0, 2.0, -0.5),
        (14.0, 3.0, 0.5, -3.0),
        (2.0, 0.01, 1.0, 1.5),
        (30.0, 0.1, 1.0, 0.0),
    ],
)
def test_the_density_is_the_one_of_its_drift_and_variance(lam, theta, scv, lowest):
    deaths = roster_death_rates(np.array([0.5, 1.5, 0.8, 2.0, 1.1, 0.4, 1.9, 0.7]), lam, "longest-idle")
    law = UniversalDiffusion(lam, deaths, theta, arrival_scv=scv, lowest=lowest)
    assert law.agents == 8
    x, w = law.nodes
    assert w.sum() == pytest.approx(1, abs=1e-10)
    # (a f)' = 2 b f, wherever one looks
    for at in (lowest + 0.3, 2.4, 5.55, 7.5, 9.3, 14.0):
        rise = math.log(law.variance(at + 0.2)) + law.log_density(at + 0.2)
        rise -= math.log(law.variance(at - 0.2)) + law.log_density(at - 0.2)
        slope = quad(lambda y: 2 * law.drift(y) / law.variance(y), at - 0.2, at + 0.2, epsabs=1e-13)[0]
        assert rise == pytest.approx(slope, abs=1e-10)
        assert law.cdf(at) + law.survival(at) == pytest.approx(1, abs=1e-12)
    np.testing.assert_allclose(law.death_rate(np.arange(1, 9)), deaths[::-1], rtol=1e-13)
    # stationary: the drift is balanced by the reflection alone, a f / 2 there
    push = law.variance(lowest) * law.density(lowest) / 2
    assert w @ law.drift(x) == pytest.approx(-push, abs=1e-10)
    assert law.log_density(lowest - 1e-9) == -math.inf


@pytest.mark.parametrize(
    ("n", "load", "plain", "queue", "corrected"),
    [
        (20, 0.9, 0.0349, 0.017, 0.0031),
        (20, 1.0, 0.0339, 0.015, 0.0025),
        (100, 0.9, 0.0109, 0.013, 0.0018),
        (100, 1.0, 0.0151, 0.014, 0.0011),
        (100, 1.1, 0.0055, 0.004, 0.0001),
        (500, 0.9, 0.0006, 0.003, 0.0004),
        (500, 1.0, 0.0064, 0.012, 0.0005),
    ],
)
def test_mean_errors_over_rosters_are_those_of_the_theory(n, load, plain, queue, corrected):
    # with the death rates S - g i, as the theory has them
    size, lam, theta = 60 if n < 500 else 25, load * n, 0.5
    rates = GammaRates(1.0, 0.3).rosters(n, size, np.random.default_rng(7))
    callers = Callers(lam, theta)
    rows = roster_levels(callers, np.ascontiguousarray(rates.T), range(n, n + 1))[0]
    exact = measures_by_roster(callers, n, rows, rates.sum(axis=1))
    errors = []
    for k, mu in enumerate(rates):
        s = mu.sum()
        law = UniversalDiffusion(lam, linear_death_rates(n, s, mu @ mu / s), theta)
        errors.append(
            [
                law.wait_probability(continuity=False) - exact["wait_probability"][k],
                law.mean_queue(continuity=False) - exact["mean_queue"][k],
                law.wait_probability() - exact["wait_probability"][k],
            ]
        )
    found = np.abs(errors)
    se = found.std(axis=0) * (size**-0.5 + 30**-0.5)  # 30 to 200 draws stand behind each figure printed
    np.testing.assert_array_less(
        np.abs(found.mean(axis=0) - [plain, queue, corrected]), 4 * se + [5e-5, 5e-4, 5e-5]
    )


@pytest.mark.parametrize("load", [0.9, 1.0])
def test_with_exact_death_rates_the_corrected_error_is_a_hundredth(load):
    rates = GammaRates(1.0, 0.3).rosters(100, 1, np.random.default_rng(3))[0]
    exact = roster_performance(rates, load * 100, 0.5, threshold=0.05)
    found = roster_universal(rates, load * 100, 0.5, threshold=0.05)
    plain = roster_universal(rates, load * 100, 0.5, threshold=0.05, continuity=False)
    assert abs(found.wait_probability - exact.wait_probability) < 2e-4
    assert abs(plain.wait_probability - exact.wait_probability) > 50 * abs(
        found.wait_probability - exact.wait_probability
    )
    assert found.mean_queue == pytest.approx(exact.mean_queue, rel=5e-3)
    assert found.occupancy == pytest.approx(exact.occupancy, abs=1e-3)
    assert found.service_level.offered == pytest.approx(exact.service_level.offered, abs=5e-4)
    assert found.method == "universal diffusion"


def test_the_correction_raises_the_rate_of_convergence_from_a_half():
    errors = []
    for n in (100, 400, 1600, 6400):
        lam = n - 0.5 * math.sqrt(n)
        exact, law = erlang_a(lam, 1.0, 0.5, n).wait_probability, identical(n, lam, 0.5)
        errors.append(
            [law.wait_probability(continuity=False) - exact, law.wait_probability(continuity=True) - exact]
        )
    rates = np.log2(np.abs(errors)[:-1] / np.abs(errors)[1:]) / 2
    assert rates[-1, 0] == pytest.approx(0.5, abs=0.01)
    assert np.all(rates[:, 1] > 0.95)


def test_it_is_as_good_off_balance_where_the_plain_diffusion_is_not():
    exact = erlang_a(70.0, 1.0, 0.5, 100)
    law = identical(100, 70.0, 0.5)
    assert law.wait_probability() == pytest.approx(exact.wait_probability, rel=0.1)
    over = identical(100, 160.0, 0.5)
    assert over.mean_queue() == pytest.approx(erlang_a(160.0, 1.0, 0.5, 100).mean_queue, rel=1e-6)


@settings(max_examples=40)
@given(
    st.lists(st.floats(0.3, 3), min_size=1, max_size=12),
    st.floats(0.3, 1.6),
    st.floats(0.05, 5),
    st.sampled_from(
        ["longest-idle", "least-occupied", "fastest-first", "slowest-first", WeightedRandom(0.5)]
    ),
)
def test_every_rule_gives_measures_within_their_ranges(rates, load, theta, rule):
    found = roster_universal(rates, load * sum(rates), theta, routing=rule, threshold=0.1).values()
    for measure in MEASURES:
        assert 0 <= found[measure] < math.inf
        if "prob" in measure or "level" in measure or measure in ("occupancy", "capacity_utilisation"):
            assert found[measure] <= 1


def test_death_rates_of_every_rule_are_those_of_the_chain_of_idle_sets():
    rates = np.array([0.5, 1.5, 0.8, 2.0, 1.1])
    lam = 5.0
    assert roster_death_rates(rates, lam, "random")[1] == pytest.approx(
        rates.sum() - rates @ rates / rates.sum()
    )
    for rule, bound in {"longest-idle": 1e-7, "fastest-first": 0.02, "slowest-first": 0.02}.items():
        weights = np.cumprod(roster_death_rates(rates, lam, rule) / lam)
        exact = exact_roster_performance(rates, lam, 1e9, routing=rule)  # nobody waits: blocked with all busy
        assert 1 / (1 + weights.sum()) == pytest.approx(exact.wait_probability, rel=bound)
    np.testing.assert_allclose(
        roster_death_rates(rates, lam, "least-occupied"), closure_death_rates(5, rates.sum(), 0.0)
    )
    np.testing.assert_allclose(
        roster_death_rates(rates, lam, WeightedRandom(1.0)), linear_death_rates(5, rates.sum(), rates.mean())
    )


@pytest.mark.parametrize(
    ("arguments", "options", "words"),
    [
        ((1.0, [], 0.5), {}, "at least one agent"),
        ((1.0, [1.0, -1.0], 0.5), {}, "at least 0 and finite"),
        ((1.0, [[1.0]], 0.5), {}, "death_rates"),
        ((0.0, [1.0], 0.5), {}, "arrival_rate"),
        ((2.0, [2.0, 1.0], 0.0), {}, "no stationary law"),
        ((1.0, [1.0], math.inf), {}, "theta"),
        ((1.0, [1.0], 1.0), {"arrival_scv": 0.0}, "arrival_scv"),
        ((1.0, [1.0], 1.0), {"lowest": 1.0}, "lowest"),
    ],
)
def test_bad_input_is_refused(arguments, options, words):
    with pytest.raises(ScenarioError, match=words):
        UniversalDiffusion(*arguments, **options)


def test_no_agents_and_no_chance_are_refused():
    with pytest.raises(ScenarioError, match="at least one agent"):
        roster_universal([], 1.0, 1.0)
    with pytest.raises(ScenarioError, match="p: 1"):
        identical(3, 2.0, 1.0).quantile(1.0)
