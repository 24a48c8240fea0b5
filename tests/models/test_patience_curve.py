"""Patience by a curve from data: between, after and at its points; what is refused."""

import math

import mpmath
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from mpmath import mpf

from staffing.models.errors import ScenarioError
from staffing.models.patience import ExponentialPatience
from staffing.models.patience_curve import CurvePatience
from tests.models import plain_patience

ENDLESS = [(0, 1), (0.1, 0.97), (0.4, 0.97), (0.5, 0.6), (2.0, 0.2)]
EMPTIES = [(0, 1), (0.1, 0.97), (0.5, 0.6), (2.0, 0.0)]
TIMES = np.array([0.0, 1e-6, 0.05, 0.1, 0.2, 0.41, 0.5, 1.9, 2.0, 7.0])


@pytest.mark.parametrize("points", [ENDLESS, EMPTIES], ids=["goes on", "empties"])
def test_the_curve_is_straight_in_its_log_and_its_area_is_the_time_waited(points):
    plain = plain_patience.curve(points)
    found = CurvePatience(points).at(TIMES)
    with mpmath.workdps(30):
        for k, t in enumerate(TIMES.tolist()):
            for mine, f in zip(found, (plain.survival, plain.given_up, plain.waited), strict=True):
                assert mine[k] == pytest.approx(float(f(mpf(t))), rel=1e-14, abs=1e-17)


def test_at_its_points_the_curve_is_the_data():
    for points in (ENDLESS, EMPTIES):
        for time, share in points:
            assert CurvePatience(points).survival(time) == pytest.approx(share, rel=1e-15, abs=1e-16)


def test_after_the_last_point_the_rate_of_the_last_stretch_goes_on():
    law = CurvePatience(ENDLESS)
    rate = math.log(0.6 / 0.2) / 1.5
    assert law.survival(5.0) == pytest.approx(0.2 * math.exp(-3 * rate), rel=1e-14)
    assert law.mean == pytest.approx(law.at(np.array([2.0]))[2][0] + 0.2 / rate, rel=1e-14)
    assert CurvePatience(EMPTIES).survival(2.5) == 0
    assert CurvePatience(EMPTIES).mean == CurvePatience(EMPTIES).at(np.array([2.0]))[2][0]


@given(st.lists(st.floats(0.05, 30.0), min_size=1, max_size=8, unique_by=lambda t: round(t, 2)))
def test_points_of_an_exponential_law_give_it_back(times):
    law = ExponentialPatience(1.3)
    points = [(0.0, 1.0), *((t, law.survival(t)) for t in sorted(times))]
    found = CurvePatience(points)
    t = np.geomspace(1e-3, 40, 50)
    assert found.mean == pytest.approx(1.3, rel=1e-12)
    for one, other in zip(found.at(t), law.at(t), strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-11)


@pytest.mark.parametrize("points", [ENDLESS, EMPTIES], ids=["goes on", "empties"])
def test_the_time_at_a_share_is_when_so_many_are_left(points):
    law = CurvePatience(points)
    shares = np.array([1.0, 0.99, 0.97, 0.9, 0.6, 0.3, 0.2, 0.1, 1e-5])
    times = law.time_at(shares)
    assert (np.diff(times) > 0).all()
    np.testing.assert_allclose(law.at(times)[0], shares, rtol=1e-9)


def test_points_are_part_of_what_the_law_is():
    assert CurvePatience(ENDLESS) == CurvePatience(tuple(ENDLESS))
    assert CurvePatience(ENDLESS) != CurvePatience(EMPTIES)
    assert hash(CurvePatience(ENDLESS)) == hash(CurvePatience(tuple(ENDLESS)))
    assert "0.97" in repr(CurvePatience(ENDLESS))


@pytest.mark.parametrize(
    ("points", "parts"),
    [
        ([(0, 1), (10, 0.5), (20, 0.6)], ["points[2]", "0.6", "0.5", "does not come back"]),
        ([(0, 0.9), (10, 0.5)], ["points[0]", "(0, 0.9)", "(0, 1)"]),
        ([(5, 1), (10, 0.5)], ["points[0]", "(5, 1)", "(0, 1)"]),
        ([(0, 1), (20, 0.5), (10, 0.4)], ["points[2]", "10", "20", "sort"]),
        ([(0, 1), (10, 0.5), (10, 0.4)], ["points[2]", "10", "one per time"]),
        ([(0, 1), (10, 80)], ["points[1]", "80", "[0, 1]", "0.8"]),
        ([(0, 1), (10, -0.1)], ["points[1]", "-0.1", "[0, 1]"]),
        ([(0, 1), (10, 0.5), (20, 0.5)], ["10", "0.5", "never gives up", "fewer"]),
        ([(0, 1), (10, 1)], ["never gives up"]),
        ([(0, 1), (10, 0), (20, 0)], ["points[1]", "nobody is left", "leave out"]),
        ([(0, 1), (math.inf, 0.5)], ["points[1]", "finite"]),
        ([(0, 1)], ["1 given", "two"]),
        ([], ["0 given", "two"]),
        ([(0, 1), (10, "half")], ["points[1] share", "half"]),
        ([(0, 1), (math.nan, 0.5)], ["points[1] time", "nan"]),
        ([(0, 1), 10], ["pairs"]),
        (7, ["pairs"]),
    ],
)
def test_refusals_say_which_point_its_value_and_the_limit(points, parts):
    with pytest.raises(ScenarioError) as refusal:
        CurvePatience(points)
    for part in parts:
        assert part in str(refusal.value)


def test_all_faults_are_told_at_once():
    with pytest.raises(ScenarioError) as refusal:
        CurvePatience([(0, 0.9), (10, 0.95), (5, 2)])
    assert len(refusal.value.problems) >= 4
