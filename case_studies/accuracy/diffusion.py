"""The diffusion limit given the capacity, for comparison with the package's other methods."""

import numpy as np
from numpy.typing import ArrayLike, NDArray

from staffing.models.diffusion.piecewise_ou import PiecewiseOU


def diffusion(
    arrival_rate: float, capacity: ArrayLike, theta: float, agents: int, g: ArrayLike, variance: ArrayLike
) -> dict[str, NDArray[np.float64]]:
    """P(wait), the mean queue and P(abandon) by the limit: `g` pulls idle agents back to work, `theta` the queue."""
    law = PiecewiseOU((arrival_rate - np.asarray(capacity)) / np.sqrt(agents), g, theta, variance)
    queue = np.sqrt(agents) * law.mean_above
    return {
        "wait_probability": law.above,
        "mean_queue": queue,
        "abandonment_probability": theta * queue / arrival_rate,
    }
