"""Laws by quantiles at even steps: what they mean, and what is refused."""

import math

import numpy as np
import pytest

from staffing.models.errors import ScenarioError
from staffing.models.simulation import _kernels as kernels
from staffing.models.simulation.quantile_tables import gap_table, patience_table, table_mean, table_scv

TABLE = np.array([0.0, 0.0, 0.5, 0.6, 3.0])


def test_values_in_between_are_even():
    shares = np.linspace(0, 1, 1000, endpoint=False)
    found = [kernels.quantile(share, TABLE) for share in shares]
    np.testing.assert_allclose(found, np.interp(shares, np.linspace(0, 1, TABLE.size), TABLE), atol=1e-14)


def test_the_cell_below_infinity_is_infinite():
    found = [kernels.quantile(share, np.array([0.0, 1.0, math.inf])) for share in (0.0, 0.49, 0.5, 0.99)]
    assert found == pytest.approx([0.0, 0.98, math.inf, math.inf])


def test_mean_and_variability_are_those_of_the_law():
    values = np.interp((np.arange(10**6) + 0.5) / 10**6, np.linspace(0, 1, TABLE.size), TABLE)
    assert table_mean(TABLE) == pytest.approx(values.mean(), rel=1e-9)
    table = gap_table(7 * TABLE)
    assert table_mean(table) == pytest.approx(1, rel=1e-15)
    assert table == pytest.approx(TABLE / values.mean())
    assert table_scv(table) == pytest.approx(values.var() / values.mean() ** 2, rel=1e-9)
    assert table_scv(gap_table(np.array([2.0, 2.0]))) == 0
    assert table_scv(gap_table(np.array([0.0, 5.0]))) == pytest.approx(1 / 3)


def test_none_is_empty():
    assert gap_table(None).size == gap_table(np.empty(0)).size == patience_table(None).size == 0


WRONG = [[1.0], [0.0, math.nan], [math.nan, 1.0], [1.0, 0.5], [-1.0, 1.0], [[0.0, 1.0], [0.0, 1.0]]]


@pytest.mark.parametrize("quantiles", WRONG)
def test_what_is_no_table_is_refused(quantiles):
    for name, table in (("patience_quantiles", patience_table), ("gap_quantiles", gap_table)):
        with pytest.raises(ScenarioError, match=f"{name}: must be two or more numbers from 0 up"):
            table(np.array(quantiles))


@pytest.mark.parametrize("quantiles", [[0.0, 0.0], [1.0, math.inf], [math.inf, math.inf]])
def test_gaps_need_a_mean(quantiles):
    with pytest.raises(ScenarioError, match=f"gap_quantiles: the last is {quantiles[-1]:g}, must be above 0"):
        gap_table(np.array(quantiles))


@pytest.mark.parametrize("scale", [1.7e308, 1e-300])
def test_gaps_may_be_in_any_unit(scale):
    assert gap_table(scale * np.array([0.0, 1.0, 1.0])) == pytest.approx([0, 4 / 3, 4 / 3])
