"""The queue under any law of patience: 40 digits, chains that know each caller, closed forms, a printed table."""

import math
from itertools import pairwise

import mpmath
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.integrate import quad
from scipy.optimize import least_squares

from staffing.models import _kernels
from staffing.models.erlang import erlang_a, erlang_g
from staffing.models.patience import (
    DeterministicPatience,
    ExponentialPatience,
    GammaPatience,
    HyperexponentialPatience,
    LognormalPatience,
    WeibullPatience,
)
from staffing.models.patience_curve import CurvePatience
from staffing.models.patient_queue import joined, log_reached, reach_without_excess
from staffing.models.performance import MEASURES, Sums
from tests.models import plain_patience

CURVE = [(0, 1), (0.1, 1), (0.3, 0.8), (1.5, 0.3), (1.6, 0.02)]
FAMILIES = (
    ExponentialPatience,
    DeterministicPatience,
    lambda mean: GammaPatience(mean, 0.3),
    lambda mean: GammaPatience(mean, 5.0),
    lambda mean: WeibullPatience(mean, 0.4),
    lambda mean: WeibullPatience(mean, 3.0),
    lambda mean: LognormalPatience(mean, 1.5),
    lambda mean: HyperexponentialPatience(mean, 6.0),
    lambda mean: CurvePatience([(t * mean / 0.9, share) for t, share in CURVE]),
)


def row(law, lam, s, total=3.0, threshold=0.1, agents=50, idle=2.0):
    """A row from any idle weights; no agents need have them."""
    weights = np.array([1.0, total, idle, s, agents, 0.0, 0.0, 0.0, 0.0, 0.0])
    return Sums(*joined(law, lam, threshold, weights)[:-1])


# --- 40 digits ---

PAIRS = {
    "deterministic": (DeterministicPatience(0.7), plain_patience.deterministic(0.7)),
    "exponential": (ExponentialPatience(0.7), plain_patience.exponential(0.7)),
    "lognormal": (LognormalPatience(0.7, 1.3), plain_patience.lognormal(0.7, 1.3)),
}


@pytest.mark.slow
@pytest.mark.parametrize("load", [0.9, 1.0, 1.1])
@pytest.mark.parametrize("lam", [60.0, 1e4])
@pytest.mark.parametrize("name", PAIRS)
def test_waits_and_losses_equal_forty_digits(name, lam, load):
    law, plain = PAIRS[name]
    waits, lost = plain_patience.waits_and_lost(plain, 0.7, lam, lam / load, 3.0)
    found = row(law, lam, lam / load)
    assert found.waits == pytest.approx(float(waits), rel=1e-12)
    assert found.lost == pytest.approx(float(lost), rel=1e-11, abs=1e-300)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("law", "plain"),
    [
        (GammaPatience(0.7, 0.05), plain_patience.gamma(0.7, 0.05)),
        (GammaPatience(0.7, 4.0), plain_patience.gamma(0.7, 4.0)),
        (WeibullPatience(0.7, 4.0), plain_patience.weibull(0.7, 4.0)),
        (LognormalPatience(0.7, 0.01), plain_patience.lognormal(0.7, 0.01)),
        (HyperexponentialPatience(0.7, 30.0), plain_patience.hyperexponential(0.7, 30.0)),
    ],
    ids=repr,
)
@pytest.mark.parametrize(("lam", "s"), [(0.2, 0.15), (300.0, 330.0)])
def test_other_laws_equal_forty_digits_in_small_and_large_centres(law, plain, lam, s):
    waits, lost = plain_patience.waits_and_lost(plain, 0.7, lam, s, 3.0)
    found = row(law, lam, s)
    assert found.waits == pytest.approx(float(waits), rel=1e-12)
    assert found.lost == pytest.approx(float(lost), rel=1e-11)


# --- chains that know each caller ---


@pytest.mark.parametrize(
    ("law", "arrive", "move"),
    [
        (GammaPatience(0.8, 0.5), {"a": 1.0}, {"a": ("b", 2.5), "b": ("", 2.5)}),
        (
            HyperexponentialPatience(0.8, 3.0),
            {"a": 0.5 + math.sqrt(0.125), "b": 0.5 - math.sqrt(0.125)},
            {"a": ("", (1 + math.sqrt(0.5)) / 0.8), "b": ("", (1 - math.sqrt(0.5)) / 0.8)},
        ),
    ],
    ids=["two phases", "two kinds"],
)
@pytest.mark.parametrize(("lam", "mu", "agents"), [(0.8, 1.0, 1), (1.5, 0.5, 2)])
def test_the_chain_of_every_callers_phase(law, arrive, move, lam, mu, agents):
    errors = []
    for most in (6, 9):
        waits, queue, lost = plain_patience.chain(lam, mu, agents, arrive, move, most)
        found = erlang_g(lam, mu, law, agents)
        errors.append(
            max(
                abs(found.wait_probability - waits),
                abs(found.mean_queue - queue),
                abs(found.abandonment_probability - lost),
            )
        )
    assert errors[1] < 2e-4  # what the chain leaves out, calls beyond `most`,
    assert errors[1] < 0.15 * errors[0]  # falls with it


# --- closed forms ---


@pytest.mark.parametrize("lam", [0.5, 1.0, 1.7])
def test_one_agent_and_patience_of_one_length(lam):
    """M/M/1+D: the integrals of exp((lam - 1) t) up to d and of what follows at rate 1 are elementary."""
    d, threshold = 0.9, 0.4
    grow = lam - 1

    def grown(t):
        return math.expm1(grow * t) / grow if grow else t

    after = math.exp(grow * d)
    norm = 1 / lam + grown(d) + after  # one idle agent has weight 1 / lam
    found = erlang_g(lam, 1.0, DeterministicPatience(d), 1, threshold=threshold)
    waited = d * after + (d * math.exp(grow * d) / grow - grown(d) / grow if grow else d * d / 2)
    assert found.wait_probability == pytest.approx(1 - 1 / lam / norm, rel=1e-13)
    assert found.abandonment_probability == pytest.approx(after / norm, rel=1e-13)
    assert found.mean_wait == pytest.approx(waited / norm, rel=1e-12)
    assert found.mean_wait_answered == pytest.approx((waited - d * after) / (norm - after), rel=1e-12)
    assert found.service_level.offered == pytest.approx((1 / lam + grown(threshold)) / norm, rel=1e-13)
    assert found.occupancy == pytest.approx(1 - 1 / lam / norm, rel=1e-13)
    for t in (0.2, 0.89, 0.91, 30.0):
        left = grown(d) - grown(t) + after if t < d else after * math.exp(-(t - d))
        log_virtual = math.log(left / norm)
        assert found.wait_law.log_offered(t) == pytest.approx(log_virtual, rel=1e-12)
        assert 1 - found.wait_cdf(t) == pytest.approx(left / norm if t < d else 0.0, abs=1e-14)


EXPONENTIAL = [
    (0.3, 0.2, 1),
    (0.9, 1.0, 1),
    (60.0, 60.0, 50),
    (60.0, 80.0, 70),
    (60.0, 30.0, 40),
    (1e4, 9.9e3, 9900),
]


@pytest.mark.parametrize(("lam", "s", "agents"), EXPONENTIAL)
@pytest.mark.parametrize("theta", [0.01, 0.7, 30.0])
def test_exponential_patience_by_the_integral_is_the_kernels_sum(lam, s, agents, theta):
    """A whole other route: sums over the number who wait."""
    idle = _kernels.closure_idle_sums(agents, s, 0.04, lam)
    by_sums, left = np.empty(10), np.empty(10)
    _kernels.join(lam, s, theta, 0.1, agents, *idle, by_sums)
    _kernels.join(lam, s, math.nan, 0.1, agents, *idle, left)
    np.testing.assert_array_equal(left[:5], [*idle, s, agents])
    found = joined(ExponentialPatience(1 / theta), lam, 0.1, left)
    np.testing.assert_allclose(found[4:6], by_sums[4:6], atol=2e-12)  # in time and late, by differences there
    np.testing.assert_allclose(np.delete(found, [4, 5]), np.delete(by_sums, [4, 5]), rtol=2e-11)


def test_weights_may_come_in_any_scale_and_shape():
    idle = np.zeros((2, 3, 10))
    idle[..., :5] = [1.0, 3.0, 2.0, 11.0, 12]
    idle[1, :, :3] *= 1e-200
    idle[:, 1, 3] = 7.0
    found = joined(LognormalPatience(1.0, 1.0), 10.0, 0.1, idle)
    assert found.shape == idle.shape
    np.testing.assert_allclose(found[0], found[1], rtol=1e-12)
    alone = joined(LognormalPatience(1.0, 1.0), 10.0, 0.1, idle[1, 1])
    np.testing.assert_allclose(found[1, 1], alone, rtol=1e-13)


@pytest.mark.parametrize("many", [1, 3])
def test_many_capacities_at_once_are_each_their_own(many):
    law, s = WeibullPatience(0.5, 2.0), np.geomspace(1.0, 400.0, 100 * many)
    idle = np.zeros((s.size, 10))
    idle[:, 0], idle[:, 1], idle[:, 2], idle[:, 3], idle[:, 4] = 1.0, 3.0, 2.0, s, 20
    found = joined(law, 100.0, 0.1, idle)
    for k in range(0, s.size, 37):
        np.testing.assert_allclose(found[k], joined(law, 100.0, 0.1, idle[k]), rtol=1e-12)


# --- the printed table ---

TABLE = {  # P(wait), P(abandon), E[wait], answered within .05 and .2; a roster of capacity s, calls at 1.02 s
    10: {
        ExponentialPatience(2.0): (0.67029, 0.11026, 0.22051, 0.38476, 0.53826),
        DeterministicPatience(0.3): (0.57756, 0.13575, 0.10774, 0.49402, 0.71366),
        HyperexponentialPatience(1.0, 4.0): (0.53842, 0.14651, 0.09408, 0.53620, 0.70803),
    },
    50: {ExponentialPatience(2.0): (0.68941, 0.05818, 0.11636, 0.42460, 0.71883)},
}


@pytest.mark.parametrize("agents", TABLE)
def test_printed_figures_of_rosters_known_by_two_numbers(agents):
    """The rosters are not printed, but patience sees only capacity and idle weight: fitted, all 20 agree."""
    rows = TABLE[agents]

    def misses(x):
        s, total = np.exp(x)
        found = []
        for law in rows:
            one, two = (row(law, 1.02 * s, s, total, threshold) for threshold in (0.05, 0.2))
            found += [one.waits, one.lost, one.queue / (1.02 * s), one.answered_in_time, two.answered_in_time]
        return np.array(found) - np.concatenate(list(rows.values()))

    fit = least_squares(misses, [math.log(agents), 1.0], xtol=1e-14, ftol=1e-14, gtol=1e-14)
    assert np.abs(fit.fun).max() < 5.1e-6


# --- tails ---


@pytest.mark.parametrize("law", [*(family(0.9) for family in FAMILIES)], ids=repr)
@pytest.mark.parametrize("load", [0.8, 1.0, 1.3])
def test_log_tails_fall_as_they_must_down_to_nothing(law, load):
    """Against quadrature of what is left from t on."""
    lam, s = 30.0 * load, 30.0
    found = [float(log_reached(law, lam, np.array([s]), t)[0]) for t in np.linspace(0, 60, 241)]
    assert (np.diff(found) < 0).all()
    assert found[-1] < -300 * math.log(10)
    for t in (0.0, 0.3, 2.0, 20.0):

        def v(x, t=t):
            return math.exp(lam * (law.at(np.array([t + x]))[2][0] - law.at(np.array([t]))[2][0]) - s * x)

        ends = np.unique([0, *np.geomspace(1e-4, 60, 60), *(law.bends[law.bends > t] - t)])
        area = sum(quad(v, low, high, epsabs=0, epsrel=1e-11)[0] for low, high in pairwise(ends[ends <= 60]))
        peak = law.time_at(np.array([min(1 / load, 1.0)])) if load > 1 else np.zeros(1)
        fallen = lam * (law.at(np.array([t]))[2][0] - law.at(peak)[2][0]) - s * (t - peak[0])
        assert float(log_reached(law, lam, np.array([s]), t)[0]) == pytest.approx(
            fallen + math.log(s * area), abs=1e-9
        )


@pytest.mark.parametrize("theta", [0.0, 0.4, math.inf])
def test_log_tails_of_exponential_patience_are_those_of_the_chances(theta):
    found = erlang_a(45.0, 1.0, theta, 50, threshold=0.1)
    for t in (0.0, 0.05, 0.5, 2.0):
        survival = found.wait_law.survival(t)
        expected = math.log(survival) if survival > 0 else -math.inf
        assert found.log_wait_survival(t) == pytest.approx(expected, abs=1e-11)
    virtual = 1 - found.service_level.virtual
    assert found.wait_law.log_offered(0.1) == pytest.approx(math.log(virtual), abs=1e-9)
    assert found.log_wait_survival(-1.0) == 0.0
    assert found.log_wait_survival(math.inf) == -math.inf


def test_a_tail_below_all_numbers_has_a_log_in_forty_digits():
    """log P(V > t) where P(V > t) is down to 1e-300, under lognormal patience; and W, who must have waited, too."""
    law, plain = LognormalPatience(0.7, 1.3), plain_patience.lognormal(0.7, 1.3)
    lam = s = 60.0
    found = erlang_g(lam, 1.0, law, 60)
    with mpmath.workdps(40):
        for t in (0.3, 3.0, 12.3):
            ends = [t + j / s * 2.0 for j in range(60)]
            nodes = mpmath.calculus.quadrature.GaussLegendre(mpmath.mp).get_nodes(-1, 1, 4, mpmath.mp.prec)
            area = sum(
                weight / s * mpmath.exp(lam * plain.waited(x) - s * x)
                for low in ends
                for node, weight in nodes
                for x in [low + (1 + node) / s]
            )
            exact = float(mpmath.log(s * area)) + float(
                found.wait_law.log_most[0]
            )  # v(0) = 1 is the greatest
            assert found.wait_law.log_offered(t) == pytest.approx(exact, abs=1e-9)
            stays = float(mpmath.log(plain.survival(mpmath.mpf(t))))
            assert found.log_wait_survival(t) == pytest.approx(exact + stays, abs=1e-9)
    assert exact < -290 * math.log(10)


# --- properties ---

ratios = st.floats(0.05, 3.0)
loads = st.floats(0.05, 500.0)
families = st.sampled_from(FAMILIES)


@given(families, loads, ratios, st.floats(0.01, 100.0))
def test_what_is_lost_agrees_with_the_flow_through_the_queue(family, lam, ratio, mean):
    """P(abandon) = (a_0 + (lam - S) int v) S / lam, from integrating v'; where that does not cancel."""
    s = lam * ratio
    found = row(family(mean), lam, s, total=3.0)
    # In units of norm: S int v = waits, and a_0 = (1 - waits) / 3.
    flow = ((1 - found.waits) / 3.0 * s + (lam - s) * found.waits) / lam
    size = (1 - found.waits) / 3.0 * ratio + abs(1 - ratio) * found.waits
    assert found.lost == pytest.approx(flow, rel=1e-9, abs=1e-12 * max(size, 1e-3))


@given(families, loads, ratios, st.floats(0.01, 100.0), st.floats(0.0, 5.0))
def test_measures_lie_where_they_must(family, lam, ratio, mean, threshold):
    law = family(mean)
    found = row(law, lam, lam * ratio, threshold=threshold * mean)
    assert 0 <= found.lost <= found.waits * (1 + 1e-12) <= 1 + 2e-12
    assert found.lost + found.answered == pytest.approx(1, abs=1e-12)
    assert 0 <= found.answered_in_time <= found.answered <= 1
    assert 1 - found.waits - 1e-12 <= found.answered_in_time
    assert found.answered_wait <= found.queue / lam * (1 + 1e-9)
    assert found.queue / lam <= law.mean * (1 + 1e-9)


@given(families, loads, ratios, st.floats(0.01, 100.0), st.floats(1e-6, 1e6))
def test_the_unit_of_time_does_not_matter(family, lam, ratio, mean, unit):
    one = row(family(mean), lam, lam * ratio, threshold=0.2 * mean)
    other = row(family(mean * unit), lam / unit, lam * ratio / unit, threshold=0.2 * mean * unit)
    assert other._replace(answered_wait=other.answered_wait / unit) == pytest.approx(one, rel=1e-9, abs=1e-13)


@given(families, loads, ratios, st.floats(0.01, 100.0), st.floats(1.01, 5.0), st.integers(1, 30))
def test_more_patience_loses_fewer_calls_and_makes_more_of_them_wait(family, lam, ratio, mean, more, agents):
    one, other = (erlang_g(lam, lam * ratio / agents, family(m), agents) for m in (mean, mean * more))
    assert other.abandonment_probability <= one.abandonment_probability * (1 + 1e-10)
    assert other.wait_probability >= one.wait_probability * (1 - 1e-12)
    assert other.mean_wait >= one.mean_wait * (1 - 1e-12)


@given(families, loads, ratios, st.floats(0.01, 100.0), st.integers(1, 30))
def test_another_agent_loses_fewer_calls_and_makes_fewer_of_them_wait(family, lam, ratio, mean, agents):
    one, other = (
        erlang_g(lam, lam * ratio / agents, family(mean), n, threshold=0.1) for n in (agents, agents + 1)
    )
    for measure in ("abandonment_probability", "wait_probability", "mean_wait"):
        assert other.value(measure) <= one.value(measure) * (1 + 1e-10)
    assert other.service_level.offered >= one.service_level.offered - 1e-12


@given(families, loads, ratios, st.floats(0.01, 100.0), st.floats(0.0, 2.0), st.integers(1, 30))
def test_service_levels_are_in_their_order(family, lam, ratio, mean, threshold, agents):
    """Offered is at most answered, which divides by fewer, and at most virtual, which asks for no patience."""
    level = erlang_g(
        lam, lam * ratio / agents, family(mean), agents, threshold=threshold * mean
    ).service_level
    assert level.offered <= level.answered + 1e-12
    assert level.offered <= level.virtual + 1e-12


# --- limits ---


@pytest.mark.parametrize("law", [GammaPatience(0.7, 1.0), WeibullPatience(0.7, 1.0)], ids=repr)
def test_a_squared_cv_of_one_is_erlang_a(law):
    found, expected = (
        erlang_g(60.0, 1.0, law, 58, threshold=0.1),
        erlang_a(60.0, 1.0, 1 / 0.7, 58, threshold=0.1),
    )
    assert found.values() == pytest.approx(expected.values(), rel=1e-11)
    assert found.wait_quantile(0.9) == pytest.approx(expected.wait_quantile(0.9), rel=1e-10)
    assert found.method == "M/M/n+G"


def test_patience_of_many_phases_tends_to_one_length_at_rate_one():
    limit = row(DeterministicPatience(0.5), 20.0, 19.0, threshold=0.1)
    gaps = [
        row(GammaPatience(0.5, scv), 20.0, 19.0, threshold=0.1).lost - limit.lost
        for scv in (1e-3, 1e-4, 1e-5)
    ]
    rates = [math.log10(before / after) for before, after in pairwise(gaps)]
    assert rates[-1] == pytest.approx(1.0, abs=0.02)


def test_long_patience_tends_to_erlang_c_at_rate_one_where_some_give_up_at_once():
    limit = erlang_a(8.0, 1.0, 0.0, 10).mean_queue
    gaps = [
        limit - erlang_g(8.0, 1.0, HyperexponentialPatience(m, 4.0), 10).mean_queue for m in (1e3, 1e4, 1e5)
    ]
    rates = [math.log10(before / after) for before, after in pairwise(gaps)]
    assert rates[-1] == pytest.approx(1.0, abs=0.01)


def test_tiny_losses_keep_their_digits():
    """10,000 erlangs at 90%, lognormal patience of 5 handle times: where 1 + (lam - S) J is noise."""
    law = LognormalPatience(5.0, 1.3)
    lam, s = 1e4, 1e4 / 0.9
    found = row(law, lam, s, threshold=0.0)
    norm = (
        3.0
        + s
        * quad(lambda t: math.exp(lam * law.at(np.array([t]))[2][0] - s * t), 0, 0.1, points=[1e-3, 1e-2])[0]
    )
    ends = np.geomspace(1e-6, 1.0, 60)
    lost = sum(
        quad(
            lambda t: math.exp(lam * law.at(np.array([t]))[2][0] - s * t) * law.at(np.array([t]))[1][0],
            low,
            high,
            epsabs=0,
            epsrel=1e-10,
        )[0]
        for low, high in pairwise(ends)
    )
    assert 0 < found.lost < 1e-12
    assert found.lost == pytest.approx(s * lost / norm, rel=1e-7)


@pytest.mark.parametrize("law", [family(0.6) for family in FAMILIES], ids=repr)
def test_without_agents_everybody_waits_out_the_patience(law):
    found = erlang_g(7.0, 1.0, law, 0, threshold=0.3)
    assert found.wait_probability == found.abandonment_probability == found.occupancy == 1
    assert found.mean_queue == pytest.approx(7 * law.mean)
    assert (found.service_level.offered, found.throughput) == (0, 0)
    assert found.wait_law.log_offered(0.2) == pytest.approx(0, abs=1e-12)
    for t in (0.2, 0.5):
        assert 1 - found.wait_cdf(t) == pytest.approx(law.survival(t), abs=1e-12)
    slow = erlang_g(7.0, 1e-9, law, 1, threshold=0.3)
    for measure in set(MEASURES) - {
        "mean_wait_answered",
        "service_level_answered",
    }:  # of those few who are answered
        assert slow.value(measure) == pytest.approx(found.value(measure), abs=1e-7)


def test_without_calls_nobody_waits():
    found = erlang_g(0.0, 1.0, LognormalPatience(1.0, 1.0), 3, threshold=0.3)
    assert found.values() == erlang_a(0.0, 1.0, 1.0, 3, threshold=0.3).values()
    assert found.wait_law.log_offered(0.0) == found.log_wait_survival(0.0) == -math.inf


def test_the_reach_of_a_queue_at_its_load():
    assert reach_without_excess(DeterministicPatience(2.0), 50.0) == pytest.approx(2.02, rel=1e-6)
    assert reach_without_excess(ExponentialPatience(2.0), 1e6) == pytest.approx(math.sqrt(4 / 1e6), rel=1e-3)


@pytest.mark.parametrize("scv", [1e-6, 0.02, 0.5, 4.0, 1e4])
@pytest.mark.parametrize("law", [GammaPatience, WeibullPatience, LognormalPatience])
@pytest.mark.parametrize("lam", [1e-3, 5.0, 1e4, 1e6])
def test_more_and_other_panels_change_nothing(law, scv, lam):
    """From one call in a thousand patiences to a million in one, and capacities from next to none to far too many."""
    s = lam * np.array([1e-6, 0.1, 0.9, 0.999, 1.0, 1.01, 1.5, 100.0])
    idle = np.zeros((s.size, 10))
    idle[:, 0], idle[:, 1], idle[:, 2], idle[:, 3], idle[:, 4] = 1.0, 1.0, 0.5, s, 5

    class Finer(law):
        bends = np.unique(np.concatenate([law(1.0, scv).bends, np.geomspace(1e-9, 1e5, 131)]))

    found, finer = (joined(family(1.0, scv), lam, 0.3, idle) for family in (law, Finer))
    assert np.isfinite(found).all()
    np.testing.assert_allclose(found, finer, rtol=1e-10, atol=1e-280)


def test_every_measure_has_a_name():
    assert set(erlang_g(5.0, 1.0, CurvePatience(CURVE), 5).values()) == set(MEASURES)
