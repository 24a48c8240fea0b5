"""The stationary law of the piecewise diffusion against 40 digits, quadrature and laws known in closed form."""

import math

import mpmath as mp
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.integrate import quad
from scipy.special import log_ndtr, ndtr
from scipy.stats import norm

from staffing.models.diffusion.piecewise_ou import PiecewiseOU
from staffing.models.errors import ScenarioError

RATES = st.floats(-3, 3).map(lambda power: 10.0**power)
SCORES = st.floats(-200, 200)


def in_digits(m, g, theta, variance):
    """Masses, means, variance and two probabilities with 40 digits, from the normal law's own formulas."""
    m, g, theta, variance = map(mp.mpf, (m, g, theta, variance))

    def half(d, k):
        if k == 0:
            return variance / (-2 * d), variance / (-2 * d), variance**2 / (2 * d**2)
        s = mp.sqrt(variance / (2 * k))
        z = d / (k * s)
        below = mp.erfc(-z / mp.sqrt(2)) / 2
        hazard = mp.npdf(z) / below
        return (
            s * mp.sqrt(2 * mp.pi) * mp.exp(z * z / 2) * below,
            s * (z + hazard),
            s * s * (1 + z * (z + hazard)),
        )

    (up, mean_up, second_up), (down, mean_down, second_down) = half(m, theta), half(-m, g)
    p, q = up / (up + down), down / (up + down)
    mean, second = p * mean_up - q * mean_down, p * second_up + q * second_down
    return p, q, p * mean_up, q * mean_down, second, second - mean**2


@pytest.mark.parametrize("z", [-200, -60, -20, -6.1, -5.9, -1, 0, 0.4, 3, 6, 40, 200])
@pytest.mark.parametrize(("g", "theta"), [(1.0, 1.0), (1.1, 0.5), (0.2, 5.0), (1.0, 1e-9)])
def test_it_agrees_with_40_digits_up_to_200_scales(z, g, theta):
    variance = 1.7
    m = z * math.sqrt(variance * min(g, theta) / 2)
    law = PiecewiseOU(m, g, theta, variance)
    with mp.workdps(40):
        exact = in_digits(m, g, theta, variance)
    found = (law.above, law.below, law.mean_above, law.mean_below, law.second_moment, law.stationary_variance)
    for value, digits in zip(found, exact, strict=True):
        assert math.isfinite(value)
        assert float(value) == pytest.approx(float(digits), rel=1e-11, abs=1e-300)
    assert abs(law.drift_balance) < 1e-10


@settings(max_examples=50)
@given(SCORES, RATES, RATES, RATES)
def test_the_drift_balances(z, g, theta, variance):
    law = PiecewiseOU(z * math.sqrt(g * variance / 2), g, theta, variance)
    scale = abs(law.drift) + math.sqrt(variance * max(g, theta))
    assert abs(law.drift_balance) < 1e-10 * scale
    assert 0 <= law.above <= 1
    assert law.above + law.below == pytest.approx(1, abs=1e-14)


@pytest.mark.parametrize("z", [-200.0, -5.0, -0.5, 0.0, 1.5, 8.0, 200.0])
@pytest.mark.parametrize(("g", "theta"), [(1.0, 1.0), (1.1, 0.4), (0.3, 3.0), (2.0, 1e-6)])
def test_the_density_integrates_to_one_and_to_the_moments(z, g, theta):
    m = z * math.sqrt(min(g, theta))
    law = PiecewiseOU(m, g, theta, 2.0)
    spread = math.sqrt(law.stationary_variance)
    ends = np.unique(np.concatenate([law.quantile([1e-18, 0.01, 0.2, 0.5, 0.8, 0.99, 1 - 1e-16]), [0.0]]))
    ends = np.concatenate([[ends[0] - spread], ends, [ends[-1] + 8 * spread]])
    node, weight = np.polynomial.legendre.leggauss(60)
    x = (ends[:-1, None] + (ends[1:, None] - ends[:-1, None]) * (node + 1) / 2).ravel()
    w = ((ends[1:, None] - ends[:-1, None]) / 2 * weight).ravel() * law.density(x)
    assert w.sum() == pytest.approx(1, abs=1e-10)
    assert w @ x == pytest.approx(law.mean, rel=1e-9, abs=1e-10)
    assert w @ (x - law.mean) ** 2 == pytest.approx(law.stationary_variance, rel=1e-8)
    assert w[x > 0].sum() == pytest.approx(law.above, abs=1e-10)
    for cut in (-0.7, 0.0, 0.6):
        assert quad(law.density, cut, cut + 0.3)[0] == pytest.approx(
            law.cdf(cut + 0.3) - law.cdf(cut), abs=1e-12
        )


def test_it_is_normal_where_idle_agents_and_callers_leave_alike():
    law = PiecewiseOU(-0.8, 0.5, 0.5, 1.5)
    x = np.linspace(-30, 30, 61)
    same = norm(-1.6, math.sqrt(1.5))
    np.testing.assert_allclose(law.log_density(x), same.logpdf(x), rtol=1e-13, atol=1e-13)
    np.testing.assert_allclose(law.log_survival(x), same.logsf(x), rtol=1e-11, atol=1e-300)
    np.testing.assert_allclose(law.log_cdf(x), same.logcdf(x), rtol=1e-11, atol=1e-300)
    assert law.above == pytest.approx(ndtr(-1.6 / math.sqrt(1.5)), rel=1e-14)
    assert law.mean == pytest.approx(-1.6, rel=1e-13)
    assert law.stationary_variance == pytest.approx(1.5, rel=1e-13)


@pytest.mark.parametrize("mean", [-280.0, 280.0])
def test_tails_beyond_numbers_keep_their_logarithms(mean):
    # a normal law whose mean is 200 standard deviations from the kink at 0
    law = PiecewiseOU(mean, 1.0, 1.0, 3.92)
    x = np.array([-300.0, -281.0, -100.0, -1.0, 0.0, 1.0, 100.0, 281.0, 300.0])
    z = (x - mean) / 1.4
    np.testing.assert_allclose(law.log_survival(x), log_ndtr(-z), rtol=1e-11)
    np.testing.assert_allclose(law.log_cdf(x), log_ndtr(z), rtol=1e-11)


@settings(max_examples=50)
@given(SCORES, RATES, RATES, st.floats(1e-12, 1 - 1e-12))
def test_quantiles_invert_the_distribution_function(z, g, theta, p):
    law = PiecewiseOU(z * math.sqrt(g), g, theta, 2.0)
    x = law.quantile(p)
    assert math.isfinite(x)
    step = 1e-9 * (abs(x) + 1e-3 * math.sqrt(law.stationary_variance))
    assert law.cdf(x - step) <= p * (1 + 1e-9)
    assert law.survival(x + step) <= (1 - p) * (1 + 1e-9)


@settings(max_examples=50)
@given(st.floats(-60, -0.01), RATES)
def test_without_abandonment_the_queue_is_exponential_and_the_limit_of_ever_more_patience(m, g):
    law = PiecewiseOU(m, g, 0.0, 2.0)
    assert law.mean_above == pytest.approx(law.above / -m, rel=1e-12)
    near = PiecewiseOU(m, g, 1e-9 * m * m, 2.0)
    for figure in ("above", "mean_above", "mean_below", "stationary_variance"):
        assert getattr(law, figure) == pytest.approx(getattr(near, figure), rel=1e-6)
    assert law.log_survival(7 / -m) == pytest.approx(law.log_above - 7, rel=1e-13)
    if law.above > 1e-3:
        assert law.quantile(1 - 0.3 * law.above) == pytest.approx(math.log(1 / 0.3) / -m, rel=1e-9)


@pytest.mark.parametrize(
    ("beta", "alpha"),
    [
        (0.1, 0.88029),
        (0.25, 0.72093),
        (0.5, 0.50454),
        (0.75, 0.34175),
        (1, 0.22336),
        (1.5, 0.08469),
        (2, 0.02688),
        (2.5, 0.00701),
        (3, 0.00148),
    ],
)
def test_halfin_and_whitts_function(beta, alpha):
    assert round(float(PiecewiseOU(-beta, 1.0, 0.0, 2.0).above), 5) == alpha


GARNETT = """
.1 .9994/1.0003 .9675/.5208 .7597/.1917 .4450/.0601 .2094/.0180 .0816/.0050 .0263/.0013
.5 .9312/1.0361 .7979/.6295 .5858/.3305 .3572/.1487 .1790/.0572 .0733/.0187 .0244/.0051
1 .8413/1.0833 .6915/.6978 .5/.3989 .3085/.1978 .1587/.0833 .0668/.0293 .0228/.0085
2 .7252/1.1443 .5788/.7700 .4142/.4674 .2579/.2489 .1356/.1129 .0587/.0426 .0205/.0131
"""


def test_garnetts_function_and_the_share_who_give_up():
    for line in GARNETT.split("\n")[1:-1]:
        theta, *pairs = line.split()
        law = PiecewiseOU(-np.array([-1, -0.5, 0, 0.5, 1, 1.5, 2]), 1.0, float(theta), 2.0)
        found = [f"{w:.4f}/{a:.4f}" for w, a in zip(law.above, float(theta) * law.mean_above, strict=True)]
        for value, printed in zip(found, pairs, strict=True):
            assert [float(x) for x in value.split("/")] == [float(x) for x in printed.split("/")]


def test_arrays_of_parameters_are_a_law_each():
    m, theta = np.array([[-1.0], [0.3]]), np.array([0.0, 0.5, 2.0])
    with pytest.raises(ScenarioError, match=r"drift: 0\.3 must be below 0 where theta is 0"):
        PiecewiseOU(m, 1.0, theta, 2.0)
    law = PiecewiseOU(-abs(m), 1.0, theta, 2.0)
    for figure in ("above", "mean", "stationary_variance", "log_above"):
        values = getattr(law, figure)
        assert values.shape == (2, 3)
        assert values[1, 2] == pytest.approx(getattr(PiecewiseOU(-0.3, 1.0, 2.0, 2.0), figure), rel=1e-14)
    assert law.quantile(0.3).shape == law.log_cdf(0.1).shape == (2, 3)


@pytest.mark.parametrize(
    ("parameters", "words"),
    [
        ((0.0, 1.0, 0.0, 2.0), "no stationary law"),
        ((0.0, 0.0, 1.0, 2.0), "no stationary law"),
        ((math.nan, 1.0, 1.0, 2.0), "drift: nan must be finite"),
        ((0.0, 1.0, math.inf, 2.0), "theta: inf must be finite"),
        ((0.0, -1.0, 1.0, 2.0), "pull: -1 must be at least 0"),
        ((0.0, 1.0, -0.5, 2.0), "theta: -0.5 must be at least 0"),
        ((0.0, 1.0, 1.0, 0.0), "variance: 0 must be above 0"),
        (("x", 1.0, 1.0, 1.0), "drift: 'x' is not a number"),
    ],
)
def test_what_has_no_stationary_law_is_refused(parameters, words):
    with pytest.raises(ScenarioError, match=words):
        PiecewiseOU(*parameters)


@pytest.mark.parametrize("p", [0.0, 1.0, -1.0, 2.0])
def test_quantiles_are_of_probabilities(p):
    with pytest.raises(ScenarioError, match="must be between 0 and 1"):
        PiecewiseOU(0.0, 1.0, 1.0, 2.0).quantile(p)
