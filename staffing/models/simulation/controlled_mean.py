"""The mean of a sample, with less noise by what is known of its causes."""

import math

import numpy as np
from numpy.typing import NDArray


def enough(size: int, controls: int) -> bool:
    """Whether a sample of this size can bear a regression on so many controls."""
    return size > 4 * controls + 4


def controlled_mean(sample: NDArray[np.float64], controls: NDArray[np.float64]) -> tuple[float, float]:
    """The mean of a sample corrected by linear regression on controls of mean zero, and its standard error.

    Parameters
    ----------
    sample : ndarray, shape (m,)
        Independent values.
    controls : ndarray, shape (m, k)
        What is correlated with them and known to have mean zero.

    Returns
    -------
    mean, standard_error : float
        The error has m - 1 - k degrees of freedom, or m - 1 and no correction if m is not `enough`.
        Unbiased if sample and controls are jointly normal, else with a bias of order 1 / m. Infinite values give an
        infinite mean and error.

    References
    ----------
    Lavenberg and Welch (1981), A perspective on the use of control variables to increase the efficiency of Monte
    Carlo simulations.
    """
    m = sample.size
    if not np.all(np.isfinite(sample)):
        return math.inf, math.inf
    mean = float(sample.mean())
    if np.all(sample == sample[0]):
        return mean, 0.0
    varying = controls[:, np.ptp(controls, axis=0) > 0]
    k = varying.shape[1]
    if k == 0 or not enough(m, k):
        return mean, math.sqrt(float(sample.var(ddof=1)) / m)
    # Of one size, or the inverse would take the small for rounding errors of the large.
    design = np.column_stack([np.ones(m), varying / varying.std(axis=0)])
    inverse = np.linalg.pinv(design.T @ design)
    coefficients = inverse @ (design.T @ sample)
    residual = sample - design @ coefficients
    variance = float(residual @ residual) / (m - 1 - k)
    return float(coefficients[0]), math.sqrt(variance * float(inverse[0, 0]))
