"""Plans of thousands of random scenarios, ordinary and absurd: each is sound, or refused in words.

`scenarios.fields_of` tells what is covered, `properties.assert_sound_plan` what is asserted. The bulk comes from seeds,
one scenario each, since hypothesis would take longer to draw scenarios than they take to solve; a failure names its
seed. A smaller part is hypothesis's, which shrinks what it finds and, with its "search" profile, looks for more.
"""

import time
from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from staffing import Scenario, StaffingError, optimize_staffing
from tests.hostile.properties import (
    assert_readable,
    assert_same_table,
    assert_sound_check,
    assert_sound_plan,
    assert_waits,
)
from tests.hostile.scenarios import fields_of, options_of

PARTS, PER_PART = 40, 100
LONGEST = 20.0
"""Seconds of the processor after which a plan counts as hanging; the slowest known take 5, the mean 0.02."""


def plan_or_refusal(random):
    """The plan of a random scenario, None if it was refused as it should be."""
    try:
        scenario = Scenario.from_fields(fields_of(random))
        plan = optimize_staffing(scenario, check=False, **options_of(random, scenario.offered_load))
    except StaffingError as error:
        assert_readable(error)
        return None
    assert_sound_plan(plan)
    return plan


@pytest.mark.slow
@pytest.mark.parametrize("part", range(PARTS))
def test_every_plan_is_sound(part, tmp_path):
    plans = 0
    for seed in range(part * PER_PART, (part + 1) * PER_PART):
        begun = time.process_time()
        try:
            if plan := plan_or_refusal(Random(seed)):
                plans += 1
                if seed % 4 == 0:
                    assert_waits(plan.performance)
                    plan.to_csv(tmp_path / "plan.csv")
                    assert_same_table(tmp_path / "plan.csv", plan.to_frame())
        except Exception as error:
            raise AssertionError(f"fields_of(Random({seed})) = {fields_of(Random(seed))}") from error
        assert time.process_time() - begun < LONGEST, f"fields_of(Random({seed})) takes too long"
    # Three in four are answered, the others ask for what nobody can do: five standard errors below.
    assert plans > 0.54 * PER_PART


@given(st.randoms(use_true_random=False))
@settings(max_examples=50)
def test_a_plan_is_sound(random):
    plan_or_refusal(random)


@pytest.mark.slow
def test_every_check_is_sound():
    """Whatever little time it has; what it says of the formulas is tested where it has more."""
    checks = 0
    for seed in range(150):
        fields = fields_of(Random(seed))
        if fields["calls_per_hour"] * fields.get("mean_handle_seconds", 1) > 1e5:
            continue
        try:
            plan = optimize_staffing(**fields, check_seconds=0.02, method="closure", seed=seed)
        except StaffingError as error:
            assert_readable(error)
            continue
        assert_sound_check(plan)
        checks += 1
    assert checks > 25
