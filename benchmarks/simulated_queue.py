"""The queue that every simulator is given, what it must tell of it, and whether that is true."""

import math
import statistics
from typing import NamedTuple

import pytest

from staffing.models.performance import Performance

AGENTS = 100
ARRIVAL_RATE = 100.0
ABANDONMENT_RATE = 0.5
"""Patience lasts two services; a service is the unit of time."""

WARM_UP_CALLS = 1_000
"""Ten services: left out by all, though timed, as some start empty."""
CALLS = 50_000
REPLICATIONS = 10

STANDARD_ERRORS = 5.0
"""An answer further off than this is wrong. By chance it is in 0.07% of cases (Student's law, 9 degrees of freedom)."""


class Answer(NamedTuple):
    """What one replication found, over all calls."""

    wait_probability: float
    mean_wait: float
    abandonment_probability: float


def assert_agree(answers: list[Answer], exact: Performance) -> None:
    """The mean of independent replications is the exact law's, within its own standard error."""
    for name in Answer._fields:
        mean, error = mean_and_error([getattr(answer, name) for answer in answers])
        true = getattr(exact, name)
        assert error < 0.05 * true, name  # a large error would agree with anything
        assert mean == pytest.approx(true, abs=STANDARD_ERRORS * error), name
    # Whatever the queue, callers give up at rate theta while they wait: sharper than either of the two measures.
    difference, error = mean_and_error(
        [answer.abandonment_probability - ABANDONMENT_RATE * answer.mean_wait for answer in answers]
    )
    assert error < 0.02 * exact.abandonment_probability
    assert abs(difference) < STANDARD_ERRORS * error


def mean_and_error(values: list[float]) -> tuple[float, float]:
    """The mean of independent values and its standard error."""
    return statistics.fmean(values), statistics.stdev(values) / math.sqrt(len(values))
