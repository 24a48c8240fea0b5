# mypy: disallow-untyped-decorators=False
"""Renewal arrivals at a shared queue as arithmetic: birth rates given the state, sums over states, late waits.

The gaps between calls pass through phases that ignore the queue, so the number x in system moves as a birth-death chain
with birth rate b_x = E[chance of a call per unit of time | x]. The phases at x follow from those at x + 1 by sums of
positive terms: the chain is exact, and costs its states times the phases.
"""

import math

import numpy as np
from numba import njit
from numpy.typing import NDArray

# The row of a queue that grows without end; the busy agents are all there are.
_OVERLOADED = np.array([1.0, np.inf, 0.0, np.inf, 0.0, 1.0, np.nan, np.nan, 0.0, -np.inf])
_MOST_PHASES = 100
# A power of two, so that a change of scale loses nothing.
_LARGE = 2.0**900
_LOG_LARGE = 900.0 * math.log(2.0)
_NEGLIGIBLE = 1e-17


@njit(cache=True, error_model="numpy")
def _hyper(lam: float, ca2: float) -> tuple[float, float, float]:
    """(Share of gaps of the fast phase, its rate, that of the slow phase): balanced means, SCV ca2 >= 1."""
    w = math.sqrt((ca2 - 1.0) / (ca2 + 1.0))
    share = 0.5 * (1.0 + w)
    return share, 2.0 * share * lam, 2.0 * lam / ((ca2 + 1.0) * (1.0 + w))


@njit(cache=True, error_model="numpy")
def _series(lam: float, ca2: float) -> tuple[int, float, float]:
    """(Phases k, share of gaps that skip the first, rate of each phase) of gaps with SCV ca2 < 1.

    An SCV below 1 / _MOST_PHASES is taken for that.
    """
    ca2 = max(ca2, 1.0 / _MOST_PHASES)
    k = max(min(math.ceil(1.0 / ca2), _MOST_PHASES), 2)
    skip = (k * ca2 - math.sqrt(max(k * (1.0 - (k - 1) * ca2), 0.0))) / (1.0 + ca2)
    skip = min(max(skip, 0.0), 1.0)
    return k, skip, (k - skip) * lam


@njit(cache=True, error_model="numpy")
def _spare(lam: float, ca2: float, d: float) -> float:
    """d - b, b the birth rate where the death rate is d > lam at every state from here on: b = d a*(d - b).

    a* is the transform of the gaps' law.
    """
    if ca2 >= 1.0:
        half = 0.5 * (2.0 * lam - d)
        # 4 share (1 - share) = 2 / (ca2 + 1).
        c = 2.0 / (ca2 + 1.0) * lam * (d - lam)
        root = math.sqrt(half * half + c)
        return c / (half + root) if half > 0.0 else root - half
    k, skip, pace = _series(lam, ca2)
    # Newton from the right on a convex function.
    part = 1.0
    for _ in range(200):
        log_step = -math.log1p(d * part / pace)
        last = math.exp((k - 1) * log_step)
        shorter = math.expm1((k - 1) * log_step)
        longer = math.expm1(k * log_step)
        value = skip * shorter + (1.0 - skip) * longer + part
        step = math.exp(log_step) * d / pace
        slope = 1.0 - step * last * (skip * (k - 1) + (1.0 - skip) * k * math.exp(log_step))
        if not slope > 0.0:
            break
        change = value / slope
        if change <= 0.0:
            break
        part -= change
        if change <= 1e-15 * part:
            break
    return d * part


@njit(cache=True, error_model="numpy")
def birth_rates(
    lam: float, ca2: float, above: float, deaths: NDArray[np.float64], births: NDArray[np.float64]
) -> None:
    """Write b_x for x = 0, ..., deaths.size - 1 in system, from the highest state down.

    `above` is the death rate of all states above the highest; infinite if there are none, and a call is turned away.
    With z the law of the phases at x + 1, g that of a new gap, and a gap cut off at the death rate of x,
    b_x = P(a gap from g ends by a call) / E[time a gap from z lasts]; the phases at x are those passed on the way.
    """
    top = deaths.size - 1
    if ca2 >= 1.0:
        share, fast, slow = _hyper(lam, ca2)
        excess = fast - slow
        z = share
        if above < np.inf:
            both = above + excess
            root = math.sqrt(max(both * both - 4.0 * excess * share * above, 0.0))
            z = 2.0 * share * above / (both + root)
        for x in range(top, -1, -1):
            d = deaths[x]
            z = (share * d + slow * z) / (d + fast * (1.0 - z) + slow * z)
            births[x] = slow + excess * z
        return
    k, skip, pace = _series(lam, ca2)
    phases = np.zeros(k)
    phases[0] = 1.0 - skip
    phases[1] = skip
    if above < np.inf:
        leave = 1.0 / (pace + _spare(lam, ca2, above))
        phases[0] *= above * leave
        phases[1] = (pace * phases[0] + skip * above) * leave
        for j in range(2, k):
            phases[j] = pace * phases[j - 1] * leave
    for x in range(top, -1, -1):
        d = deaths[x]
        leave = 1.0 / (pace + d)
        on = pace * leave
        spent = 0.0
        passed = 0.0
        for j in range(k):
            spent = on * spent + leave * phases[j]
            phases[j] = spent
            passed += spent
        first = (1.0 - skip) * leave
        new = on * first + skip * leave
        birth = pace * new * on ** (k - 2) / passed
        births[x] = birth
        phases[0] = d * first + birth * phases[0]
        new *= d
        for j in range(1, k):
            phases[j] = new + birth * phases[j]
            new *= on


@njit(cache=True, error_model="numpy")
def _weights(births: NDArray[np.float64], deaths: NDArray[np.float64]) -> NDArray[np.float64]:
    """Weights of the states, the largest of them 1."""
    best = 0
    ahead = 1.0
    for x in range(deaths.size - 1):
        ahead *= births[x] / deaths[x + 1]
        if ahead > 1.0:
            best = x + 1
            ahead = 1.0
    weights = np.zeros(deaths.size)
    weights[best] = 1.0
    # What is below 1e-300 is nothing, and would be computed slowly, one subnormal number after another.
    for x in range(best + 1, deaths.size):
        weights[x] = weights[x - 1] * (births[x - 1] / deaths[x])
        if weights[x] < 1e-300:
            weights[x] = 0.0
            break
    for x in range(best, 0, -1):
        weights[x - 1] = weights[x] * (deaths[x] / births[x - 1])
        if weights[x - 1] < 1e-300:
            weights[x - 1] = 0.0
            break
    return weights


@njit(cache=True, error_model="numpy")
def _log_reached(
    births: NDArray[np.float64], deaths: NDArray[np.float64], theta: float, t: float, answered: bool
) -> tuple[float, bool]:
    """(log of sum_k w_k P(V_k > t), whether the states go far enough), over k = 0, 1, ... waiting ahead.

    If `answered`, the w_k are the weights p_(k+1) of k + 1 waiting, and V_k is that of an answered call; otherwise
    they are p_(k+1) (S + (k + 1) theta). The largest p_k is 1. With y = exp(-theta t), P(V_k > t) = I_y(a, k + 1),
    a = S / theta (+ 1 if answered): the chance of at most k by a negative binomial law, all of positive terms.
    """
    top = deaths.size - 1
    weights = _weights(births, deaths)
    best = np.argmax(weights)
    # Sums of the w_k from j on; beyond the largest weight over p_j, which may be too small for a number.
    beyond = np.empty(top + 1)
    beyond[top] = 0.0
    for j in range(top - 1, -1, -1):
        part = 1.0 if answered else deaths[j + 1]
        if j < best:
            beyond[j] = beyond[j + 1] + weights[j + 1] * part
        else:
            beyond[j] = births[j] / deaths[j + 1] * (part + beyond[j + 1])
    gone = -math.expm1(-theta * t)
    a = deaths[0] / theta
    if answered:
        a += 1.0
    log_scale = -a * theta * t
    term = 1.0
    total = 0.0
    enough = False
    for j in range(top):
        here = term * beyond[j]
        total += here
        step = gone
        if j >= best:
            step *= births[j] / deaths[j + 1]
        ratio = (a + j) / (j + 1.0) * step
        term *= ratio
        # Where a < 1 the ratios may grow, up to this.
        ratio = max(ratio, step)
        if ratio < 1.0 and here <= _NEGLIGIBLE * total * (1.0 - ratio):
            enough = True
            break
        if term > _LARGE or total > _LARGE:
            term /= _LARGE
            total /= _LARGE
            log_scale += _LOG_LARGE
    return (math.log(total) if total > 0.0 else -np.inf) + log_scale, enough


@njit(cache=True, error_model="numpy")
def _longest(lam: float, ca2: float, s: float, theta: float, t: float) -> int:
    """A first guess of how many waiting callers to look at; 0 if none need be."""
    if theta == 0.0 or theta == np.inf:
        return 0
    reached = -lam * math.expm1(-theta * t) / theta
    likely = max(lam - s, 0.0) / theta + 9.0 * math.sqrt(0.5 * (1.0 + ca2) * lam / theta)
    # Calls never come faster than at rate 2 lam for long.
    most = max(2.0 * lam - s, 0.0) / theta + 9.0 * math.sqrt(2.0 * lam / theta)
    return int(max(min(likely, most), reached + 9.0 * math.sqrt(reached)) + 40.0)


@njit(cache=True, error_model="numpy")
def _chain(
    lam: float, ca2: float, s: float, theta: float, idle_deaths: NDArray[np.float64], longest: int
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """(Birth rates, death rates) of 0, ..., n + `longest` in system; `idle_deaths` has those of 0, ..., n."""
    n = idle_deaths.size - 1
    deaths = np.empty(n + longest + 1)
    deaths[: n + 1] = idle_deaths
    for k in range(1, longest + 1):
        deaths[n + k] = s + k * theta
    births = np.empty(deaths.size)
    above = s + longest * theta if theta < np.inf else np.inf
    birth_rates(lam, ca2, above, deaths, births)
    return births, deaths


@njit(cache=True, error_model="numpy")
def overloaded(lam: float, s: float, theta: float) -> bool:
    """Whether the queue grows without end; a capacity equal to the load up to rounding does not suffice."""
    return theta == 0.0 and lam >= s * (1.0 - 1e-12)


@njit(cache=True, error_model="numpy")
def _row(
    lam: float,
    ca2: float,
    s: float,
    theta: float,
    threshold: float,
    idle_deaths: NDArray[np.float64],
    out: NDArray[np.float64],
) -> None:
    """Write the nine `Sums` and the `log_most` of `log_late`."""
    n = idle_deaths.size - 1
    if overloaded(lam, s, theta):
        out[:] = _OVERLOADED
        out[6] = n
        out[7] = s / lam
        return
    longest = _longest(lam, ca2, s, theta, threshold)
    while True:
        births, deaths = _chain(lam, ca2, s, theta, idle_deaths, longest)
        weights = _weights(births, deaths)
        total = 0.0
        idle = 0.0
        at_once = 0.0
        for x in range(n + 1):
            total += weights[x]
            idle += (n - x) * weights[x]
            at_once += deaths[x] * weights[x]
        waiting = 0.0
        length = 0.0
        waited = 0.0
        steps = 0.0
        most = weights[n]
        for k in range(1, longest + 1):
            p = weights[n + k]
            steps += 1.0 / deaths[n + k]
            waiting += p
            length += k * p
            waited += steps * p
            most = max(most, p)
        if longest == 0 or longest * weights[n + longest] <= _NEGLIGIBLE * (total + length):
            break
        longest *= 2
    if theta == 0.0:
        spare = _spare(lam, ca2, s)
        waiting = weights[n] * (births[n] / spare)
        length = waiting * (s / spare)
        waited = length / s
    scale = 1.0 / (total + waiting)
    at_once *= scale / lam
    after_waiting = scale * waiting * s / lam
    out[1] = scale * length
    out[3] = s * scale * waited / lam
    out[6] = n - idle * scale
    out[8] = 0.0
    out[7] = min(at_once + after_waiting, 1.0)
    if theta == np.inf:
        out[0] = scale * births[n] * weights[n] / lam
        out[2] = out[0]
        out[9] = math.log(out[0])
    elif s == 0.0:
        out[0] = 1.0
        out[2] = 1.0
        out[9] = math.log(scale * most)
    else:
        out[2] = theta * out[1] / lam
        out[0] = min(after_waiting + out[2], 1.0)
        out[9] = math.log(out[0] if theta == 0.0 else scale * most)
    late, answered_late = _log_late(lam, ca2, s, theta, threshold, longest)
    out[5] = min(math.exp(out[9] + late), out[0])
    out[4] = min(at_once + max(after_waiting - math.exp(out[9] + answered_late), 0.0), out[7])


@njit(cache=True, error_model="numpy")
def _log_late(lam: float, ca2: float, s: float, theta: float, t: float, longest: int) -> tuple[float, float]:
    """(log P(V > t), log P(V > t and answered)) less `log_most`, for the wait V offered to a call."""
    if theta == np.inf:
        return -s * t, -np.inf
    if theta == 0.0:
        drop = -_spare(lam, ca2, s) * t
        return drop, drop
    all_busy = np.full(1, s)
    while True:
        births, deaths = _chain(lam, ca2, s, theta, all_busy, longest)
        late, enough = _log_reached(births, deaths, theta, t, False)
        if enough:
            break
        longest *= 2
    answered = -np.inf
    if s > 0.0:
        answered, _ = _log_reached(births, deaths, theta, t, True)
        answered += math.log(s / lam)
    return late - math.log(lam), answered


@njit(cache=True, error_model="numpy")
def log_late(
    lam: float,
    ca2: float,
    capacities: NDArray[np.float64],
    theta: float,
    t: float,
    log_most: NDArray[np.float64],
    out: NDArray[np.float64],
) -> None:
    """Write log P(V > t) per capacity for the wait V offered to a call; 0 where the queue grows without end."""
    for j in range(capacities.size):
        s = capacities[j]
        if overloaded(lam, s, theta):
            out[j] = 0.0
        else:
            late, _ = _log_late(lam, ca2, s, theta, t, _longest(lam, ca2, s, theta, t))
            out[j] = min(log_most[j] + late, 0.0)


@njit(cache=True, error_model="numpy")
def closure_days(
    lams: NDArray[np.float64],
    ca2: float,
    capacities: NDArray[np.float64],
    theta: float,
    threshold: float,
    agents: NDArray[np.int64],
    c2: float,
    out: NDArray[np.float64],
) -> None:
    """One row per day, of so many calls, such a capacity and so many agents, by the gamma closure."""
    for j in range(capacities.size):
        n = agents[j]
        deaths = np.zeros(n + 1)
        for i in range(n):
            deaths[n - i] = capacities[j] * (n - i) / (n + i * c2)
        _row(lams[j], ca2, capacities[j], theta, threshold, deaths, out[j])


@njit(cache=True, error_model="numpy", nogil=True)
def chain_rows(
    lam: float,
    ca2: float,
    death_rates: NDArray[np.float64],
    theta: float,
    threshold: float,
    out: NDArray[np.float64],
) -> None:
    """One row per row of death rates d_0, ..., d_(n-1) of at least one agent; d_0 is the capacity."""
    n = death_rates.shape[1]
    deaths = np.zeros(n + 1)
    for r in range(out.shape[0]):
        for i in range(n):
            deaths[n - i] = death_rates[r, i]
        _row(lam, ca2, death_rates[r, 0], theta, threshold, deaths, out[r])
