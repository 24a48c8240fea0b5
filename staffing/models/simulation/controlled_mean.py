"""The mean of a sample, with less noise by what is known of its causes."""

import math

import numpy as np
from numpy.typing import NDArray


def controlled_mean(sample: NDArray[np.float64], controls: NDArray[np.float64]) -> tuple[float, float]:
    """The mean of a sample corrected by linear regression on controls of mean zero, and its standard error.

    Parameters
    ----------
    sample : ndarray, shape (m,)
        Independent values.
    controls : ndarray, shape (m, k)
        What is correlated with them and known to have mean zero. Used if m > 4 k + 4; the standard error has
        m - 1 - k degrees of freedom then and m - 1 otherwise.

    Returns
    -------
    mean, standard_error : float
        Unbiased if sample and controls are jointly normal, else with a bias of order 1 / m. Infinite values give an
        infinite mean and error.

    References
    ----------
    Lavenberg and Welch (1981), A perspective on the use of control variables to increase the efficiency of Monte
    Carlo simulations.
    """
    m, k = controls.shape
    if not np.all(np.isfinite(sample)):
        return math.inf, math.inf
    mean = float(sample.mean())
    if np.all(sample == sample[0]):
        return mean, 0.0
    varying = controls[:, np.ptp(controls, axis=0) > 0]
    k = varying.shape[1]
    if k == 0 or m <= 4 * k + 4:
        return mean, math.sqrt(float(sample.var(ddof=1)) / m)
    design = np.column_stack([np.ones(m), varying])
    inverse = np.linalg.pinv(design.T @ design)
    coefficients = inverse @ (design.T @ sample)
    residual = sample - design @ coefficients
    variance = float(residual @ residual) / (m - 1 - k)
    return float(coefficients[0]), math.sqrt(variance * float(inverse[0, 0]))
