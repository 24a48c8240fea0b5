"""The shared queue call by call, first come first served; the agent idle for longest answers, or the first in a list.

A tournament tree holds the time at which each agent is next free. Its winner, the earliest, is the agent idle
for longest if that time has passed, and the next to come free if it has not. Either way it is who answers the
next call, so a call costs one path from a leaf to the root and no list of events is needed. Where agents have
priorities, a tree of earliest times with the agents in that order leads to the first who is free.

A call asks for a place to wait only if nobody is free. Where places are few, those taken are then counted: by
the times, known in advance, at which earlier callers leave the queue.
"""

import numpy as np
from numba import njit
from numpy.typing import NDArray

from staffing.models.simulation._leaving_times import join, still_waiting
from staffing.models.simulation._random import exponential, mix, uniform

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]
Bytes = NDArray[np.uint8]

CALLS, WAITS, WAIT, LOST, ANSWERED_WAIT, IN_TIME, LATE, BUSY, ELAPSED = range(9)
# By how much gaps and services exceed their means: plainly, and weighted by the strain they came upon.
GAPS, STRAINED_GAPS, WORK, STRAINED_WORK = range(9, 13)
BLOCKED, ANSWERED = 13, 14
TOTALS = 15

CALLS_BETWEEN_LOOKS = 2**14
"""Calls after which the simulation looks again whether it is to stop, a power of two: milliseconds."""

_ONE, _TWO, _THREE = np.uint64(1), np.uint64(2), np.uint64(3)
_START = np.uint64(0xA0761D6478BD642F)
_ROSTER = np.uint64(0xE7037ED1A0B428DB)


@njit(cache=True, nogil=True)
def quantile(share: float, quantiles: Floats) -> float:
    """The quantile of a share in [0, 1), from those at even steps: even between two of them."""
    place = share * (quantiles.size - 1)
    cell = int(place)
    low, high = quantiles[cell], quantiles[cell + 1]
    value: float = low + (place - cell) * (high - low) if high < np.inf else high
    return value


@njit(cache=True, nogil=True)
def gap(key: np.uint64, call: np.uint64) -> float:
    """Time from the call before to this one, in mean times between calls."""
    return exponential(key, _THREE * call)


@njit(cache=True, nogil=True)
def gap_of(key: np.uint64, call: np.uint64, quantiles: Floats) -> float:
    """That time by its quantiles, of mean 1, at even steps."""
    return quantile(uniform(key, _THREE * call), quantiles)


@njit(cache=True, nogil=True)
def work(key: np.uint64, call: np.uint64) -> float:
    """Service the call needs, in mean service times of whoever answers."""
    return exponential(key, _THREE * call + _ONE)


@njit(cache=True, nogil=True)
def patience(key: np.uint64, call: np.uint64) -> float:
    """How long the caller would wait, in mean patiences."""
    return exponential(key, _THREE * call + _TWO)


@njit(cache=True, nogil=True)
def patience_of(key: np.uint64, call: np.uint64, quantiles: Floats) -> float:
    """How long the caller would wait, by the quantiles of patience at even steps."""
    return quantile(uniform(key, _THREE * call + _TWO), quantiles)


@njit(cache=True, nogil=True)
def first_free(key: np.uint64, agent: np.uint64, rate: float, load: float) -> float:
    """When an agent is first free: busy at time 0 with probability `load`, else idle since before."""
    stream = mix(key ^ _START)
    spell = exponential(stream, _TWO * agent) / rate
    return spell if uniform(stream, _TWO * agent + _ONE) < load else -spell


@njit(cache=True, nogil=True)
def roster_key(key: np.uint64, roster: np.uint64) -> np.uint64:
    """The key of one roster of a batch."""
    return mix(mix(key ^ _ROSTER) + roster)


@njit(cache=True, nogil=True, error_model="numpy")
def leaves(key: np.uint64, rates: Floats, lam: float) -> Floats:
    """A full binary tree with what its leaves hold: leaf `size` + k when agent k is first free, others never."""
    size = 1
    while size < rates.size:
        size *= 2
    load = lam / rates.sum()
    tree = np.full(2 * size, np.inf)
    for k in range(rates.size):
        tree[size + k] = first_free(key, np.uint64(k), rates[k], load)
    return tree


@njit(cache=True, nogil=True, error_model="numpy")
def plant(key: np.uint64, rates: Floats, lam: float) -> tuple[Floats, Integers]:
    """The tournament at time 0: place 0 holds the winner, place i the loser of the match at node i."""
    time = leaves(key, rates, lam)
    size = time.size >> 1
    agent = np.full(2 * size, np.int64(-1))
    agent[size : size + rates.size] = np.arange(rates.size)
    times = np.empty(size)
    agents = np.empty(size, np.int64)
    for i in range(size - 1, 0, -1):
        winner, loser = 2 * i, 2 * i + 1
        if time[loser] < time[winner]:
            winner, loser = loser, winner
        time[i], agent[i] = time[winner], agent[winner]
        times[i], agents[i] = time[loser], agent[loser]
    times[0], agents[0] = time[1], agent[1]
    return times, agents


@njit(cache=True, nogil=True, inline="always")
def replace_winner(times: Floats, agents: Integers, time: float) -> None:
    """Give the winner a new time and play its matches again."""
    agent = agents[0]
    node = (times.size + agent) >> 1
    while node > 0:
        other_time = times[node]
        other_agent = agents[node]
        lost = other_time < time
        times[node] = time if lost else other_time
        agents[node] = agent if lost else other_agent
        time = other_time if lost else time
        agent = other_agent if lost else agent
        node >>= 1
    times[0] = time
    agents[0] = agent


@njit(cache=True, nogil=True)
def list_up(key: np.uint64, rates: Floats, lam: float) -> Floats:
    """When the first of the agents below each node is free, at time 0."""
    tree = leaves(key, rates, lam)
    for i in range((tree.size >> 1) - 1, 0, -1):
        tree[i] = min(tree[2 * i], tree[2 * i + 1])
    return tree


@njit(cache=True, nogil=True, inline="always")
def first_by(tree: Floats, time: float) -> np.int64:
    """The first agent of the list who is free by a time at which one is."""
    node, size = np.int64(1), np.int64(tree.size >> 1)
    while node < size:
        node *= 2
        if tree[node] > time:
            node += 1
    return node - size


@njit(cache=True, nogil=True, inline="always")
def occupy(tree: Floats, agent: np.int64, time: float) -> None:
    """Let an agent of the list be next free at this time."""
    node = (tree.size >> 1) + agent
    tree[node] = time
    node >>= 1
    while node > 0:
        tree[node] = min(tree[2 * node], tree[2 * node + 1])
        node >>= 1


@njit(cache=True, nogil=True)
def committed(times: Floats, now: float) -> float:
    """Service still to be given to the calls answered so far or waiting to be."""
    total = 0.0
    for time in times:
        if now < time < np.inf:
            total += time - now
    return total


@njit(cache=True, nogil=True, error_model="numpy")
def serve(
    key: np.uint64,
    rates: Floats,
    listed: bool,
    lam: float,
    gaps: Floats,
    theta: float,
    quantiles: Floats,
    max_calls: int,
    threshold: float,
    warm_up: int,
    calls: int,
    totals: Floats,
    histogram: Integers,
    horizon_scale: float,
    stop: Bytes,
    record: Floats,
) -> None:
    """Simulate `warm_up` + `calls` calls and add the latter to `totals` and, if they wait, to `histogram`.

    The warm-up's calls have negative numbers, so that call 0 is the same caller whatever the warm-up. Bin b
    of the histogram counts the waits w with w / (w + horizon_scale) in [b, b + 1) / size. A row of `record`, which
    may have none, is a call's arrival, wait, offered wait (infinite if it is blocked), agent (-1: it gave up,
    -2: it was blocked) and service. Once another thread has set `stop[0]`, it returns before long; what it has added
    is then worthless.

    Agents answer in the order of `rates` if `listed`, else the one idle for longest does. Times between calls are
    those of `gap_of`, or exponential if there are no `gaps`; patience is that of `patience_of`, or exponential of rate
    `theta` if there are no `quantiles`. A call that finds `max_calls` or more in the system is blocked, and none is if
    that is below 0. Without agents nobody may have endless patience.
    """
    if listed:
        tree = list_up(key, rates, lam)
        times, agents = tree[tree.size >> 1 :], np.empty(0, np.int64)
    else:
        tree = np.empty(0)
        times, agents = plant(key, rates, lam)
    mean_gap, mean_service, mean_patience = 1.0 / lam, 1.0 / rates, 1.0 / theta
    now, opening, begun = 0.0, 0.0, 0.0
    places = max_calls - rates.size if max_calls >= 0 else -1
    # Room for all who can ever wait; what nobody writes to takes no memory. To let it grow would cost all calls time.
    leaving, waiting = np.empty(max(min(places, warm_up + calls), 0)), 0
    waits, lost, in_time, late, blocked = 0, 0, 0, 0, 0
    total_wait, answered_wait, total_service = 0.0, 0.0, 0.0
    work_excess, strained_work, strained_gaps, strain = 0.0, 0.0, 0.0, 0.0
    capacity = max(rates.sum(), 1e-300)
    bins = histogram.size
    for call in range(-warm_up, calls):
        if call & (CALLS_BETWEEN_LOOKS - 1) == 0 and stop[0]:
            return
        if call == 0:
            opening, begun = now, committed(times, now)
        number = np.uint64(call)
        before, free = now, tree[1] if listed else times[0]
        now += (gap_of(key, number, gaps) if gaps.size > 0 else gap(key, number)) * mean_gap
        start, wait, offered = now, 0.0, 0.0
        agent, service = np.int64(-1), 0.0
        stays = True
        if free > now:
            if places >= 0:
                waiting = still_waiting(leaving, waiting, now)
            if waiting == places:
                offered, agent = np.inf, np.int64(-2)
                stays = False
                if call >= 0:
                    blocked += 1
            else:
                start, wait, offered = free, free - now, free - now
                if quantiles.size > 0:
                    most = patience_of(key, number, quantiles)
                elif mean_patience < np.inf:
                    most = patience(key, number) * mean_patience
                else:
                    most = np.inf
                if most < offered:
                    wait = most
                    stays = False
                if places >= 0:
                    join(leaving, waiting, start if stays else now + wait)
                    waiting += 1
        if stays:
            agent = first_by(tree, start) if listed else agents[0]
            service = work(key, number) * mean_service[agent]
            if listed:
                occupy(tree, agent, start + service)
            else:
                replace_winner(times, agents, start + service)
        if record.shape[0] > 0:
            row = record[call + warm_up]
            row[0], row[1], row[2], row[3], row[4] = now, wait, offered, agent, service
        if call < 0:
            continue
        strained_gaps += strain * (lam * (now - before) - 1.0)
        # Any weight known before the draw leaves its mean at zero; this one is large where the draw matters.
        strain = (
            1.0 + min(0.1 * capacity * (free - now), 2.0)
            if free > now
            else 1.0 / (1.0 + capacity * (now - free))
        )
        total_service += service
        if stays:
            excess = rates[agent] * service - 1.0
            work_excess += excess
            strained_work += strain * excess
            if wait <= threshold:
                in_time += 1
        if offered > 0.0:
            waits += 1
            total_wait += wait
            if offered > threshold:
                late += 1
            if stays:
                answered_wait += wait
            else:
                lost += 1
            if wait > 0.0:
                histogram[min(int(wait / (wait + horizon_scale) * bins), bins - 1)] += 1
    totals[CALLS] += calls
    # The loop takes the blocked for lost after a wait of 0: no other call is slowed down by telling them apart.
    totals[WAITS] += waits - blocked
    totals[WAIT] += total_wait
    totals[LOST] += lost - blocked
    totals[ANSWERED_WAIT] += answered_wait
    totals[IN_TIME] += in_time
    totals[LATE] += late
    totals[BUSY] += begun + total_service - committed(times, now)
    totals[ELAPSED] += now - opening
    totals[GAPS] += lam * (now - opening) - calls
    totals[STRAINED_GAPS] += strained_gaps
    totals[WORK] += work_excess
    totals[STRAINED_WORK] += strained_work
    totals[BLOCKED] += blocked
    totals[ANSWERED] += calls - lost


@njit(cache=True, nogil=True)
def simulate_roster(
    key: np.uint64,
    rates: Floats,
    listed: bool,
    lam: float,
    gaps: Floats,
    theta: float,
    quantiles: Floats,
    max_calls: int,
    threshold: float,
    warm_up: int,
    calls: int,
    totals: Floats,
    histogram: Integers,
    horizon_scale: float,
    stop: Bytes,
) -> None:
    """`serve` without a record."""
    serve(
        key,
        rates,
        listed,
        lam,
        gaps,
        theta,
        quantiles,
        max_calls,
        threshold,
        warm_up,
        calls,
        totals,
        histogram,
        horizon_scale,
        stop,
        np.empty((0, 5)),
    )


@njit(cache=True, nogil=True)
def fill_up(lam: float, places: int, calls: int, totals: Floats) -> None:
    """Add calls to a queue whose every place is held for ever: without agents by callers who never give up."""
    totals[CALLS] += calls
    totals[WAIT] += places * calls / lam
    totals[LATE] += calls
    totals[ELAPSED] += calls / lam
    totals[BLOCKED] += calls


@njit(cache=True, nogil=True)
def simulate_batch(
    key: np.uint64,
    rates: Floats,
    listed: bool,
    lam: float,
    gaps: Floats,
    theta: float,
    quantiles: Floats,
    max_calls: int,
    threshold: float,
    warm_up: Integers,
    calls: int,
    factors: Floats,
    totals: Floats,
    histogram: Floats,
    horizon_scale: float,
    stop: Bytes,
) -> None:
    """`simulate_roster` for each roster of a batch, a row of `rates`, on a day of `factors` times as many calls.

    Agents of rate 0 are absent. Every roster has as many calls, so its day is shorter the more of them come: weights
    by the factor make days as long as each other.
    """
    own_totals, counts = np.zeros(TOTALS), np.zeros(histogram.size, np.int64)
    endless = quantiles[-1] == np.inf if quantiles.size > 0 else theta == 0.0
    for r in range(rates.shape[0]):
        if stop[0]:
            return
        own = roster_key(key, np.uint64(r))
        own_totals[:] = 0.0
        counts[:] = 0
        present, own_lam = rates[r][rates[r] > 0.0], lam * factors[r]
        if present.size == 0 and endless:
            fill_up(own_lam, max_calls, calls, own_totals)
        else:
            simulate_roster(
                own,
                present,
                listed,
                own_lam,
                gaps,
                theta,
                quantiles,
                max_calls,
                threshold,
                warm_up[r],
                calls,
                own_totals,
                counts,
                horizon_scale,
                stop,
            )
        totals += factors[r] * own_totals
        histogram += factors[r] * counts


@njit(cache=True, nogil=True)
def record_calls(
    key: np.uint64,
    rates: Floats,
    listed: bool,
    lam: float,
    gaps: Floats,
    theta: float,
    quantiles: Floats,
    max_calls: int,
    warm_up: int,
    calls: int,
) -> tuple[Floats, Floats, Floats, Integers, Floats]:
    """Every call's arrival, wait, offered wait, agent (-1: gave up, -2: blocked) and service, the warm-up's first."""
    record = np.empty((warm_up + calls, 5))
    totals, histogram, stop = np.zeros(TOTALS), np.zeros(1, np.int64), np.zeros(1, np.uint8)
    serve(
        key,
        rates,
        listed,
        lam,
        gaps,
        theta,
        quantiles,
        max_calls,
        0.0,
        warm_up,
        calls,
        totals,
        histogram,
        1.0,
        stop,
        record,
    )
    return (
        record[:, 0].copy(),
        record[:, 1].copy(),
        record[:, 2].copy(),
        record[:, 3].astype(np.int64),
        record[:, 4].copy(),
    )
