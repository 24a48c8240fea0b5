"""The shared queue as arithmetic: weights of the idle states, sums over the queueing states, and their join.

States are counted from "all agents busy, nobody waits" (weight p_0). Idle weights a_i belong to i idle agents,
queue weights p_k to k callers waiting; sums carry a common scale that keeps them representable.
"""

import math

import numpy as np
from numba import njit
from numpy.typing import NDArray

_NODES, _WEIGHTS = np.polynomial.legendre.leggauss(20)
# How far log v has dropped from its maximum at the ends of the panels.
_DROPS = np.array([0.3, 1.2, 3.0, 6.0, 11.0, 18.0, 27.0, 40.0])
# The row of a queue that grows without end; the busy agents are all there are.
_OVERLOADED = np.array([1.0, np.inf, 0.0, np.inf, 0.0, 1.0, np.nan, np.nan, 0.0, -np.inf])
# A power of two, so that a change of scale loses nothing.
_LARGE = 2.0**600
_SMALL = 1.0 / _LARGE
_LOG_BIG = 280.0 * math.log(10.0)


@njit(cache=True, error_model="numpy")
def _excess(w: float) -> float:
    """w - 1 + exp(-w), without cancellation."""
    if abs(w) < 0.02:
        return w * w * (0.5 + w * (-1 / 6 + w * (1 / 24 + w * (-1 / 120 + w * (1 / 720 - w / 5040)))))
    return w + math.expm1(-w)


@njit(cache=True, error_model="numpy")
def _right_end(drop: float, slope: float, x: float) -> float:
    """The w > 0 with slope w + x (w - 1 + exp(-w)) = drop, to the accuracy a panel end needs."""
    w = (drop + math.sqrt(drop * drop + 8.0 * x * drop)) / (2.0 * x)
    if slope * w > drop:
        w = drop / slope
    for _ in range(50):
        step = (slope * w + x * _excess(w) - drop) / (slope - x * math.expm1(-w))
        w -= step
        if abs(step) <= 1e-4 * w:
            break
    return w


@njit(cache=True, error_model="numpy")
def _left_end(drop: float, x: float, most: float) -> float:
    """The s in (0, most] with x (exp(s) - 1 - s) = drop, `most` if there is none."""
    r = drop / x
    s = min(math.sqrt(2.0 * r), 1.0 + math.log1p(r))
    for _ in range(50):
        step = (_excess(-s) - r) / math.expm1(s)
        s -= step
        if abs(step) <= 1e-4 * s:
            break
    return min(s, most)


@njit(cache=True, error_model="numpy")
def _panel(low: float, high: float, start: float, slope: float, x: float) -> tuple[float, float, float]:
    """Integrals over w in [low, high] of v e^-w, v (1 - e^-(start + w)) and (start + w) v e^-w."""
    half = 0.5 * (high - low)
    middle = 0.5 * (high + low)
    served = 0.0
    lost = 0.0
    waited = 0.0
    for j in range(_NODES.size):
        w = middle + half * _NODES[j]
        v = _WEIGHTS[j] * math.exp(-slope * w - x * _excess(w))
        served += v * math.exp(-w)
        lost -= v * math.expm1(-(start + w))
        waited += v * (start + w) * math.exp(-w)
    return half * served, half * lost, half * waited


@njit(cache=True, error_model="numpy")
def _peak(lam: float, s: float, theta: float) -> tuple[float, float]:
    """Where v(t) = exp(lam H(t) - s t), H(t) = (1 - exp(-theta t)) / theta, is greatest: theta t, and log v there."""
    if theta == 0.0 or theta == np.inf or lam <= s:
        return 0.0, 0.0
    x = lam / theta
    a = s / theta
    if lam < 2.0 * s:
        start = math.log1p((lam - s) / s)
        return start, a * _excess(-start)
    if s <= 1e-200 * theta:
        return np.inf, x
    start = math.log(lam) - math.log(s)
    return start, x - a - a * start


@njit(cache=True, error_model="numpy")
def _queue_by_quadrature(lam: float, s: float, theta: float) -> tuple[float, float, float, float]:
    """`queue_sums` from v(t) = exp(lam H(t) - s t), H(t) = (1 - exp(-theta t)) / theta, in y = theta t."""
    x = lam / theta
    a = s / theta
    start, top = _peak(lam, s, theta)
    slope = max(a - x, 0.0)
    x = min(x, a)
    served = 0.0
    lost = 0.0
    waited = 0.0
    low = 0.0
    for j in range(_DROPS.size):
        end = _right_end(_DROPS[j], slope, x)
        while low < end:
            high = min(end, max(1.0, 3.0 * low))
            one, two, three = _panel(low, high, start, slope, x)
            served += one
            lost += two
            waited += three
            low = high
    low = 0.0
    for j in range(_DROPS.size):
        if low >= start:
            break
        end = _left_end(_DROPS[j], x, start)
        while low < end:
            high = min(end, low + 8.0)
            one, two, three = _panel(-high, -low, start, slope, x)
            served += one
            lost += two
            waited += three
            low = high
    return -top, x * served, (lam / theta) * (a * lost), x * (waited / theta)


@njit(cache=True, error_model="numpy")
def _queue_by_series(lam: float, s: float, theta: float) -> tuple[float, float, float, float]:
    """`queue_sums` term by term; every term is positive."""
    p = 1.0
    h = 0.0
    k = 0.0
    waiting = 0.0
    length = 0.0
    waited = 0.0
    log_p0 = 0.0
    while True:
        k += 1.0
        d = s + k * theta
        p *= lam / d
        h += 1.0 / d
        waiting += p
        length += k * p
        waited += h * p
        if lam < d and k * p <= 1e-17 * length * (1.0 - lam / d):
            break
        if length > 1e280:
            p *= 1e-280
            waiting *= 1e-280
            length *= 1e-280
            waited *= 1e-280
            log_p0 -= _LOG_BIG
    return log_p0, waiting, length, waited


@njit(cache=True, error_model="numpy")
def queue_sums(lam: float, s: float, theta: float) -> tuple[float, float, float, float]:
    """(log p_0, sum p_k, sum k p_k, sum p_k h_k) over k >= 1, h_k = sum_{j=1}^k 1 / (s + j theta).

    p_k / p_(k-1) = lam / (s + k theta). All in one scale, in which p_0 = exp(log p_0). theta may be 0 (then
    lam < s is needed) or infinite (nobody ever waits).
    """
    if theta == np.inf or lam == 0.0:
        return 0.0, 0.0, 0.0, 0.0
    if theta == 0.0:
        rho = lam / s
        length = rho / (1.0 - rho) ** 2
        return 0.0, rho / (1.0 - rho), length, length / s
    if s <= 1e-200 * theta:
        x = lam / theta
        return -x, -math.expm1(-x), x, 0.0
    if max(lam - s, 0.0) / theta + 9.0 * math.sqrt(lam / theta) > 3000.0:
        return _queue_by_quadrature(lam, s, theta)
    return _queue_by_series(lam, s, theta)


@njit(cache=True, error_model="numpy")
def closure_idle_sums(n: int, s: float, c2: float, lam: float) -> tuple[float, float, float]:
    """(p_0, sum a_i, sum i a_i) over i >= 1 with the gamma closure a_(i+1) / a_i = s (n - i) / ((n + i c2) lam).

    Summed outward from the largest weight, which is 1.
    """
    mode = 0
    if s > lam:
        mode = min(int(n * (s - lam) / (s + lam * c2)) + 1, n)
    total = 0.0
    idle = 0.0
    a = 1.0
    i = mode
    while i <= n:
        if i > 0:
            total += a
            idle += i * a
        step = s * (n - i) / ((n + i * c2) * lam)
        if i > 0 and step < 1.0 and i * a <= 1e-17 * idle * (1.0 - step):
            break
        a *= step
        i += 1
    a = 1.0
    i = mode
    while i > 0:
        if a < 1e-300:
            # What is left is nothing, and would be computed slowly, one subnormal number after another.
            return 0.0, total, idle
        i -= 1
        a *= (n + i * c2) * lam / (s * (n - i))
        if i > 0:
            total += a
            idle += i * a
    return a, total, idle


@njit(cache=True, error_model="numpy")
def _product(x: NDArray[np.float64], u: float) -> tuple[float, float]:
    """log prod (1 + u x_k) and sum u x_k / (1 + u x_k)."""
    log_product = 0.0
    product = 1.0
    idle = 0.0
    for k in range(x.size):
        factor = 1.0 + u * x[k]
        idle += u * x[k] / factor
        product *= factor
        if product > 1e200:
            log_product += math.log(product)
            product = 1.0
    log_product += math.log(product)
    if log_product < 0.5:
        # Near 1 the product's rounding would show in how far it is from 1.
        log_product = 0.0
        for k in range(x.size):
            log_product += math.log1p(u * x[k])
    return log_product, idle


@njit(cache=True, error_model="numpy")
def _drop_end(x: NDArray[np.float64], peak: float, top: float, drop: float, start: float) -> float:
    """Where log prod (1 + u x_k) - u has fallen by `drop` from its `top` at `peak`, on the side of `start`.

    To the accuracy a panel end needs; 0 if it does not fall so far to the left. The fall is convex, so that Newton's
    second step and all later ones come from beyond the end.
    """
    u = start
    for _ in range(60):
        log_product, idle = _product(x, u)
        step = (top - log_product + u - drop) / (1.0 - idle / u)
        u = max(u - step, 1e-3 * u)
        if abs(step) <= 1e-3 * abs(u - peak):
            break
    return u


@njit(cache=True, error_model="numpy")
def _idle_panel(x: NDArray[np.float64], top: float, low: float, high: float) -> tuple[float, float]:
    """Integrals over u in [low, high] of e^-u (P - 1) and e^-u u P', P = prod (1 + u x_k), over e^top."""
    half = 0.5 * (high - low)
    middle = 0.5 * (high + low)
    total = 0.0
    idle = 0.0
    for j in range(_NODES.size):
        u = middle + half * _NODES[j]
        log_product, mean = _product(x, u)
        weight = _WEIGHTS[j] * math.exp(log_product - u - top)
        total -= weight * math.expm1(-log_product)
        idle += weight * mean
    return half * total, half * idle


@njit(cache=True, error_model="numpy")
def roster_idle_sums(rates: NDArray[np.float64], lam: float) -> tuple[float, float, float]:
    """(p_0, sum a_i, sum i a_i) over i >= 1, a_i = i! e_i(rates) / lam^i, e_i the elementary symmetric polynomials.

    Since i! = int u^i e^-u du, the sum over i >= 0 is int e^-u prod (1 + u mu_k / lam) du: positive, with one peak, and
    no polynomial need be known.
    """
    if rates.size == 0:
        return 1.0, 0.0, 0.0
    x = rates / lam
    peak = 0.0
    if x.sum() > 1.0:
        # Newton from the left on the convex decreasing sum x / (1 + u x) = 1.
        for _ in range(200):
            value = -1.0
            slope = 0.0
            for k in range(x.size):
                part = x[k] / (1.0 + peak * x[k])
                value += part
                slope += part * part
            peak += value / slope
            if value <= 1e-9:
                break
    top = _product(x, peak)[0] - peak
    curvature = 0.0
    for k in range(x.size):
        curvature += (x[k] / (1.0 + peak * x[k])) ** 2
    width = 1.0 / math.sqrt(curvature)
    total = 0.0
    idle = 0.0
    low = peak
    for j in range(_DROPS.size):
        guess = peak + min(width * math.sqrt(2.0 * _DROPS[j]), _DROPS[j] / max(1.0 - x.sum(), 1e-300))
        end = _drop_end(x, peak, top, _DROPS[j], guess)
        # P - 1 turns at u of order 1, whatever the width of the peak.
        while low < end:
            high = min(end, max(1.0, 3.0 * low))
            one, two = _idle_panel(x, top, low, high)
            total += one
            idle += two
            low = high
    high = peak
    for j in range(_DROPS.size):
        if high <= 0.0:
            break
        end = 0.0
        if top > _DROPS[j]:
            end = _drop_end(
                x, peak, top, _DROPS[j], max(peak - width * math.sqrt(2.0 * _DROPS[j]), 0.01 * peak)
            )
        while high > end:
            low = max(end, high / 3.0 if high > 1.0 else 0.0)
            one, two = _idle_panel(x, top, low, high)
            total += one
            idle += two
            high = low
    return math.exp(-top), total, idle


@njit(cache=True, error_model="numpy")
def _log_drop(lam: float, s: float, theta: float, t: float) -> float:
    """By how much the greatest v from t on is below the greatest of all: difference of their logs, <= 0."""
    if theta == np.inf:
        return -s * t
    if theta == 0.0:
        return (lam - s) * t
    y = theta * t
    if lam <= s:
        return -((s - lam) * t + lam / theta * _excess(y))
    start, _ = _peak(lam, s, theta)
    return -(s / theta) * _excess(y - start) if y > start else 0.0


@njit(cache=True, error_model="numpy")
def log_highest(lam: float, s: float, theta: float, log_p0: float) -> float:
    """log(p_0 v) for the greatest v, given log p_0 in the scale of `queue_sums`.

    Under overload log p_0 and log v run into the millions and differ by little: whoever works with their sum alone
    keeps its digits.
    """
    _, top = _peak(lam, s, theta)
    return log_p0 + top


@njit(cache=True, error_model="numpy")
def offered_wait(lam: float, s: float, theta: float, t: float, log_most: float) -> tuple[float, float]:
    """(P(V > t), P(V > t and answered)) for the wait V offered to a call.

    `log_most` is log(P(all busy, nobody waits) v) for the greatest v.
    """
    later = lam
    if theta == np.inf:
        later = 0.0
    elif theta > 0.0:
        later = lam * math.exp(-theta * t)
    log_p0, waiting, _, _ = queue_sums(later, s, theta)
    log_scale = log_most + _log_drop(lam, s, theta, t) - log_highest(later, s, theta, log_p0)
    scale = math.exp(min(log_scale, 700.0))
    return min(scale * (waiting + math.exp(log_p0)), 1.0), min(scale * waiting * s / lam, 1.0)


@njit(cache=True, error_model="numpy")
def overloaded(lam: float, s: float, theta: float) -> bool:
    """Whether the queue grows without end; a capacity equal to the load up to rounding does not suffice."""
    return theta == 0.0 and lam >= s * (1.0 - 1e-12)


@njit(cache=True, error_model="numpy")
def join(
    lam: float,
    s: float,
    theta: float,
    threshold: float,
    n: int,
    full: float,
    total: float,
    idle: float,
    out: NDArray[np.float64],
) -> None:
    """Write the nine `Sums` and the `log_most` of `offered_wait` from the idle weights of any routing rule.

    If theta is nan, patience is not exponential: the idle weights are left for `patient_queue.joined`.
    """
    if math.isnan(theta):
        out[0] = full
        out[1] = total
        out[2] = idle
        out[3] = s
        out[4] = n
        return
    if overloaded(lam, s, theta):
        out[:] = _OVERLOADED
        out[6] = n
        out[7] = s / lam
        return
    log_p0, waiting, length, waited = queue_sums(lam, s, theta)
    p0 = math.exp(log_p0)
    norm = total * p0 + full * (waiting + p0)
    scale = full / norm
    at_once = total * p0 / norm
    after_waiting = scale * waiting * s / lam
    log_most = math.log(scale) + log_highest(lam, s, theta, log_p0)
    out[0] = scale * (waiting + p0)
    out[1] = scale * length
    if theta == np.inf:
        out[2] = out[0]
    elif s == 0.0:
        out[2] = 1.0
    else:
        out[2] = theta * out[1] / lam
    out[3] = s * scale * waited / lam
    late, answered_late = offered_wait(lam, s, theta, threshold, log_most)
    out[7] = min(at_once + after_waiting, 1.0)
    out[4] = min(at_once + max(after_waiting - answered_late, 0.0), out[7])
    out[5] = late
    out[6] = n - idle * p0 / norm
    out[8] = 0.0
    out[9] = log_most


@njit(cache=True, error_model="numpy")
def closure_rows(
    lam: float,
    capacities: NDArray[np.float64],
    theta: float,
    threshold: float,
    n: int,
    c2: float,
    out: NDArray[np.float64],
) -> None:
    """One row of `join` per capacity, by the gamma closure."""
    for j in range(capacities.size):
        full, total, idle = closure_idle_sums(n, capacities[j], c2, lam)
        join(lam, capacities[j], theta, threshold, n, full, total, idle, out[j])


@njit(cache=True, error_model="numpy")
def closure_days(
    lams: NDArray[np.float64],
    capacities: NDArray[np.float64],
    theta: float,
    threshold: float,
    agents: NDArray[np.int64],
    c2: float,
    out: NDArray[np.float64],
) -> None:
    """One row of `join` per day, of so many calls, such a capacity and so many agents, by the gamma closure."""
    for j in range(capacities.size):
        full, total, idle = closure_idle_sums(agents[j], capacities[j], c2, lams[j])
        join(lams[j], capacities[j], theta, threshold, agents[j], full, total, idle, out[j])


@njit(cache=True, error_model="numpy")
def roster_row(
    lam: float, rates: NDArray[np.float64], theta: float, threshold: float, out: NDArray[np.float64]
) -> None:
    """The row of `join` for these agents exactly."""
    full, total, idle = roster_idle_sums(rates, lam)
    join(lam, rates.sum(), theta, threshold, rates.size, full, total, idle, out)


@njit(cache=True, error_model="numpy", nogil=True)
def roster_levels(
    lam: float,
    rates: NDArray[np.float64],
    theta: float,
    threshold: float,
    first: int,
    out: NDArray[np.float64],
) -> None:
    """The rows of `join` for the first n agents of each roster exactly, n = `first`, `first` + 1, ...

    `rates` has a row per agent and a column per roster, `out` the shape (levels, rosters, columns). Another agent of
    rate mu turns the weights a_i into a_i + i (mu / lam) a_(i-1), so all levels together cost what the last one does.
    Rosters are a column each so that every step is the same for all of them.
    """
    agents = first + out.shape[0] - 1
    rosters = rates.shape[1]
    weights = np.zeros((agents + 1, rosters))
    weights[0] = 1.0
    full = np.ones(rosters)
    capacity = np.zeros(rosters)
    total = np.zeros(rosters)
    idle = np.zeros(rosters)
    step = np.empty(rosters)
    lowest = 0
    for n in range(agents + 1):
        if n > 0:
            for r in range(rosters):
                capacity[r] += rates[n - 1, r]
                step[r] = rates[n - 1, r] / lam
                total[r] = 0.0
                idle[r] = 0.0
            for i in range(n, lowest, -1):
                for r in range(rosters):
                    a = weights[i, r] + i * step[r] * weights[i - 1, r]
                    weights[i, r] = a
                    total[r] += a
                    idle[r] += i * a
            shrunk = False
            for r in range(rosters):
                if total[r] > _LARGE:
                    shrunk = True
                    full[r] *= _SMALL
                    total[r] *= _SMALL
                    idle[r] *= _SMALL
                    for i in range(lowest, n + 1):
                        # What is left out is nothing, and would be computed slowly, one subnormal number after another.
                        a = weights[i, r] * _SMALL
                        weights[i, r] = a if a > 1e-290 else 0.0
            while shrunk and weights[lowest].max() == 0.0:
                lowest += 1
        if n >= first:
            for r in range(rosters):
                join(lam, capacity[r], theta, threshold, n, full[r], total[r], idle[r], out[n - first, r])


@njit(cache=True, error_model="numpy")
def mixed_survival(
    t: float,
    lam: float,
    theta: float,
    capacities: NDArray[np.float64],
    weights: NDArray[np.float64],
    log_most: NDArray[np.float64],
) -> float:
    """P(W > t) for the wait of all calls, averaged over capacities."""
    stay = 1.0
    if theta == np.inf:
        return 0.0
    elif theta > 0.0:
        stay = math.exp(-theta * t)
    result = 0.0
    for j in range(capacities.size):
        if overloaded(lam, capacities[j], theta):
            result += weights[j]
        else:
            late, _ = offered_wait(lam, capacities[j], theta, t, log_most[j])
            result += weights[j] * late
    return result * stay


@njit(cache=True, error_model="numpy", nogil=True)
def priority_death_rates(rates: NDArray[np.float64], lam: float, out: NDArray[np.float64]) -> None:
    """Write d_i = E[busy rate | i idle], i = 0, ..., n - 1, for agents who get calls in this order of priority.

    Agents are added from the highest priority down. Let m count the idle ones among those added, taken for a
    birth-death chain with birth rates b_m, and death rate lam. The next agent, of rate mu, turns idle at mu and gets a
    call only while m = 0. A path from m that ends with a change of this agent before it comes to m - 1 has, with
    e_m = mu + b_m e_(m+1) / (lam + e_(m+1)), the chance e_m / (lam + e_m). So the agent is busy, given m, with chance
    q_m = prod_(j <= m) lam / (lam + e_j), and with it b_m becomes the mean of b_m + mu (agent busy) and
    b_(m-1) (agent idle). No term is subtracted; all steps together are O(n^2).
    """
    stays = np.empty(rates.size)
    leaves = np.empty(rates.size)
    for j in range(rates.size):
        mu = rates[j]
        e = mu
        for m in range(j, 0, -1):
            back = 1.0 / (lam + e)
            stays[m] = lam * back
            leaves[m] = e * back
            e = mu + out[m - 1] * leaves[m]
        busy = lam / (lam + e)
        idle = e / (lam + e)
        below = 0.0
        if j > 0:
            below = out[0]
        out[0] = below + mu
        for m in range(1, j + 1):
            here = 0.0
            if m < j:
                here = out[m]
            still_busy = busy * stays[m]
            out[m] = below * (still_busy * (here + mu) + lam * idle) / (still_busy * below + lam * idle)
            idle += busy * leaves[m]
            busy = still_busy
            if busy < 1e-290:
                # What is left is nothing, and would be computed slowly, one subnormal number after another.
                busy = 0.0
            below = here


@njit(cache=True, error_model="numpy", nogil=True)
def weighted_death_rates(
    rates: NDArray[np.float64], odds: NDArray[np.float64], out: NDArray[np.float64]
) -> None:
    """Write d_i = E[busy rate | i idle], i = 0, ..., n - 1, if sets of i agents are idle as the product of their odds.

    With E_i the elementary symmetric polynomials of the odds x, r_i = E_i / E_(i-1): given i idle, another agent is
    one of them with chance x / (r_i + x), and r_i becomes r_(i-1) (r_i + x) / (r_(i-1) + x). No term is subtracted.
    """
    ratios = np.zeros(rates.size + 1)
    for j in range(rates.size):
        x = odds[j]
        below = 0.0
        if j > 0:
            below = out[0]
        out[0] = below + rates[j]
        ratio_below = ratios[1]
        ratios[1] += x
        for i in range(1, j + 1):
            here = 0.0
            if i < j:
                here = out[i]
            out[i] = (ratio_below * (here + rates[j]) + x * below) / (ratio_below + x)
            ratio = ratios[i + 1]
            ratios[i + 1] = ratio_below * (ratio + x) / (ratio_below + x)
            below = here
            ratio_below = ratio


@njit(cache=True, error_model="numpy")
def chain_idle_sums(death_rates: NDArray[np.float64], lam: float) -> tuple[float, float, float]:
    """(p_0, sum a_i, sum i a_i) over i >= 1 with a_(i+1) / a_i = d_i / lam, whatever the rates d_0, ..., d_(n-1)."""
    full = 1.0
    a = 1.0
    total = 0.0
    idle = 0.0
    for i in range(death_rates.size):
        a *= death_rates[i] / lam
        total += a
        idle += (i + 1) * a
        if total > _LARGE:
            full *= _SMALL
            a *= _SMALL
            total *= _SMALL
            idle *= _SMALL
    return full, total, idle


@njit(cache=True, error_model="numpy", nogil=True)
def chain_rows(
    lam: float,
    death_rates: NDArray[np.float64],
    theta: float,
    threshold: float,
    out: NDArray[np.float64],
) -> None:
    """One row of `join` per row of death rates of at least one agent; the first of a row is the capacity."""
    n = death_rates.shape[1]
    for r in range(out.shape[0]):
        full, total, idle = chain_idle_sums(death_rates[r], lam)
        join(lam, death_rates[r, 0], theta, threshold, n, full, total, idle, out[r])
