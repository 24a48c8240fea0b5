"""What any number of agents comes to, in thousands of random scenarios, enough agents or not.

`scenarios.fields_of` tells what is covered, `properties.assert_sound_level` what is asserted of every level; where the
formulas say that another agent never hurts a caller, none does. Seeds and hypothesis share the work as for plans.
"""

import time
from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from staffing import Scenario, ScenarioError, evaluate_staffing
from tests.hostile.properties import (
    assert_another_agent_never_hurts,
    assert_readable,
    assert_same_table,
    assert_shown_curve,
    assert_sound_level,
    assert_waits,
)
from tests.hostile.scenarios import agents_near, fields_of, options_of

PARTS, PER_PART = 60, 100
LONGEST = 20.0
"""Seconds of the processor after which levels count as hanging; the mean takes 0.01."""
FIRST = 1_000_000
"""Seed of the first scenario, far from those of the plans."""


def levels_or_refusal(random):
    """Two neighbouring levels of a random scenario and one apart, None if they were refused as they should be."""
    try:
        scenario = Scenario.from_fields(fields_of(random))
        n = agents_near(random, scenario.offered_load)
        agents = [n, n + 1, agents_near(random, scenario.offered_load)]
        curve = evaluate_staffing(scenario, agents=agents, **options_of(random, scenario.offered_load))
    except ScenarioError as error:
        assert_readable(error)
        return None
    assert [level.agents for level in curve] == agents
    for level in curve:
        assert_sound_level(level, scenario)
    assert_another_agent_never_hurts(*curve[:2])
    assert_shown_curve(curve)
    return curve


@pytest.mark.slow
@pytest.mark.parametrize("part", range(PARTS))
def test_every_level_is_sound(part, tmp_path):
    answered = 0
    for seed in range(FIRST + part * PER_PART, FIRST + (part + 1) * PER_PART):
        begun = time.process_time()
        try:
            if curve := levels_or_refusal(Random(seed)):
                answered += 1
                if seed % 4 == 0:
                    assert_waits(curve[-1].performance)
                    curve.to_csv(tmp_path / "curve.csv")
                    assert_same_table(tmp_path / "curve.csv", curve.to_frame())
        except Exception as error:
            raise AssertionError(f"fields_of(Random({seed})) = {fields_of(Random(seed))}") from error
        assert time.process_time() - begun < LONGEST, f"fields_of(Random({seed})) takes too long"
    # Seven in eight are answered: five standard errors below.
    assert answered > 0.7 * PER_PART


@given(st.randoms(use_true_random=False))
@settings(max_examples=50)
def test_a_level_is_sound(random):
    levels_or_refusal(random)
