"""The queue with so many places to wait in, state by state, where callers give up at a constant rate or never.

With k callers waiting the weight against "all agents busy, nobody waits" is p_k = p_(k-1) lam / (S + k theta), up to
k = K. A call that finds k < K waiting is offered the wait V of k + 1 departures. With H = (1 - exp(-theta t)) / theta

    P(V > t | k) = sum_(j <= k) delta_j,    delta_0 = exp(-S t),    delta_(j+1) = delta_j H (S + j theta) / (j + 1)

(a negative binomial law, Poisson's where theta = 0). All terms are positive; p, and the sums of delta over delta_0, are
each kept within what a number can be.
"""

import math

import numpy as np
from numba import njit
from numpy.typing import NDArray

Floats = NDArray[np.float64]

_LARGE = 1e120
_LOG_LARGE = math.log(_LARGE)
_REST = 1e-17


@njit(cache=True, error_model="numpy")
def _horizon(theta: float, t: float) -> float:
    """H(t)."""
    if theta == 0.0:
        return t
    return -math.expm1(-theta * t) / theta


@njit(cache=True, error_model="numpy")
def _log_last(lam: float, s: float, theta: float, k: float, places: float) -> float:
    """log p_K - log p_k."""
    if theta == 0.0:
        return (places - k) * math.log(lam / s)
    a = s / theta
    return (places - k) * math.log(lam / theta) - (math.lgamma(a + places + 1.0) - math.lgamma(a + k + 1.0))


@njit(cache=True, error_model="numpy")
def _join(
    lam: float,
    s: float,
    theta: float,
    threshold: float,
    places: float,
    out: Floats,
) -> None:
    """Turn a row of idle weights into the nine `Sums` and log P(all busy, nobody waits)."""
    full, total, idle, n = out[0], out[1], out[2], out[4]
    if s == 0.0 and theta == 0.0:
        out[:] = 0.0
        out[1], out[5], out[6], out[8], out[9] = places, 1.0, n, 1.0, -np.inf
        return
    h = _horizon(theta, threshold)
    p = 1.0
    admitted, waiting, length, waited, steps = 0.0, 0.0, 0.0, 0.0, 0.0
    late, answered_late = 0.0, 0.0
    one, sum_one = 1.0, 1.0
    two, sum_two = 1.0, 1.0
    log_p, log_one, log_two = 0.0, 0.0, 0.0
    blocked = 0.0
    k = 0.0
    while k < places:
        admitted += p
        late += p * sum_one
        d = s + (k + 1.0) * theta
        ratio = lam / d
        p *= ratio
        steps += 1.0 / d
        waiting += p
        length += (k + 1.0) * p
        waited += steps * p
        answered_late += p * sum_two
        one *= h * (s + k * theta) / (k + 1.0)
        two *= h * d / (k + 1.0)
        growth = 1.0 + max(one / sum_one, two / sum_two)
        sum_one += one
        sum_two += two
        k += 1.0
        if (
            ratio * growth < 1.0
            and k * p <= _REST * length * (1.0 - ratio)
            and p * sum_two <= _REST * answered_late * (1.0 - ratio * growth)
        ):
            break
        if length > _LARGE:
            p /= _LARGE
            admitted /= _LARGE
            waiting /= _LARGE
            length /= _LARGE
            waited /= _LARGE
            late /= _LARGE
            answered_late /= _LARGE
            log_p += _LOG_LARGE
        if sum_one > _LARGE:
            one /= _LARGE
            sum_one /= _LARGE
            late /= _LARGE
            log_one += _LOG_LARGE
        if sum_two > _LARGE:
            two /= _LARGE
            sum_two /= _LARGE
            answered_late /= _LARGE
            log_two += _LOG_LARGE
    blocked = p if k == places else p * math.exp(_log_last(lam, s, theta, k, places))
    p0 = math.exp(-log_p)
    norm = total * p0 + full * (admitted + blocked)
    scale = full / norm
    at_once = total * p0 / norm
    after = scale * waiting * s / lam
    late *= scale * math.exp(log_one - s * threshold)
    answered_late *= scale * math.exp(log_two - (s + theta) * threshold) * s / lam
    out[0] = scale * admitted
    out[1] = scale * length
    out[2] = theta * out[1] / lam
    out[3] = s * scale * waited / lam
    out[7] = min(at_once + after, 1.0)
    out[8] = min(scale * blocked, 1.0)
    out[4] = min(at_once + max(after - answered_late, 0.0), out[7])
    out[5] = min(min(late, out[0]) + out[8], 1.0)
    out[6] = n - idle * p0 / norm
    out[9] = math.log(scale) - log_p


@njit(cache=True, error_model="numpy", nogil=True)
def join_rows(lams: Floats, theta: float, threshold: float, max_calls: float, rows: Floats) -> None:
    """Join each row of idle weights, as `_kernels.join` leaves it where theta is nan, with its queue."""
    for j in range(rows.shape[0]):
        _join(lams[j], rows[j, 3], theta, threshold, max_calls - rows[j, 4], rows[j])


@njit(cache=True, error_model="numpy")
def log_offered(
    lam: float, theta: float, t: float, capacities: Floats, places: Floats, log_full: Floats, out: Floats
) -> None:
    """Write log P(V > t) for calls that find a place, per capacity, from log P(all busy, nobody waits)."""
    h = _horizon(theta, t)
    for j in range(capacities.size):
        s, most = capacities[j], places[j]
        if log_full[j] == -np.inf or most == 0.0:
            out[j] = -np.inf
            continue
        p, late, one, total, log_scale, k = 1.0, 0.0, 1.0, 1.0, 0.0, 0.0
        while k < most:
            term = p * total
            late += term
            ratio = lam / (s + (k + 1.0) * theta)
            p *= ratio
            one *= h * (s + k * theta) / (k + 1.0)
            growth = 1.0 + one / total
            total += one
            k += 1.0
            if ratio * growth < 1.0 and p * total <= _REST * late * (1.0 - ratio * growth):
                break
            if late > _LARGE:
                p /= _LARGE
                late /= _LARGE
                log_scale += _LOG_LARGE
            if total > _LARGE:
                one /= _LARGE
                total /= _LARGE
                late /= _LARGE
                log_scale += _LOG_LARGE
        out[j] = log_full[j] + math.log(late) + log_scale - s * t
