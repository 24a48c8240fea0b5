"""How long a queue remembers its start: by rule of thumb and by the second eigenvalue of its chain."""

import math
from itertools import product

import numpy as np
import pytest
from scipy.linalg import eigvalsh_tridiagonal

from staffing.models.simulation.warm_up import relaxation_time, settles, warm_up_calls


def test_relaxation_time():
    rates = np.array([[1.0, 3.0, 5.0], [0.1, 0.1, 0.1], [2.0, 1.0, 1.0]])
    found = relaxation_time(rates, 4.0, 0.5)
    assert found == pytest.approx([1 / 3 + 1, 10 + 2, 3 / 4 + 2])
    assert relaxation_time(rates[0], 4.0, 0.0) == pytest.approx(1 / 3 + 1)
    assert relaxation_time(rates[0], 9.0, 0.0) == math.inf
    assert relaxation_time(rates[0], 9.0, math.inf) == pytest.approx(1 / 3)
    assert relaxation_time(np.zeros(0), 9.0, 0.5) == 2
    np.testing.assert_array_equal(warm_up_calls(rates, 4.0, 0.5), [27, 240, 55])  # five relaxation times
    assert warm_up_calls(np.ones(3), 3.0, 0.0) == 2_000_000
    assert warm_up_calls(np.ones(300), 1e-3, 1.0) == 20


def test_relaxation_time_where_places_end_the_queue():
    one = np.ones(4)
    assert relaxation_time(one, 9.0, 0.0, max_calls=4) == pytest.approx(1 + 1 / 9)
    assert relaxation_time(one, 9.0, 0.0, max_calls=104) == pytest.approx(1 + 100 / 5 + 1)
    assert relaxation_time(one, 9.0, 0.5, max_calls=104) == pytest.approx(1 + 2)
    assert relaxation_time(one, 4.0, 0.0, max_calls=13) == pytest.approx(1 + 100 / 4)
    assert relaxation_time(one, 1.0, 0.0, max_calls=10**30) == relaxation_time(one, 1.0, 0.0) == 2
    absent = np.array([[1.0, 1.0, 0.0], [0.0, 0.0, 0.0], [2.0, 1.0, 1.0]])
    found = relaxation_time(absent, np.array([2.0, 4.0, 1.0]), 0.0, max_calls=4)
    assert found == pytest.approx([1 + 9 / 2, 4 / 4 + 1 / 4, 3 / 4 + 1 / (2 - 1) ** 2])
    assert settles(absent, 2.0, 0.0, max_calls=4)
    assert not settles(absent, 2.0, 0.0)
    assert not settles(one, 9.0, 0.0, max_calls=10**7)
    assert warm_up_calls(one, 9.0, 0.0, max_calls=104) == 5 * 9 * 22


def test_variable_gaps_are_remembered_longer():
    rates = np.ones(4)
    assert relaxation_time(rates, 1.0, 0.0, arrival_scv=4.0) == pytest.approx(1 + 2.5)
    assert relaxation_time(rates, 1.0, 0.0, arrival_scv=0.0) == relaxation_time(rates, 1.0, 0.0)
    assert relaxation_time(rates, 9.0, 0.0, max_calls=104, arrival_scv=4.0) == pytest.approx(1 + 20 + 2.5)


def true_relaxation_time(agents, lam, theta, places):
    """Of the chain of calls in the system, agents being alike and of rate 1."""
    state = np.arange(1, agents + places + 1)
    up = np.full(state.size, lam)
    down = np.minimum(state, agents) + theta * np.maximum(state - agents, 0)
    diagonal = np.append(up, 0) + np.append(0, down)
    return 1 / np.sort(eigvalsh_tridiagonal(diagonal, np.sqrt(up * down)))[1]


@pytest.mark.parametrize("agents", [1, 2, 5, 20, 100])
def test_it_is_not_below_the_true_one_for_agents_alike(agents):
    loads = (0.1, 0.3, 0.5, 0.7, 0.9, 0.95, 1.0, 1.05, 1.1, 1.5, 3.0)
    for load, theta, places in product(loads, (0.0, 0.1, 0.5, 2.0), (0, 1, 2, 5, 20, 100)):
        true = true_relaxation_time(agents, load * agents, theta, places)
        found = relaxation_time(np.ones(agents), load * agents, theta, max_calls=agents + places)
        assert found > true, (load, theta, places)
