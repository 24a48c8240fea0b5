"""Erlang B, C and A: published figures, chains state by state, limits at their rates, what holds for every centre."""

import csv
import math
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.integrate import quad
from scipy.stats import norm

from staffing.models.erlang import erlang_a, erlang_b, erlang_c
from staffing.models.errors import ScenarioError
from staffing.models.performance import MEASURES
from tests.models.plain_chain import Centre, blocking, erlang_c_late, erlang_c_measures

TABLE = Path(__file__).resolve().parents[1] / "reference" / "erlang.csv"
ROWS = list(csv.DictReader(TABLE.read_text("utf-8").splitlines()))
TIMES = {"mean_wait", "mean_wait_answered"}
PROBABILITIES = [m for m in MEASURES if "prob" in m or "level" in m or m == "occupancy"]


@pytest.mark.parametrize("row", ROWS, ids=lambda row: f"{row['model']}-{row['agents']}-{row['quantity']}")
def test_published_figures(row):
    lam, mu, n = float(row["arrival_rate"]), float(row["service_rate"]), int(row["agents"])
    threshold = float(row["threshold"] or 0)
    if row["model"] == "erlang_b":
        performance = erlang_b(lam, mu, n)
    elif row["model"] == "erlang_c":
        performance = erlang_c(lam, mu, n, threshold=threshold)
    else:
        performance = erlang_a(lam, mu, float(row["abandonment_rate"]), n, threshold=threshold)
    quantity = {"blocking": "blocking_probability"}.get(row["quantity"], row["quantity"])
    assert performance.value(quantity) == pytest.approx(float(row["value"]), abs=float(row["tolerance"]))


def test_every_row_of_the_table_is_read():
    assert len(ROWS) >= 20
    assert {row["model"] for row in ROWS} == {"erlang_b", "erlang_c", "erlang_a"}


def test_the_base_case_of_gans_koole_and_mandelbaum():
    """48 calls a minute, one minute, patience two minutes, 50 agents, with and without abandonment; in seconds."""
    a = erlang_a(48 / 60, 1 / 60, 1 / 120, 50)
    c = erlang_c(48 / 60, 1 / 60, 50)
    assert a.abandonment_probability == pytest.approx(0.030912, abs=5e-7)
    assert a.mean_wait == pytest.approx(3.7095, abs=5e-5)
    assert a.wait_quantile(0.9) == pytest.approx(12.45, abs=6e-3)
    assert a.mean_queue == pytest.approx(2.9676, abs=5e-5)
    assert a.wait_probability == pytest.approx(0.467774, abs=5e-7)
    assert a.occupancy == pytest.approx(0.93032, abs=5e-6)
    assert c.wait_probability == pytest.approx(0.694456, abs=5e-7)
    assert c.mean_wait == pytest.approx(20.8337, abs=5e-5)
    assert c.wait_quantile(0.9) == pytest.approx(58.139, abs=5e-4)
    assert c.mean_queue == pytest.approx(16.667, abs=5e-4)


# --- the chain, state by state ---


def centres():
    """Loads 1e-3 to 1e5 in units of one agent; below, at and above the load; patience from short to long."""
    for load in (1e-3, 0.1, 1.0, 4.5, 30.0, 1e3, 1e4, 1e5):
        levels = {1, 2, math.ceil(load / 2), math.ceil(0.97 * load), math.ceil(load)}
        levels |= {math.ceil(load + beta * math.sqrt(load)) for beta in (-1, 0.5, 2, 4)}
        for n in sorted(levels - {0}):
            if n >= 1 and n > load / 1000:
                for theta in (0.2, 0.7, 12.0):
                    yield load, theta, n


@pytest.mark.parametrize("load", sorted({load for load, _, _ in centres()}))
def test_every_measure_equals_the_chain(load):
    """To 1e-10, at thresholds around the waits; mean waits relative to themselves."""
    mu = 0.4  # so that no unit is taken for one
    for _, theta, n in (centre for centre in centres() if centre[0] == load):
        chain = Centre(load * mu, mu, theta * mu, n)
        typical = max(math.log(load / n), 0) / (theta * mu) or 1 / (n * mu)
        for threshold in (0.0, 0.3 * typical, typical, 4 * typical):
            performance = erlang_a(load * mu, mu, theta * mu, n, threshold=threshold)
            for measure, value in chain.measures(threshold).items():
                scale = abs(value) if measure in TIMES | {"mean_queue", "throughput"} else 1
                assert performance.value(measure) == pytest.approx(value, abs=1e-10 * scale), (
                    measure,
                    n,
                    theta,
                    threshold,
                )


@pytest.mark.parametrize(("theta", "n"), [(1e-2, 99_990), (1e-3, 99_990)])
def test_service_level_at_large_load_with_long_patience(theta, n):
    chain = Centre(1e5, 1.0, theta, n).measures(0.02)
    performance = erlang_a(1e5, 1.0, theta, n, threshold=0.02)
    for measure in ("service_level_offered", "service_level_virtual", "wait_probability"):
        assert performance.value(measure) == pytest.approx(chain[measure], abs=1e-10)


@pytest.mark.parametrize(
    ("lam", "theta", "n"), [(18.0, 0.5, 20), (18.0, 0.5, 14), (0.5, 2.0, 1), (4e3, 0.8, 3900)]
)
def test_the_law_of_the_wait(lam, theta, n):
    """P(W > t) = P(V > t) e^(-theta t); its quantiles are its inverse, its mean is the mean wait."""
    performance = erlang_a(lam, 1.0, theta, n)
    chain = Centre(lam, 1.0, theta, n)
    for t in (0.0, 1e-3, 0.02, 0.1, 0.4, 1.0, 3.0):
        late = chain.late(t)[0] * math.exp(-theta * t)
        assert 1 - performance.wait_cdf(t) == pytest.approx(late, abs=1e-12)
    for p in (0.0, 0.3, 0.5, 0.8, 0.9, 0.99, 0.9999):
        t = performance.wait_quantile(p)
        if p <= 1 - performance.wait_probability:
            assert t == 0
        else:
            assert performance.wait_cdf(t) == pytest.approx(p, abs=1e-11)
            assert performance.wait_cdf(t * (1 - 1e-9)) < p
    ends = [performance.wait_quantile(1 - 10.0**-k) for k in range(12)]
    mean = sum(
        quad(lambda t: 1 - performance.wait_cdf(t), low, high, epsabs=1e-13, epsrel=1e-12)[0]
        for low, high in pairwise(ends)
    )
    assert mean == pytest.approx(performance.mean_wait, rel=1e-9)


def test_the_thresholds_of_the_record_and_its_law_agree():
    """The virtual service level and the law of the wait are two views of one thing."""
    for t in (0.0, 0.05, 0.4):
        performance = erlang_a(18.0, 1.0, 0.5, 17, threshold=t)
        assert performance.service_level.threshold == t
        late = 1 - performance.wait_cdf(t)
        assert performance.service_level.virtual == pytest.approx(1 - late * math.exp(0.5 * t), abs=1e-13)


# --- without abandonment, without patience ---


@pytest.mark.parametrize(
    ("load", "n"), [(1e-3, 1), (0.7, 1), (0.7, 3), (9.9, 10), (60, 66), (990, 1000), (1e5, 100300)]
)
def test_erlang_c_equals_the_recursion(load, n):
    mu = 2.5
    lam = load * mu
    for threshold in (0.0, 0.2 / (n * mu - lam), 3 / (n * mu - lam)):
        performance = erlang_c(lam, mu, n, threshold=threshold)
        expected = erlang_c_measures(lam, mu, n, threshold)
        assert performance.values() == pytest.approx(expected, rel=1e-10, abs=1e-12)
        assert 1 - performance.wait_cdf(threshold) == pytest.approx(
            1 - expected["service_level_offered"], abs=1e-12
        )
        if load < 1000:
            late = erlang_c_late(lam, n * mu, performance.wait_probability, threshold)
            assert performance.service_level.virtual == pytest.approx(1 - late, abs=1e-12)
    assert performance.method == "Erlang C"
    assert performance == erlang_a(lam, mu, 0.0, n, threshold=threshold)


@pytest.mark.parametrize(
    ("load", "n"), [(1e-3, 1), (0.7, 3), (10, 10), (10, 4), (300, 320), (1e4, 9900), (1e5, 1e5)]
)
def test_erlang_b_equals_the_recursion(load, n):
    n = int(n)
    performance = erlang_b(3 * load, 3.0, n)
    b = blocking(load, n)
    assert performance.blocking_probability == pytest.approx(b, rel=1e-11)
    assert performance.throughput == pytest.approx(3 * load * (1 - b), rel=1e-12)
    assert performance.occupancy == pytest.approx(load * (1 - b) / n, rel=1e-11)
    assert performance.capacity_utilisation == pytest.approx(performance.occupancy, rel=1e-11)
    for zero in ("wait_probability", "mean_wait", "mean_queue", "abandonment_probability"):
        assert performance.value(zero) == 0
    assert performance.mean_wait_answered == 0
    level = performance.service_level
    assert (level.offered, level.virtual) == pytest.approx((1 - b, 1 - b), rel=1e-12)
    assert level.answered == pytest.approx(1, rel=1e-12)
    assert performance.wait_cdf(0) == 1


@pytest.mark.parametrize(("load", "n"), [(0.7, 3), (10, 4), (10, 14), (1e4, 9900)])
def test_no_patience_at_all_is_the_loss_system_with_the_blocked_counted_as_lost(load, n):
    a, b = erlang_a(load, 1.0, math.inf, n), erlang_b(load, 1.0, n)
    assert a.abandonment_probability == b.blocking_probability == a.wait_probability
    assert a.mean_wait == a.mean_queue == 0
    assert a.service_level.offered == b.service_level.offered
    assert a.occupancy == b.occupancy
    assert a.throughput == pytest.approx(b.throughput, rel=1e-14)


def local_exponents(gaps, factor):
    return [math.log(before / after, factor) for before, after in pairwise(gaps)]


@pytest.mark.parametrize("measure", ["wait_probability", "mean_wait", "service_level_offered", "occupancy"])
def test_patience_without_end_tends_to_erlang_c_at_rate_one(measure):
    limit = erlang_c(27.0, 1.0, 30, threshold=0.2).value(measure)
    gaps = [abs(erlang_a(27.0, 1.0, 10.0**-k, 30, threshold=0.2).value(measure) - limit) for k in range(3, 7)]
    assert local_exponents(gaps, 10)[-1] == pytest.approx(1, abs=0.01)


@pytest.mark.parametrize("measure", ["wait_probability", "abandonment_probability", "occupancy"])
def test_vanishing_patience_tends_to_erlang_b_at_rate_one(measure):
    limit = erlang_a(27.0, 1.0, math.inf, 30).value(measure)
    gaps = [abs(erlang_a(27.0, 1.0, 10.0**k, 30).value(measure) - limit) for k in range(3, 7)]
    assert local_exponents(gaps, 10)[-1] == pytest.approx(1, abs=0.01)


# --- limits in the number of agents: Halfin and Whitt (1981), Garnett, Mandelbaum and Reiman (2002) ---

HALFIN_WHITT = {
    0.1: 0.88029,
    0.25: 0.72093,
    0.5: 0.50454,
    0.75: 0.34175,
    1: 0.22336,
    1.5: 0.08469,
    2: 0.02688,
}
HALFIN_WHITT |= {2.5: 0.00701, 3: 0.00148}
GARNETT = {
    0.1: "0.9994/1.0003 0.9675/0.5208 0.7597/0.1917 0.4450/0.0601 0.2094/0.0180 0.0816/0.0050 0.0263/0.0013",
    0.5: "0.9312/1.0361 0.7979/0.6295 0.5858/0.3305 0.3572/0.1487 0.1790/0.0572 0.0733/0.0187 0.0244/0.0051",
    1.0: "0.8413/1.0833 0.6915/0.6978 0.5/0.3989 0.3085/0.1978 0.1587/0.0833 0.0668/0.0293 0.0228/0.0085",
    2.0: "0.7252/1.1443 0.5788/0.7700 0.4142/0.4674 0.2579/0.2489 0.1356/0.1129 0.0587/0.0426 0.0205/0.0131",
}
GARNETT_ROWS = [
    (r, beta, *map(float, cell.split("/")))
    for r, line in GARNETT.items()
    for beta, cell in zip((-1, -0.5, 0, 0.5, 1, 1.5, 2), line.split(), strict=True)
]


def load_of(n, beta):
    """The load R for which n = R + beta sqrt(R)."""
    return (math.sqrt(n + beta * beta / 4) - beta / 2) ** 2


def rate_of_convergence(value, limit):
    """Local exponents in n of value(n) - limit, extrapolated once, from gaps that shrink and keep their sign."""
    gaps = [value(n) - limit for n in (100, 400, 1600, 6400, 25_600, 102_400)]
    assert len(set(np.sign(gaps[1:]))) == 1
    exponents = [math.log(before / after, 4) for before, after in pairwise(gaps[1:])]
    return 2 * exponents[-1] - exponents[-2]


@pytest.mark.parametrize(("beta", "printed"), HALFIN_WHITT.items())
def test_erlang_c_tends_to_halfin_and_whitt_at_rate_one_half(beta, printed):
    limit = 1 / (1 + beta * norm.cdf(beta) / norm.pdf(beta))
    assert limit == pytest.approx(printed, abs=6e-6)
    rate = rate_of_convergence(lambda n: erlang_c(load_of(n, beta), 1.0, n).wait_probability, limit)
    assert rate == pytest.approx(0.5, abs=0.01)


def hazard(x):
    return norm.pdf(x) / norm.sf(x)


@pytest.mark.parametrize(("r", "beta", "printed_wait", "printed_lost"), GARNETT_ROWS)
def test_erlang_a_tends_to_garnett_at_rate_one_half(r, beta, printed_wait, printed_lost):
    """P(W > 0) and sqrt(n) P(Ab), n = R + beta sqrt(R), r = theta / mu; printed to four places."""
    root = math.sqrt(r)
    waits = 1 / (1 + root * hazard(beta / root) / hazard(-beta))
    lost = waits * (root * hazard(beta / root) - beta)
    assert waits == pytest.approx(printed_wait, abs=6e-5)
    assert lost == pytest.approx(printed_lost, abs=6e-5)

    def centre(n):
        return erlang_a(load_of(n, beta), 1.0, r, n)

    # Where a coefficient of the expansion is nearly zero the next term shows for long.
    assert rate_of_convergence(lambda n: centre(n).wait_probability, waits) == pytest.approx(0.5, abs=0.03)
    assert abs(math.sqrt(102_400) * centre(102_400).abandonment_probability - lost) < 0.01


# --- conventions ---


def test_no_calls():
    performance = erlang_a(0.0, 1.0, 0.5, 3, threshold=0.1)
    expected = dict.fromkeys(MEASURES, 0.0)
    expected |= {f"service_level_{kind}": 1.0 for kind in ("offered", "answered", "virtual")}
    assert performance.values() == expected
    assert performance.wait_cdf(0) == 1
    assert performance.wait_quantile(0.99) == 0
    assert erlang_a(0.0, 1.0, 0.0, 0).values() == expected
    assert erlang_b(0.0, 1.0, 0).values() == expected


def test_no_agents_with_patience():
    """Every call waits its patience out and is lost."""
    performance = erlang_a(3.0, 1.0, 0.5, 0, threshold=0.1)
    assert performance.wait_probability == performance.abandonment_probability == 1
    assert performance.mean_wait == pytest.approx(2, rel=1e-14)
    assert performance.mean_queue == pytest.approx(6, rel=1e-14)
    assert performance.mean_wait_answered == math.inf
    level = performance.service_level
    assert (level.offered, level.answered, level.virtual) == (0, 0, 0)
    assert performance.throughput == 0
    assert performance.occupancy == performance.capacity_utilisation == 1  # as of ever fewer agents
    assert performance.wait_cdf(1.0) == pytest.approx(1 - math.exp(-0.5), rel=1e-14)
    assert performance.wait_quantile(0.5) == pytest.approx(2 * math.log(2), rel=1e-11)


def test_no_agents_in_the_loss_system():
    performance = erlang_b(3.0, 1.0, 0)
    assert performance.blocking_probability == 1
    assert performance.throughput == performance.service_level.offered == 0
    assert performance.occupancy == 1


@pytest.mark.parametrize(("lam", "n"), [(10.0, 10), (11.0, 10), (500.0, 3), (2.0, 0)])
def test_a_queue_that_grows_without_end(lam, n):
    performance = erlang_c(lam, 1.0, n, threshold=5.0)
    assert performance.wait_probability == 1
    assert performance.mean_wait == performance.mean_wait_answered == performance.mean_queue == math.inf
    assert performance.abandonment_probability == 0
    level = performance.service_level
    assert (level.offered, level.answered, level.virtual) == (0, 0, 0)
    assert performance.throughput == n
    assert performance.occupancy == performance.capacity_utilisation == 1
    assert performance.wait_cdf(1e9) == 0
    assert performance.wait_quantile(0.5) == math.inf


def test_capacity_equal_to_the_load_up_to_rounding_does_not_suffice():
    assert 3 * 0.1 > 0.3
    assert erlang_c(0.3, 0.1, 3).mean_wait == math.inf
    assert erlang_c(0.3 * (1 - 1e-9), 0.1, 3).mean_wait < math.inf


def test_in_the_end_nobody_waits_even_without_agents():
    assert erlang_a(3.0, 1.0, 0.5, 0).wait_cdf(math.inf) == 1


# --- what holds for every centre ---

LOADS = st.floats(-3, 3).map(lambda power: 10.0**power)
RATES = st.floats(-2, 2).map(lambda power: 10.0**power)
CENTRES = st.fixed_dictionaries(
    {
        "arrival_rate": LOADS,
        "service_rate": RATES,
        "abandonment_rate": RATES,
        "agents": st.integers(0, 1500),
        "threshold": st.just(0.0) | RATES,
    }
)


@given(CENTRES)
def test_shares_are_shares_and_flows_balance(centre):
    p = erlang_a(**centre)
    lam, mu, theta, n = (centre[k] for k in ("arrival_rate", "service_rate", "abandonment_rate", "agents"))
    for measure in PROBABILITIES:
        assert 0 <= p.value(measure) <= 1, measure
    assert p.mean_wait >= 0
    assert p.mean_wait_answered >= 0
    assert p.mean_queue == pytest.approx(lam * p.mean_wait, rel=1e-13)
    assert theta * p.mean_queue == pytest.approx(lam * p.abandonment_probability, rel=1e-13)
    assert p.throughput == pytest.approx(lam * (1 - p.abandonment_probability), abs=1e-13 * lam)
    assert n * p.occupancy * mu == pytest.approx(p.throughput, abs=1e-12 * lam + 1e-14 * n * mu)
    assert p.capacity_utilisation * n * mu == pytest.approx(p.throughput, rel=1e-13, abs=1e-15 * lam)
    level = p.service_level
    assert level.offered <= level.answered + 1e-14
    assert level.offered <= level.virtual + 1e-13
    if centre["threshold"] == 0:
        assert level.offered == pytest.approx(1 - p.wait_probability, abs=1e-12)
        assert level.virtual == pytest.approx(1 - p.wait_probability, abs=1e-12)
    assert level.offered <= 1 - p.abandonment_probability + 1e-14
    assert p.abandonment_probability <= p.wait_probability * (1 + 1e-14)


@given(CENTRES, RATES, st.floats(0, 0.999))
def test_the_law_of_the_wait_is_a_law(centre, unit, p):
    performance = erlang_a(**centre)
    assert performance.wait_cdf(0) == pytest.approx(1 - performance.wait_probability, abs=1e-10)
    assert performance.wait_cdf(-1e-300) == 0
    steps = [performance.wait_cdf(unit * t) for t in np.linspace(0, 5, 30)]
    assert all(0 <= step <= 1 for step in steps)
    assert all(after >= before - 1e-11 for before, after in pairwise(steps))
    quantile = performance.wait_quantile(p)
    assert quantile >= 0
    assert performance.wait_cdf(quantile * (1 + 1e-9)) >= p - 1e-10
    if quantile > 0:
        assert performance.wait_cdf(quantile * (1 - 1e-9)) <= p + 1e-10


@given(CENTRES, RATES)
def test_time_may_be_told_in_any_unit(centre, unit):
    scaled = {
        "arrival_rate": centre["arrival_rate"] * unit,
        "service_rate": centre["service_rate"] * unit,
        "abandonment_rate": centre["abandonment_rate"] * unit,
        "threshold": centre["threshold"] / unit,
        "agents": centre["agents"],
    }
    one, two = erlang_a(**centre), erlang_a(**scaled)
    for measure in MEASURES:
        factor = 1 / unit if measure in TIMES else unit if measure == "throughput" else 1
        expected = one.value(measure) * factor
        assert two.value(measure) == pytest.approx(expected, rel=1e-9, abs=1e-11 * factor), measure


LESS_IS_BETTER = (
    "wait_probability",
    "mean_wait",
    "mean_wait_answered",
    "mean_queue",
    "abandonment_probability",
    "occupancy",
)
MORE_IS_BETTER = ("service_level_offered", "service_level_answered", "service_level_virtual", "throughput")


@given(CENTRES)
def test_one_more_agent_never_hurts(centre):
    one = erlang_a(**centre)
    more = erlang_a(**centre | {"agents": centre["agents"] + 1})
    for measure in LESS_IS_BETTER:
        assert more.value(measure) <= one.value(measure) * (1 + 1e-10) + 1e-13, measure
    for measure in MORE_IS_BETTER:
        assert more.value(measure) >= one.value(measure) * (1 - 1e-10) - 1e-12, measure


@given(CENTRES, st.integers(2, 5))
def test_pooling_never_hurts(centre, groups):
    """So many equal centres in one: fewer wait, and for less time."""
    one = erlang_a(**centre)
    pooled = erlang_a(
        **centre | {"arrival_rate": groups * centre["arrival_rate"], "agents": groups * centre["agents"]}
    )
    for measure in ("mean_wait", "abandonment_probability"):
        assert pooled.value(measure) <= one.value(measure) * (1 + 1e-10) + 1e-13
    assert pooled.throughput >= groups * one.throughput * (1 - 1e-10) - 1e-13


@given(LOADS, st.floats(1.0001, 10), st.integers(1, 200))
def test_the_loss_system_is_the_best_of_all_at_losing_calls_last(load, factor, n):
    """Blocking falls with agents and rises with load; patience loses fewer calls than a full system blocks."""
    b = erlang_b(load, 1.0, n).blocking_probability
    assert erlang_b(load, 1.0, n + 1).blocking_probability <= b
    assert erlang_b(load * factor, 1.0, n).blocking_probability >= b * (1 - 1e-12)
    assert erlang_a(load, 1.0, 1.0, n).abandonment_probability <= b * (1 + 1e-12)


def test_without_patience_nobody_waits():
    """Who finds no agent free is lost at once: the chance of that is P(wait), and no wait is longer than 0."""
    performance = erlang_a(12.0, 1.0, math.inf, 8)
    assert performance.wait_probability > 0.3
    assert performance.wait_cdf(0.0) == 1.0
    assert performance.wait_quantile(0.99) == 0.0


def test_a_capacity_beyond_numbers_is_refused():
    with pytest.raises(ScenarioError, match="capacity"):
        erlang_a(1.0, 1e308, 1.0, 5)
