"""Many rows over shared panels, against each row over panels of its own."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from staffing.models import shared_panels
from staffing.models.offered_wait import OfferedWait, own_integrals
from staffing.models.patience import (
    DeterministicPatience,
    GammaPatience,
    HyperexponentialPatience,
    LognormalPatience,
    WeibullPatience,
)
from staffing.models.patience_curve import CurvePatience
from staffing.models.patient_queue import joined, log_reached
from staffing.models.performance import Sums
from staffing.models.waiting_places import log_fits

CURVE = [(0, 1), (0.1, 1), (0.3, 0.8), (1.5, 0.3), (1.6, 0.02)]
FAMILIES = [
    lambda mean, scv: DeterministicPatience(mean),
    lambda mean, scv: GammaPatience(mean, max(scv, 1e-4)),
    WeibullPatience,
    LognormalPatience,
    lambda mean, scv: HyperexponentialPatience(mean, 1 + scv),
    lambda mean, scv: CurvePatience([(t * mean / 0.9, share) for t, share in CURVE]),
]
ORDINARY = [
    DeterministicPatience(1.0),
    GammaPatience(1.0, 0.5),
    GammaPatience(10.0, 0.5),
    WeibullPatience(1.0, 3.0),
    LognormalPatience(1.0, 1.5),
    HyperexponentialPatience(1.0, 1e4),
    CurvePatience(CURVE),
]
SIZE = shared_panels.MANY + 50


def on_days(seed, load=60.0, cv=0.1, spread=0.2, size=SIZE):
    """Arrival rates and capacities of days."""
    generator = np.random.default_rng(seed)
    lam = load * (generator.gamma(cv**-2, cv**2, size) if cv else np.ones(size))
    return np.maximum(lam, 1e-9 * load), 1.1 * load * np.exp(spread * generator.standard_normal(size))


def idle_rows(s, total=3.0, agents=5):
    idle = np.zeros((s.size, 10))
    idle[:, 0], idle[:, 1], idle[:, 2], idle[:, 3], idle[:, 4] = 1.0, total, 1.5 * total, s, agents
    return idle


def counted(monkeypatch):
    """The numbers of rows that get panels of their own from now on."""
    sizes = []

    def noted(*arguments):
        sizes.append(arguments[2].size)
        return own_integrals(*arguments)

    monkeypatch.setattr(shared_panels, "own_integrals", noted)
    return sizes


# --- each row is its own ---


@settings(deadline=None, max_examples=30)
@given(
    st.sampled_from(FAMILIES),
    st.floats(-1, 1.5),
    st.floats(-6, 4),
    st.floats(-2, 4),
    st.sampled_from([0.0, 0.1, 0.3, 1.0]),
    st.floats(-0.5, 0.5),
    st.sampled_from([0.02, 0.1, 0.4, 2.0]),
    st.sampled_from([0.0, 0.1, 1.0, 10.0, math.inf]),
    st.sampled_from([None, 0.0, 1.0, 20.0, "root", "load"]),
    st.floats(-8, 3),
    st.integers(0, 2**30),
)
def test_any_rows_are_each_their_own(
    family, log_mean, log_scv, log_load, cv, log_ratio, spread, threshold, places, log_total, seed
):
    """The greatest difference seen over 1,300 such centres was 6e-10 of a measure, and 6e-12 of all but one."""
    law, load = family(10**log_mean, 10**log_scv), 10**log_load
    lam, s = on_days(seed, load, cv, spread)
    idle = idle_rows(s * 10**log_ratio, 10**log_total)
    most = None
    if places is not None:
        idle[:, 4] -= np.arange(SIZE) % 3
        most = 5 + int({"root": 5 * math.sqrt(load), "load": 2 * load}.get(places, places))
    found = joined(law, lam, threshold * law.mean, idle, most)
    for row in range(0, SIZE, 37):
        alone = joined(law, float(lam[row]), threshold * law.mean, idle[row], most)
        rounding = 1e-13 * lam[row] * law.mean
        np.testing.assert_allclose(found[row, :-1], alone[:-1], rtol=1e-9 + rounding, atol=3e-17)
        np.testing.assert_allclose(found[row, -1], alone[-1], rtol=1e-11, atol=1e-10 + rounding)


@pytest.mark.parametrize("law", ORDINARY, ids=repr)
@pytest.mark.parametrize("most", [None, 90])
def test_on_ordinary_days_hardly_a_row_needs_panels_of_its_own(monkeypatch, law, most):
    own = counted(monkeypatch)
    for load in (3.0, 60.0, 1000.0):
        lam, s = on_days(1, load, size=2000)
        joined(law, lam, 0.1, idle_rows(s), most)
        assert sum(own) < 0.1 * 2000
        own.clear()


@pytest.mark.parametrize("law", ORDINARY, ids=repr)
@pytest.mark.parametrize("most", [None, 15])
def test_one_row_more_changes_nothing_where_the_way_changes(monkeypatch, law, most):
    own = counted(monkeypatch)
    lam, s = on_days(2)
    idle, many = idle_rows(s), shared_panels.MANY
    few = joined(law, lam[: many - 1], 0.1, idle[: many - 1], most)
    assert sum(own) == many - 1
    own.clear()
    found = joined(law, lam[:many], 0.1, idle[:many], most)
    assert sum(own) < many / 2
    np.testing.assert_allclose(found[:-1], few, rtol=1e-10, atol=1e-12)


@pytest.mark.parametrize("law", ORDINARY, ids=repr)
@pytest.mark.parametrize("places", [None, 0.0, 12.0, 300.0])
@pytest.mark.parametrize("t", [0.0, 0.2, 1.3, 4.0])
def test_tails_of_many_capacities_are_each_their_own(law, places, t):
    _, s = on_days(3, size=250)
    rooms = None if places is None else np.full(s.size, places)
    found = log_reached(law, 60.0, s, t, rooms)
    for row in range(0, s.size, 17):
        room = None if rooms is None else rooms[row : row + 1]
        assert found[row] == pytest.approx(log_reached(law, 60.0, s[row : row + 1], t, room)[0], abs=1e-9)


def test_capacities_without_end_or_beginning_are_left_to_their_own_panels():
    law, (lam, s) = GammaPatience(1.0, 0.5), on_days(4)
    s[:3], lam[3:5] = [0.0, 1e-250, 1e12], [1e-12, 1e-200]
    found = joined(law, lam, 0.1, idle_rows(s))
    for row in range(6):
        alone = joined(law, float(lam[row]), 0.1, idle_rows(s[row : row + 1])[0])
        np.testing.assert_allclose(found[row], alone, rtol=1e-11, atol=1e-17)


# --- rows notice panels that do not do ---


@pytest.mark.parametrize("law", ORDINARY, ids=repr)
@pytest.mark.parametrize("places", [None, 20.0])
def test_panels_too_wide_are_noticed(monkeypatch, law, places):
    """However wide they are made: a row is left to its own panels, or right."""
    lam, s = on_days(5)
    rooms = None if places is None else np.full(s.size, places)
    left = []
    for wider in (2.0, 4.0, 8.0, 1e3):
        monkeypatch.setattr(shared_panels, "_ROUNDS", ((wider, 512),))
        own = counted(monkeypatch)
        *_, found = shared_panels.integrals(law, lam, s, rooms, 0.0, 0.1)
        left.append(sum(own))
        part = slice(0, 50)
        *_, alone = own_integrals(law, lam[part], s[part], None if rooms is None else rooms[part], 0.0, 0.1)
        miss = np.abs(found[:, part] - alone)
        assert (miss <= 1e-9 * alone + 1e-18 * alone[0]).all()
    assert left[0] < 0.2 * SIZE < 0.35 * SIZE < left[-1]


@pytest.mark.parametrize("load", [500.0, 3500.0])
@pytest.mark.parametrize("law", [DeterministicPatience(13.5), CurvePatience(CURVE)], ids=repr)
def test_what_lies_between_a_node_and_the_end_of_its_panel_is_noticed(monkeypatch, law, load):
    """Where v is steep beside a jump, all nodes of a panel may lie where it is next to nothing."""
    monkeypatch.setattr(shared_panels, "_ROUNDS", ((2.0, 512), (1.0, 128), (1e4, 128)))
    lam, s = on_days(10, load, cv=1.0, spread=0.4)
    idle = idle_rows(s)
    found = joined(law, lam, 0.1, idle)
    for first in range(0, SIZE, 90):
        part = slice(first, first + 90)
        alone = joined(law, lam[part], 0.1, idle[part])
        np.testing.assert_allclose(found[part], alone, rtol=1e-9, atol=1e-11)


@pytest.mark.parametrize("law", ORDINARY, ids=repr)
@pytest.mark.parametrize("start", [0.0, 0.5])
def test_panels_that_end_too_early_or_begin_too_late_are_noticed(law, start):
    lam, s = on_days(6)
    v = OfferedWait.of(law, lam, s, start, None)
    groups = shared_panels._groups(v, np.arange(s.size), 512)
    ((rows, ends), *_) = zip(groups, shared_panels._shared_ends(v, groups, 0.7, 1.0), strict=True)
    whole = shared_panels._over(v, rows, ends, 0.7)
    assert np.isnan(whole[:, 0]).mean() < 0.1
    for part in (ends[:-8], ends[ends > start + 0.3 / law.mean]):
        found = shared_panels._over(v, rows, part, 0.7)
        right = ~np.isnan(found[:, 0]) & ~np.isnan(whole[:, 0])
        np.testing.assert_allclose(found[right][:, :6], whole[right][:, :6], rtol=1e-10)
        assert right.mean() < 0.95


# --- what it is made of ---


@pytest.mark.parametrize("places", [0.0, 1.0, 7.0, 60.0, 101.0, 3000.0])
def test_the_table_of_places_is_the_law_of_poisson(places):
    most = 4 * (places + 25)
    table = shared_panels._fits_table(places, most)
    x = np.append(np.random.default_rng(7).uniform(0, most, 2000), [0.0, most])
    y = np.sqrt(x) / shared_panels._STEP
    at = y.astype(int)
    found = np.array([np.polyval(row[::-1], u) for row, u in zip(table[at], y - at, strict=True)])
    exact = log_fits(x, np.full(x.size, places))
    np.testing.assert_allclose(found, exact, rtol=1e-12, atol=1e-11)


@pytest.mark.parametrize("law", ORDINARY, ids=repr)
@pytest.mark.parametrize("places", [0.0, 3.0, 40.0])
def test_the_peak_with_places_is_the_greatest(law, places):
    lam, s = on_days(8, size=40)
    v = OfferedWait.of(law, lam, s, 0.0, np.full(s.size, places))
    times = np.concatenate([np.linspace(0, 3 * law.mean, 3000), v.peak * (1 + 1e-7), v.peak * (1 - 1e-7)])
    waited = law.at(times)[2]
    for row in range(s.size):
        fallen = v.drop(times, waited, np.full(times.size, row))
        assert fallen.min() > -1e-12
        assert fallen.min() < 1e-3


def test_measures_are_in_their_order():
    """In bounds for all rows, not only where a row of its own was looked at."""
    for law in ORDINARY:
        for most in (None, 12):
            lam, s = on_days(9, spread=0.5)
            found = Sums(*joined(law, lam, 0.1, idle_rows(s), most)[:, :-1].T)
            np.testing.assert_allclose(found.lost + found.answered + found.blocked, 1, atol=1e-12)
            assert (found.lost <= found.waits * (1 + 1e-12)).all()
            assert (found.answered_in_time <= found.answered).all()
