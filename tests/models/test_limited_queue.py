"""A limit on calls at a time: chains of all states, every law of patience, any agents, and what a limit must do."""

import math

import mpmath
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.special import betainc, gammaincc

from staffing.models import _kernels
from staffing.models.days import Days
from staffing.models.drawn_agents import DrawnAgents
from staffing.models.erlang import erlang_a, erlang_b, erlang_g
from staffing.models.errors import ScenarioError
from staffing.models.given_agents import GivenAgents
from staffing.models.patience import (
    DeterministicPatience,
    ExponentialPatience,
    GammaPatience,
    HyperexponentialPatience,
    LognormalPatience,
)
from staffing.models.patient_queue import joined
from staffing.models.performance import MEASURES
from staffing.models.rate_laws import GammaRates
from staffing.models.roster import roster_performance
from staffing.models.sampled_agents import SampledAgents
from staffing.models.shared_queue import Callers, closure_rows
from staffing.models.uncertain_days import UncertainDays
from staffing.models.waiting_places import log_fits, share_blocked
from tests.models import plain_patience
from tests.models.plain_chain import Roster

# --- agents alike, state by state ---


def states(lam, mu, theta, n, most, threshold):
    """Every measure of M/M/n/N+M: the weight of each number of calls, and the steps of a call with k ahead."""
    x = np.arange(most + 1)
    steps = [math.log(lam / (min(k, n) * mu + max(k - n, 0) * theta)) for k in x[1:]]
    logs = np.concatenate([[0.0], np.cumsum(steps)])
    law = np.exp(logs - logs.max())
    law /= law.sum()
    k, ahead, s = np.arange(most - n), law[n:most], n * mu
    pace = s + theta * (k + 1)
    if theta:
        y, a = math.exp(-theta * threshold), s / theta
        late, answered_late = betainc(a, k + 1.0, y), s / pace * betainc(a + 1, k + 1.0, y)
    else:
        late = answered_late = gammaincc(k + 1.0, s * threshold)
    queue = law[n:] @ np.arange(most - n + 1)
    busy = law @ np.minimum(x, n)
    answered = busy * mu / lam
    offered = law[:n].sum() + ahead @ (s / pace) - ahead @ answered_late
    return {
        "wait_probability": ahead.sum(),
        "mean_wait": queue / lam,
        "mean_wait_answered": (ahead * (s / pace)) @ np.cumsum(1 / pace) / answered,
        "mean_queue": queue,
        "abandonment_probability": theta * queue / lam,
        "blocking_probability": law[most],
        "service_level_offered": offered,
        "service_level_answered": offered / answered,
        "service_level_virtual": 1 - law[most] - ahead @ late,
        "occupancy": busy / n,
        "capacity_utilisation": busy / n,
        "throughput": lam * answered,
    }


CENTRES = [
    (10.0, 0.5, 10, 15),
    (10.0, 0.0, 10, 15),  # nobody gives up, and no more come than are served
    (20.0, 0.0, 10, 40),  # nor here, where twice as many come
    (0.1, 2.0, 3, 5),
    (10.0, 0.5, 1, 3),
    (10.0, 30.0, 8, 9),
    (100.0, 0.5, 90, 95),
    (100.0, 0.5, 90, 400),
    (1000.0, 0.01, 900, 2000),
    (300.0, 0.0, 300, 3000),  # the queue wanders over all its places
]


@pytest.mark.parametrize(("lam", "theta", "n", "most"), CENTRES)
def test_every_measure_is_that_of_the_chain(lam, theta, n, most):
    found = erlang_a(lam, 1.0, theta, n, threshold=0.2, max_calls=most).values()
    for measure, value in states(lam, 1.0, theta, n, most, 0.2).items():
        assert found[measure] == pytest.approx(value, rel=1e-10, abs=2e-13), measure


@pytest.mark.parametrize(("lam", "theta", "n", "most"), CENTRES)
def test_the_law_of_the_wait_is_that_of_the_chain(lam, theta, n, most):
    found = erlang_a(lam, 1.0, theta, n, max_calls=most)
    for t in (0.0, 0.05, 0.4, 3.0):
        virtual = states(lam, 1.0, theta, n, most, t)
        late = 1 - virtual["service_level_virtual"] - virtual["blocking_probability"]
        assert 1 - found.wait_cdf(t) == pytest.approx(late * math.exp(-theta * t), rel=1e-9, abs=1e-13)


def test_a_rare_blocking_keeps_its_digits():
    """M/M/n/N at load .8: with P the law of M/M/n, P(N) is that of n times .8^(N - n), given N at most."""
    full = erlang_a(8.0, 1.0, 0.0, 10)
    for most in (60, 600, 1500):
        found = erlang_a(8.0, 1.0, 0.0, 10, max_calls=most)
        beyond = full.wait_probability * 0.8 ** (most - 9)
        exact = full.wait_probability * 0.2 * 0.8 ** (most - 10) / (1 - beyond)
        assert found.blocking_probability == pytest.approx(exact, rel=1e-10)
    # Of all calls e^-120 wait so long, and so few places do not matter to them.
    assert found.log_wait_survival(60.0) == pytest.approx(full.log_wait_survival(60.0), abs=1e-9)


# --- every law of patience ---


@pytest.mark.parametrize(("lam", "theta", "n", "most"), [c for c in CENTRES if c[1] > 0])
def test_exponential_patience_by_the_integral_is_the_sum(lam, theta, n, most):
    idle = _kernels.closure_idle_sums(n, float(n), 0.3, lam)
    left = np.array([*idle, n, n, 0.0, 0.0, 0.0, 0.0, 0.0])
    by_integral = joined(ExponentialPatience(1 / theta), lam, 0.2, left, most)
    by_sums = closure_rows(Callers(lam, theta, 0.2, max_calls=most), n, np.array([float(n)]), 0.3)[0]
    np.testing.assert_allclose(by_integral[4:6], by_sums[4:6], rtol=1e-10, atol=2e-12)  # by differences
    np.testing.assert_allclose(
        by_integral[[*range(4), *range(6, 9)]], by_sums[[*range(4), *range(6, 9)]], rtol=1e-10
    )


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
@pytest.mark.parametrize("places", [0, 1, 4])
@pytest.mark.parametrize(("lam", "mu", "agents"), [(0.8, 1.0, 1), (3.0, 0.5, 2)])
def test_the_chain_of_every_callers_phase(law, arrive, move, places, lam, mu, agents):
    busy, queue, lost = plain_patience.chain(lam, mu, agents, arrive, move, places)
    found = erlang_g(lam, mu, law, agents, max_calls=agents + places)
    assert found.wait_probability + found.blocking_probability == pytest.approx(busy, rel=1e-11)
    assert found.mean_queue == pytest.approx(queue, rel=1e-11, abs=1e-15)
    assert found.abandonment_probability == pytest.approx(lost, rel=1e-11, abs=1e-15)
    answered = 1 - found.abandonment_probability - found.blocking_probability
    assert found.throughput == pytest.approx(lam * answered, rel=1e-11)


def test_patience_of_one_length_state_by_state():
    """lam^k int min(t, d)^k / k! s e^-st dt for each number k who wait, in 40 digits."""
    lam, d, n, places = 12.0, 0.3, 10, 6
    with mpmath.workdps(40):
        weights = [
            mpmath.quad(
                lambda t, k=k: (lam * min(t, d)) ** k / mpmath.factorial(k) * n * mpmath.exp(-n * t),
                [0, d, mpmath.inf],
            )
            for k in range(places + 1)
        ]
        idle = sum(mpmath.mpf(lam) ** (i - n) * mpmath.factorial(n) / mpmath.factorial(i) for i in range(n))
        norm = idle + sum(weights)
        queue = sum(k * w for k, w in enumerate(weights)) / norm
        blocked, waits = weights[-1] / norm, sum(weights[:-1]) / norm
    found = erlang_g(lam, 1.0, DeterministicPatience(d), n, max_calls=n + places)
    assert found.mean_queue == pytest.approx(float(queue), rel=1e-12)
    assert found.blocking_probability == pytest.approx(float(blocked), rel=1e-12)
    assert found.wait_probability == pytest.approx(float(waits), rel=1e-12)


# --- agents who differ ---

RATES = (0.5, 1.0, 1.7)


@pytest.mark.parametrize("theta", [0.0, 0.6])
@pytest.mark.parametrize("places", [0, 1, 5])
@pytest.mark.parametrize("routing", ["longest-idle", "random"])
def test_unlike_agents_are_the_chain_of_all_their_states(routing, places, theta):
    lam = 3.6
    chain = Roster(RATES, lam, theta, routing, longest=places)
    found = roster_performance(RATES, lam, theta, routing=routing, max_calls=3 + places)
    assert found.blocking_probability == pytest.approx(chain.ahead[-1], rel=1e-12)
    assert found.wait_probability == pytest.approx(chain.ahead[:-1].sum(), rel=1e-12, abs=1e-15)
    assert found.mean_queue == pytest.approx(chain.ahead @ np.arange(places + 1), rel=1e-12, abs=1e-15)
    assert found.throughput == pytest.approx(chain.served, rel=1e-12)
    assert found.occupancy == pytest.approx(chain.busy / 3, rel=1e-12)


@pytest.mark.parametrize("routing", ["fastest-first", "slowest-first"])
def test_the_error_of_a_priority_covers_blocking(routing):
    order = sorted(range(3), key=lambda k: -RATES[k] if routing == "fastest-first" else RATES[k])
    chain = Roster(RATES, 3.6, 0.6, order, longest=2)
    found = roster_performance(RATES, 3.6, 0.6, routing=routing, max_calls=5)
    for measure, exact in (
        ("blocking_probability", chain.ahead[-1]),
        ("wait_probability", chain.ahead[:-1].sum()),
        ("throughput", chain.served),
    ):
        off = abs(found.value(measure) - exact)
        assert 0 < off <= found.method_error[measure]


# --- averages ---


@pytest.mark.parametrize("patience", [None, LognormalPatience(0.5, 2.0)])
def test_rosters_and_their_closure_agree(patience):
    theta = math.nan if patience else 2.0
    callers = Callers(30.0, theta, 0.1, patience=patience, max_calls=34)
    closure = DrawnAgents(callers, GammaRates(1.0, 0.3)).performance(28)
    exact = SampledAgents(callers, GammaRates(1.0, 0.3), rosters=1000).performance(28)
    for measure in MEASURES:
        within = sum(e for p in (closure, exact) if isinstance(e := p.method_error[measure], float))
        assert closure.value(measure) == pytest.approx(exact.value(measure), abs=within), measure
        assert within < 0.05 * max(exact.value(measure), 0.2), measure


def test_a_limit_beside_absences_leaves_the_absent_agents_places():
    """With chance .2 each of two agents is absent; of four calls at a time, those not answered wait."""
    callers, law = Callers(3.0, 0.5, 0.1, max_calls=4), GammaRates(1.0, 0.0)
    found = UncertainDays(callers, law, Days(absence=0.2)).values(2)
    chances = {0: 0.04, 1: 0.32, 2: 0.64}
    for measure in ("wait_probability", "mean_queue", "blocking_probability", "throughput"):
        mean = sum(
            chance * erlang_a(3.0, 1.0, 0.5, m, threshold=0.1, max_calls=4).value(measure)
            for m, chance in chances.items()
        )
        assert found[measure] == pytest.approx(mean, rel=1e-10)


def test_nobody_at_work():
    """The waiting callers alone are M/G/K/K: Erlang B of their patience; who never gives up fills the places."""
    found = erlang_a(3.0, 1.0, 0.5, 0, max_calls=4)
    assert found.blocking_probability == pytest.approx(erlang_b(6.0, 1.0, 4).blocking_probability, rel=1e-13)
    assert found.mean_queue == pytest.approx(6.0 * (1 - found.blocking_probability), rel=1e-13)
    assert found.abandonment_probability == pytest.approx(1 - found.blocking_probability, rel=1e-13)
    endless = erlang_a(3.0, 1.0, 0.0, 0, max_calls=4)
    assert (endless.blocking_probability, endless.mean_queue, endless.throughput) == (1.0, 4.0, 0.0)


# --- what a limit must do ---


@given(
    lam=st.floats(0.01, 300),
    theta=st.sampled_from([0.0, 0.01, 0.5, 1.0, 20.0]),
    n=st.integers(1, 60),
    places=st.integers(0, 200),
)
def test_calls_are_answered_lost_or_blocked_and_more_places_block_fewer(lam, theta, n, places):
    found = erlang_a(lam, 1.0, theta, n, threshold=0.3, max_calls=n + places)
    more = erlang_a(lam, 1.0, theta, n, threshold=0.3, max_calls=n + places + 1)
    helped = erlang_a(lam, 1.0, theta, n + 1, threshold=0.3, max_calls=n + places + 1)
    answered = found.throughput / lam
    assert answered + found.abandonment_probability + found.blocking_probability == pytest.approx(
        1, abs=1e-12
    )
    assert lam * found.abandonment_probability == pytest.approx(
        theta * found.mean_queue, rel=1e-11, abs=1e-14
    )
    assert found.mean_queue <= places * (1 + 1e-12)
    assert more.blocking_probability <= found.blocking_probability * (1 + 1e-10)
    # Answered calls are what blocked ones leave.
    rounding = 1e-12 * max(1.0, lam / n)
    assert more.throughput >= found.throughput * (1 - rounding)
    assert helped.throughput >= more.throughput * (1 - rounding)
    if theta <= 1:  # otherwise a caller leaves a place to wait sooner than an agent
        assert helped.blocking_probability <= more.blocking_probability * (1 + 1e-10)


@pytest.mark.parametrize("patience", [None, DeterministicPatience(0.4)])
def test_places_without_end_are_none(patience):
    without = Callers(12.0, math.nan if patience else 0.5, 0.1, patience=patience)
    found = DrawnAgents(
        Callers(12.0, without.abandonment_rate, 0.1, patience=patience, max_calls=10_000),
        GammaRates(1.0, 0.2),
    ).performance(11)
    free = DrawnAgents(without, GammaRates(1.0, 0.2)).performance(11)
    for measure in MEASURES:
        assert found.value(measure) == pytest.approx(free.value(measure), rel=1e-8, abs=1e-12)


def test_erlang_b_is_the_limit_at_the_agents_whatever_the_patience():
    b = erlang_b(10.0, 1.0, 10)
    assert b.method == "Erlang B"
    for patience in (DeterministicPatience(0.3), GammaPatience(2.0, 3.0)):
        found = erlang_g(10.0, 1.0, patience, 10, max_calls=10)
        assert found.blocking_probability == pytest.approx(b.blocking_probability, rel=1e-13)
        assert found.wait_probability == found.abandonment_probability == found.mean_wait == 0
    with pytest.raises(
        ScenarioError, match=r"max_calls: 9 is below the 10 agents.*give more, or fewer agents"
    ):
        erlang_a(10.0, 1.0, 0.5, 10, max_calls=9)
    with pytest.raises(ScenarioError, match="max_calls: 2 is below the 3 agents"):
        GivenAgents(Callers(3.0, 1.0, max_calls=2), RATES).performance(3)


# --- the Poisson law of those who wait ---


@pytest.mark.parametrize("places", [0, 1, 7, 150, 20_000])
@pytest.mark.parametrize("x", [1e-6, 0.3, 5.0, 140.0, 1100.0, 2e4, 1e6])
def test_the_chance_of_a_place_in_forty_digits(places, x):
    with mpmath.workdps(40):
        fits = mpmath.gammainc(places + 1, x, mpmath.inf, regularized=True)
        last = mpmath.exp(places * mpmath.log(x) - x - mpmath.loggamma(places + 1))
        log_exact, share = float(mpmath.log(fits)), float(last / fits)
    mean, most = np.array([x]), np.array([float(places)])
    found = log_fits(mean, most)
    assert found[0] == pytest.approx(log_exact, rel=1e-13, abs=1e-13)
    # A share is the difference of two logs, of the size of x.
    assert share_blocked(mean, most, found)[0] == pytest.approx(share, rel=1e-12 + 1e-15 * x, abs=1e-300)
