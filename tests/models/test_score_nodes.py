"""Quadrature over a normal score against integrals known in closed form, smooth, kinked and with sharp turns."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import norm

from staffing.models.score_nodes import FARTHEST, score_nodes

TURNS = st.floats(-7, 7)
WIDTHS = st.floats(-4, 2).map(lambda power: 10.0**power)


@pytest.mark.parametrize(
    ("turns", "width"),
    [([], 1.0), ([0.0], 1.0), ([-2.0, 1.5], 0.01), ([3.0, 3.0001], 1e-3), ([-9.0, 50.0], 5.0)],
)
def test_moments_of_the_normal_law(turns, width):
    z, weights = score_nodes(turns, width)
    for k, moment in enumerate((1, 0, 1, 0, 3, 0, 15, 0, 105)):
        assert weights @ z**k == pytest.approx(moment, abs=2e-11 + 2e-15 * 8**k)  # and what lies beyond 8
    assert weights @ np.exp(z) == pytest.approx(math.exp(0.5), rel=1e-11)
    assert weights @ np.cos(3 * z) == pytest.approx(math.exp(-4.5), abs=1e-8)


def test_forty_nodes_are_enough_for_a_smooth_function():
    z, weights = score_nodes([], 10.0)
    assert z.size == 40
    assert weights @ np.exp(0.5 * z) == pytest.approx(math.exp(0.125), rel=1e-11)


@given(st.lists(TURNS | st.sampled_from([-math.inf, math.inf, -8.0, 8.0, 0.0, 8.5]), max_size=3), WIDTHS)
def test_nodes_and_weights_are_fit_for_averages(turns, width):
    z, weights = score_nodes(turns, width)
    assert z.size == weights.size
    assert np.all(np.diff(z) > 0)
    assert np.all(np.abs(z) < FARTHEST)
    assert np.all(weights > 0)
    assert weights.sum() == pytest.approx(1, rel=1e-14)
    assert weights @ z**2 == pytest.approx(1, rel=1e-10)


@given(TURNS, WIDTHS)
def test_a_kink_at_a_turn(turn, width):
    """E (Z - t)^+ = phi(t) - t (1 - Phi(t)), whatever width is told."""
    z, weights = score_nodes([turn], width)
    exact = norm.pdf(turn) - turn * norm.sf(turn)
    assert weights @ np.maximum(z - turn, 0) == pytest.approx(exact, abs=1e-11)


@given(TURNS, WIDTHS)
def test_a_jump_at_a_turn(turn, width):
    z, weights = score_nodes([turn], width)
    assert weights @ (z > turn) == pytest.approx(norm.sf(turn), abs=1e-11)


@given(TURNS, WIDTHS)
def test_a_sharp_but_smooth_step_at_a_turn(turn, width):
    """E Phi((Z - t) / w) = Phi(-t / sqrt(1 + w^2)): panels must widen no faster than the step flattens."""
    z, weights = score_nodes([turn], width)
    exact = norm.cdf(-turn / math.hypot(1, width))
    assert weights @ norm.cdf((z - turn) / width) == pytest.approx(exact, abs=1e-9)


@given(TURNS, TURNS, WIDTHS)
def test_two_turns_however_near(one, two, width):
    z, weights = score_nodes([one, two], width)
    for turn in (one, two):
        exact = norm.pdf(turn) - turn * norm.sf(turn)
        assert weights @ np.maximum(z - turn, 0) == pytest.approx(exact, abs=1e-11)


def test_a_narrow_turn_costs_few_nodes():
    for width in (1e-2, 1e-4, 1e-6, 1e-9):
        z, _ = score_nodes([0.7], width)
        assert z.size <= 20 * 2 * (2 + math.log(16 / max(width, 1e-6), 4))
