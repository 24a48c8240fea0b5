"""Laws of patience against 40 digits, against each other and against their moments; what is refused."""

import math
from itertools import pairwise

import mpmath
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from mpmath import mpf
from scipy.integrate import quad

from staffing.models.errors import ScenarioError
from staffing.models.patience import (
    DeterministicPatience,
    ExponentialPatience,
    GammaPatience,
    HyperexponentialPatience,
    LognormalPatience,
    WeibullPatience,
)
from tests.models import plain_patience

PAIRS = [
    (ExponentialPatience(0.7), plain_patience.exponential(0.7)),
    (DeterministicPatience(0.7), plain_patience.deterministic(0.7)),
]
PAIRS += [
    (law(0.7, scv), plain(0.7, scv))
    for law, plain, scvs in (
        (GammaPatience, plain_patience.gamma, (0.01, 0.5, 4.0, 100.0)),
        (WeibullPatience, plain_patience.weibull, (0.01, 0.5, 4.0, 100.0)),
        (LognormalPatience, plain_patience.lognormal, (0.01, 0.5, 4.0, 100.0)),
        (HyperexponentialPatience, plain_patience.hyperexponential, (1.01, 4.0, 100.0)),
    )
    for scv in scvs
]
LAWS = [law for law, _ in PAIRS]
TIMES = 0.7 * np.array([1e-9, 1e-4, 0.02, 0.3, 0.9, 1.1, 2.5, 9.0, 60.0])
TWO = (GammaPatience, WeibullPatience, LognormalPatience, HyperexponentialPatience)


@pytest.mark.parametrize(("law", "plain"), PAIRS, ids=repr)
def test_every_figure_has_its_digits_however_small(law, plain):
    found = law.at(TIMES)
    with mpmath.workdps(50):
        for k, t in enumerate(TIMES.tolist()):
            exact = [f(mpf(t)) for f in (plain.survival, plain.given_up, plain.waited)]
            # The argument is known to 1e-16, which a steep law multiplies; 1e-300 is where numbers end.
            steep = 1e-15 * max(1.0, -float(mpmath.log(max(exact[0], mpf("1e-300")))))
            steep = max(steep, 1e-15 * max(1.0, -float(mpmath.log(max(exact[1], mpf("1e-300"))))))
            for mine, other, error in zip(found, exact, (30 * steep, 30 * steep, 1e-14), strict=True):
                assert mine[k] == pytest.approx(float(other), rel=error, abs=1e-290)


@pytest.mark.parametrize(("law", "plain"), PAIRS, ids=repr)
def test_time_waited_is_the_area_under_survival(law, plain):
    with mpmath.workdps(20):
        for t in (0.01, 0.5, 1.2):
            ends = [0, *(mpf(t) * mpf(4) ** -k for k in range(12, 0, -1)), *law.bends.tolist(), mpf(t)]
            area = mpmath.quad(plain.survival, sorted(end for end in ends if end <= t))
            assert law.at(np.array([t]))[2][0] == pytest.approx(float(area), rel=1e-9)


@pytest.mark.parametrize("law", LAWS, ids=repr)
def test_mean_and_squared_cv_are_what_was_asked_for(law):
    assert law.mean == 0.7
    assert law.at(np.array([1e9]))[2][0] == pytest.approx(0.7, rel=1e-12)
    if getattr(law, "scv", 9.0) <= 4:
        ends = [0.0, *(0.7 * 4.0 ** np.arange(-6.0, 12.0))]
        ends = np.unique(np.concatenate([ends, law.bends]))
        second = sum(
            quad(lambda t: 2 * t * law.survival(t), low, high, epsabs=1e-14, epsrel=1e-12)[0]
            for low, high in pairwise(ends)
        )
        assert second / 0.49 - 1 == pytest.approx(law.scv, rel=1e-8)


@pytest.mark.parametrize("law", LAWS, ids=repr)
def test_from_the_first_moment_to_the_last(law):
    waits, gone, waited = law.at(np.array([0.0, 1e12]))
    assert gone.tolist() == [0.0, 1.0]
    assert waits.tolist() == pytest.approx([1.0, 0.0], abs=1e-20)
    assert waited.tolist() == pytest.approx([0.0, 0.7], abs=1e-15)
    assert (law.bends > 0).all()
    assert (np.diff(law.bends) > 0).all()


@pytest.mark.parametrize("law", [law for law in LAWS if law.bends.size > 1], ids=repr)
def test_the_time_at_a_share_is_when_so_many_are_left(law):
    shares = np.array([1.0, 1 - 1e-6, 0.9, 0.5, 0.01, 1e-12, 1e-200])
    times = law.time_at(shares)
    assert times[0] == 0
    seen = times > 0  # the most hasty may be gone before any time a number can tell
    assert seen[3:].all()
    assert (np.diff(times[seen]) > 0).all()
    np.testing.assert_allclose(law.at(times)[0][seen], shares[seen], rtol=1e-6)


def test_those_who_all_give_up_at_once_do_so_at_the_mean():
    assert DeterministicPatience(3.0).time_at(np.array([1.0, 0.999, 1e-9])).tolist() == [0.0, 3.0, 3.0]


@pytest.mark.parametrize("law", [GammaPatience, WeibullPatience])
def test_a_squared_cv_of_one_is_exponential(law):
    for one, other in zip(law(0.7, 1.0).at(TIMES), ExponentialPatience(0.7).at(TIMES), strict=True):
        np.testing.assert_allclose(one, other, rtol=2e-14, atol=0)


def test_a_mix_of_almost_equal_laws_is_almost_exponential():
    gaps = []
    for excess in (1e-2, 1e-4):
        found = HyperexponentialPatience(0.7, 1 + excess).at(TIMES)[0]
        gaps.append(np.abs(found - ExponentialPatience(0.7).at(TIMES)[0]).max())
    assert gaps[0] / gaps[1] == pytest.approx(100, rel=0.02)


@given(st.sampled_from(TWO), st.floats(1.05, 50.0), st.floats(1e-3, 1e3), st.floats(1e-6, 50.0))
def test_times_scale_with_the_mean_and_shares_do_not(law, scv, mean, t):
    one, other = law(1.0, scv).at(np.array([t])), law(mean, scv).at(np.array([t * mean]))
    assert other[0][0] == pytest.approx(one[0][0], rel=1e-11)
    assert other[1][0] == pytest.approx(one[1][0], rel=1e-11)
    assert other[2][0] == pytest.approx(mean * one[2][0], rel=1e-12)


@pytest.mark.parametrize("mean", [0, -1.0, math.inf, math.nan, "long", None, True])
@pytest.mark.parametrize("law", [ExponentialPatience, DeterministicPatience])
def test_a_mean_out_of_range_is_refused(law, mean):
    with pytest.raises(ScenarioError, match="mean"):
        law(mean)


@pytest.mark.parametrize("law", TWO)
@pytest.mark.parametrize("scv", [0, -0.5, math.inf, math.nan, "some", None, True])
def test_a_squared_cv_out_of_range_is_refused(law, scv):
    with pytest.raises(ScenarioError, match="scv"):
        law(1.0, scv)
    with pytest.raises(ScenarioError, match="mean"):
        law(0.0, 2.0)


@pytest.mark.parametrize(
    ("law", "scv", "limit", "way_out"),
    [
        (GammaPatience, 1e-7, "1e-06", "DeterministicPatience"),
        (LognormalPatience, 1e5, "10000", "CurvePatience"),
        (HyperexponentialPatience, 1.0, "above 1", "ExponentialPatience"),
        (HyperexponentialPatience, 0.5, "above 1", "GammaPatience"),
    ],
)
def test_refusals_say_the_value_the_limit_and_the_way_out(law, scv, limit, way_out):
    with pytest.raises(ScenarioError) as refusal:
        law(1.0, scv)
    for part in (repr(scv), limit, way_out):
        assert part in str(refusal.value)
