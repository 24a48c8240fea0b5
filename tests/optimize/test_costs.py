import dataclasses
import math

import pytest

from staffing.optimize.costs import Costs

VALUES = {"mean_queue": 3.0, "abandonment_probability": 0.1, "blocking_probability": 0.04}


def test_an_hour_costs_its_agents_its_queue_and_its_lost_calls():
    costs = Costs(agent=30, waiting=20, losing=2.5 * 1200)
    parts = {"agents": 1800, "waiting": 60, "abandonment": 300, "blocking": 120}
    assert costs.parts(60, VALUES) == pytest.approx(parts)
    assert costs.total(60, VALUES) == pytest.approx(2280)


def test_what_has_no_price_costs_nothing_however_much_there_is_of_it():
    endless = {"mean_queue": math.inf, "abandonment_probability": 1.0, "blocking_probability": 0.0}
    free = {"agents": 5, "waiting": 0, "abandonment": 0, "blocking": 0}
    assert Costs(agent=1).parts(5, endless) == free
    assert Costs(agent=1, losing=100).total(5, endless) == 105
    assert Costs(agent=1, waiting=1e-9).total(5, endless) == math.inf


@pytest.mark.parametrize(
    ("prices", "trade_off"), [({}, False), ({"waiting": 0.1}, True), ({"losing": 0.1}, True)]
)
def test_a_price_on_anything_but_agents_is_a_trade_off(prices, trade_off):
    assert Costs(agent=1, **prices).trade_off is trade_off


def test_prices_cannot_be_changed():
    with pytest.raises(dataclasses.FrozenInstanceError):
        Costs(agent=1).agent = 2  # type: ignore[misc]
