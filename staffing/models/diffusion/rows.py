"""Rows of sums whose queue is one law's and whose waits, given that one waits, are another's."""

import numpy as np
from numpy.typing import NDArray

from staffing.models.shared_queue import Callers, Vector, closure_days


def rows_given_wait(
    callers: Callers, arrival_rates: Vector, agents: NDArray[np.int64], capacities: Vector
) -> Vector:
    """Rows from which `with_queue` takes the wait of those who wait: it depends on the capacity alone.

    So they are those of one agent of all the capacity; without agents or calls, and where the queue grows without end,
    they are the answer.
    """
    rows = closure_days(callers, arrival_rates, np.minimum(agents, 1), capacities, 0.0)
    if callers.arrival_rate > 0:
        rows[agents > 0, 6] = agents[agents > 0]
    return rows


def with_queue(
    rows: Vector,
    arrival_rates: Vector,
    agents: NDArray[np.int64],
    abandonment_rate: float,
    *,
    wait: Vector,
    queue: Vector,
    idle: Vector,
) -> Vector:
    """The rows with this P(wait), mean queue and mean number of idle agents, and the law of wait they have given wait.

    What is lost is theta queue / lam; the wait of those answered has its share of the mean wait as in the rows.
    """
    given_wait = wait / rows[:, 0]
    new = np.empty_like(rows)
    new[:, 0] = wait
    new[:, 1] = queue
    new[:, 2] = np.minimum(abandonment_rate * queue / arrival_rates, 1.0)
    new[:, 3] = rows[:, 3] * queue / rows[:, 1]
    new[:, 5] = rows[:, 5] * given_wait
    new[:, 6] = np.maximum(agents - idle, 0.0)
    new[:, 7] = 1.0 - new[:, 2]
    new[:, 8] = 0.0
    # Those who wait and are answered in time, of those who wait.
    in_time = np.maximum(rows[:, 4] - (1.0 - rows[:, 0]), 0.0)
    new[:, 4] = np.minimum(1.0 - wait + in_time * given_wait, new[:, 7])
    with np.errstate(divide="ignore"):
        new[:, -1] = rows[:, -1] + np.log(given_wait)
    return new
