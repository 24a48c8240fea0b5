"""Sums over the queueing states against 40 digits, by either route and across the switch between them."""

import math
from itertools import pairwise

import mpmath
import numpy as np
import pytest

from staffing.models._kernels import (
    _queue_by_quadrature,
    _queue_by_series,
    log_highest,
    offered_wait,
    queue_sums,
)
from tests.models.plain_sums import queue_sums_by_integrals, queue_sums_by_terms

# x = lam / theta is the mean number who would wait without agents, a = S / theta; theta sets the unit of time.
LOADS = (1e-3, 0.3, 7.0, 150.0, 2.5e3, 4e4)
RATIOS = (1e-9, 1e-3, 0.3, 0.9, 0.999, 1.0, 1.001, 1.1, 3.0, 1e4)
GRID = [(x * theta, x * theta * ratio, theta) for x in LOADS for ratio in RATIOS for theta in (1e-4, 0.7)]
LARGE = [  # where only the integrals can follow: loads to 1e5, patience to 1e9 handle times
    (1e5, 1e5, 0.5),
    (1e5, 0.9e5, 1e-3),
    (1e5, 99_990.0, 1e-2),
    (1e5, 1.001e5, 1e-9),
    (1e5, 1e5, 1e-6),
    (1e5, 1e-3, 1.0),
    (1e5, 1e7, 1e-5),
    (60.0, 60.0, 1e-7),
    (60.0, 45.0, 1e-6),
    (60.0, 60.6, 1e-8),
    (1e-3, 1e-6, 1e-7),
]


def ratios(log_p0, waiting, length, waited):
    """What the measures are made of: mean queue and waits per busy time, log P(all busy and nobody waits)."""
    with mpmath.workdps(40):
        scale = mpmath.exp(log_p0)
        total = waiting + scale
        return length / total, waited / total, mpmath.log(total) - log_p0


def agree(found, exact):
    """`found` in floats, to 1e-12 of the means; returns the error of the log."""
    with mpmath.workdps(40):
        one, two = ratios(*found), ratios(*exact)
        for mine, other in zip(one[:2], two[:2], strict=True):
            assert abs(mine - other) <= mpmath.mpf("1e-12") * other
        return float(abs(one[2] - two[2]))


def exact_sums(lam, s, theta):
    with mpmath.workdps(40):
        return (mpmath.mpf(0), *(mpmath.mpf(str(value)) for value in queue_sums_by_terms(lam, s, theta)))


def integral_sums(lam, s, theta):
    top, *sums = queue_sums_by_integrals(lam, s, theta)
    return (-top, *sums)


@pytest.mark.parametrize(("lam", "s", "theta"), [(900.0, 880.0, 0.5), (40.0, 50.0, 0.3), (900.0, 1e-3, 0.5)])
def test_the_two_references_agree(lam, s, theta):
    top, *integrals = queue_sums_by_integrals(lam, s, theta)
    with mpmath.workdps(40):
        for integral, term in zip(integrals, queue_sums_by_terms(lam, s, theta), strict=True):
            assert abs(integral * mpmath.exp(top) / mpmath.mpf(str(term)) - 1) < 1e-30


@pytest.mark.parametrize(("lam", "s", "theta"), GRID)
def test_sums_equal_forty_digits(lam, s, theta):
    error = agree(queue_sums(lam, s, theta), exact_sums(lam, s, theta))
    assert error <= 1e-12 + 4e-16 * lam / theta


@pytest.mark.parametrize(("lam", "s", "theta"), LARGE)
def test_large_loads_and_tiny_abandonment(lam, s, theta):
    error = agree(queue_sums(lam, s, theta), integral_sums(lam, s, theta))
    assert error <= 1e-12 + 4e-16 * lam / theta


@pytest.mark.parametrize("x", [60.0, 2.5e3, 4e4])
@pytest.mark.parametrize("ratio", [1e-3, 0.5, 0.97, 1.0, 1.03, 2.0, 100.0])
def test_each_route_is_right_on_its_own(x, ratio):
    lam, s, theta = 0.3 * x, 0.3 * x * ratio, 0.3
    exact = exact_sums(lam, s, theta)
    for route in (_queue_by_series, _queue_by_quadrature):
        assert agree(route(lam, s, theta), exact) <= 1e-12 + 2e-15 * x


@pytest.mark.parametrize("ratio", [0.5, 0.9, 0.99, 1.0, 1.01, 1.5])
def test_the_switch_takes_the_route_it_promises_and_leaves_no_step(ratio):
    def reach(x):  # how far the sum has to go
        return max(x - x * ratio, 0.0) + 9 * math.sqrt(x)

    low, high = 1.0, 1e9
    while high / low > 1 + 1e-9:
        middle = math.sqrt(low * high)
        low, high = (middle, high) if reach(middle) <= 3000 else (low, middle)
    before, after = low * (1 - 1e-6), high * (1 + 1e-6)
    assert queue_sums(before, before * ratio, 1.0) == _queue_by_series(before, before * ratio, 1.0)
    assert queue_sums(after, after * ratio, 1.0) == _queue_by_quadrature(after, after * ratio, 1.0)
    one = np.array([float(r) for r in ratios(*_queue_by_series(after, after * ratio, 1.0))])
    two = np.array([float(r) for r in ratios(*_queue_by_quadrature(after, after * ratio, 1.0))])
    np.testing.assert_allclose(one, two, rtol=1e-12, atol=2e-15 * after)


def test_the_switch_keeps_sums_short_enough():
    """The longest sum a call may be asked for."""
    for x in (1e4, 1e5):
        s = 1.2 * x
        assert queue_sums(x, s, 1.0) == _queue_by_series(x, s, 1.0)
    for x in (1.2e5, 1e9):
        assert queue_sums(x, x, 1.0) == _queue_by_quadrature(x, x, 1.0)


@pytest.mark.parametrize(("lam", "s"), [(0.9, 1.0), (59.0, 60.0), (1.0, 1e6)])
def test_nobody_gives_up(lam, s):
    rho = mpmath.mpf(lam) / s
    log_p0, waiting, length, waited = queue_sums(lam, s, 0.0)
    assert log_p0 == 0
    assert waiting == pytest.approx(float(rho / (1 - rho)), rel=1e-13)
    assert length == pytest.approx(float(rho / (1 - rho) ** 2), rel=1e-13)
    assert waited == pytest.approx(float(rho / (1 - rho) ** 2 / s), rel=1e-13)


def test_abandonment_goes_to_zero_and_the_sums_to_those_of_nobody_giving_up_at_rate_one():
    limit = queue_sums(50.0, 60.0, 0.0)
    gaps = [
        np.array(limit[1:]) - np.array(queue_sums(50.0, 60.0, theta)[1:])
        for theta in (1e-2, 1e-3, 1e-4, 1e-5)
    ]
    rates = [np.log10(before / after) for before, after in pairwise(gaps)]
    np.testing.assert_allclose(rates[-1], 1.0, atol=2e-3)


@pytest.mark.parametrize("lam", [1e-3, 2.0, 500.0])
def test_no_capacity_is_a_poisson_queue(lam):
    """S = 0: the number waiting is Poisson(lam / theta), and nobody is ever answered."""
    x = lam / 0.5
    log_p0, waiting, length, waited = queue_sums(lam, 0.0, 0.5)
    assert waiting + math.exp(log_p0) == pytest.approx(1, rel=1e-15)
    assert length == pytest.approx(x, rel=1e-15)
    assert log_p0 == -x
    assert waited == 0
    nearly = ratios(*queue_sums(lam, 1e-12, 0.5))
    assert float(nearly[0]) == pytest.approx(length, rel=1e-9)


@pytest.mark.parametrize(("lam", "theta"), [(0.0, 0.5), (5.0, math.inf)])
def test_nobody_waits(lam, theta):
    assert queue_sums(lam, 3.0, theta) == (0.0, 0.0, 0.0, 0.0)


@pytest.mark.parametrize(
    ("lam", "s", "theta"), [(20.0, 18.0, 0.5), (20.0, 30.0, 0.1), (3e4, 2.9e4, 0.2), (5.0, 1e-3, 1.0)]
)
def test_the_offered_wait_is_a_proper_law_with_the_right_mean(lam, s, theta):
    """E[V] by integrating its tail equals the mean of the state-by-state sums; and what is answered is balanced."""
    log_p0, waiting, length, waited = queue_sums(lam, s, theta)
    p0 = math.exp(log_p0)
    busy = waiting + p0
    log_most = log_highest(lam, s, theta, log_p0) - math.log(busy)  # as if nobody were ever idle
    assert offered_wait(lam, s, theta, 0.0, log_most)[0] == pytest.approx(1.0, rel=1e-12)
    answered = offered_wait(lam, s, theta, 0.0, log_most)[1]
    assert lam * answered + theta * length / busy == pytest.approx(lam, rel=1e-12)

    ends = np.linspace(0, 1, 241) ** 2 * (
        max(math.log(lam / s), 0.0) / theta + 60 / max(s, theta, s - lam) + 12 / math.sqrt(lam * theta)
    )
    nodes, weights = np.polynomial.legendre.leggauss(8)
    half = np.diff(ends)[:, np.newaxis] / 2
    times = ((ends[1:] + ends[:-1])[:, np.newaxis] / 2 + half * nodes).ravel()
    tails = np.array([offered_wait(lam, s, theta, t, log_most) for t in times])
    assert (half * weights).ravel() @ tails[:, 1] == pytest.approx(s * waited / busy / lam, rel=1e-7)
    assert np.all(np.diff(tails[:, 0]) <= 1e-10)
    assert tails.min() >= 0
    assert tails.max() <= 1


@pytest.mark.parametrize(
    ("lam", "s", "theta"),
    [(1e5, 99_990.0, 1e-3), (1e5, 99_990.0, 1e-2), (1e5, 0.9e5, 1e-3), (60.0, 59.99, 1e-6)],
)
def test_the_scale_loses_nothing_beyond_the_rounding_of_its_own_logarithm(lam, s, theta):
    exact = integral_sums(lam, s, theta)
    error = agree(queue_sums(lam, s, theta), exact)
    assert error <= 1e-15 * (1 + abs(float(ratios(*exact)[2])))


def exact_tail(lam, s, theta, t):
    """P(V > t) if nobody were ever idle: v(t) sum p_k(t) over sum p_k, k >= 0, in 40 digits."""
    with mpmath.workdps(40):
        lam, s, theta, t = map(mpmath.mpf, (lam, s, theta, t))
        later = lam * mpmath.exp(-theta * t)
        busy, busy_later = (ratios(*integral_sums(rate, s, theta))[2] for rate in (lam, later))
        return mpmath.exp((lam - later) / theta - s * t + busy_later - busy)


@pytest.mark.parametrize("s", [2.0, 55.0, 60.0, 70.0])
@pytest.mark.parametrize("theta", [0.7, 1e-2, 1e-4])
@pytest.mark.parametrize("part", [0.0, 1e-3, 0.5, 0.99, 1.0, 1.02, 2.0])
def test_the_tail_of_the_offered_wait_keeps_its_digits_under_overload(s, theta, part):
    """Where waits end, logs of the weights may run into the millions; what is left of them is not to be lost."""
    lam = 60.0
    t = part * max(math.log(lam / s), 0.02) / theta
    log_p0, waiting, _, _ = queue_sums(lam, s, theta)
    log_most = log_highest(lam, s, theta, log_p0) - math.log(waiting + math.exp(log_p0))
    found, _ = offered_wait(lam, s, theta, t, log_most)
    assert found == pytest.approx(float(exact_tail(lam, s, theta, t)), rel=1e-11, abs=1e-15)


def test_with_hardly_an_agent_nobody_is_in_time_however_long_the_patience():
    log_p0, waiting, _, _ = queue_sums(5e4, 300.0, 1e-6)
    log_most = log_highest(5e4, 300.0, 1e-6, log_p0) - math.log(waiting + math.exp(log_p0))
    for t in (0.0, 20.0, 1e6):
        assert offered_wait(5e4, 300.0, 1e-6, t, log_most)[0] == pytest.approx(1.0, abs=1e-14)
