"""The compiled queue against the obvious loop over the same draws, call by call and bit by bit."""

import math
from bisect import insort
from itertools import product

import numpy as np
import pytest

from staffing.models.simulation import _kernels as kernels

KEY = np.uint64(2**63 + 12345)
GO_ON = np.zeros(1, np.uint8)
EXPONENTIAL = np.empty(0)
NO_LIMIT = -1
# A tenth gives up at once, three tenths never do, the rest after between one and three tenths.
QUANTILES = np.array([0.0, 0.0, *np.linspace(0.1, 0.3, 6), math.inf, math.inf, math.inf])
# A fifth of the calls come at once, the rest after up to three times the mean.
GAPS = np.array([0.0, 0.0, 0.5, 0.9, 1.2, 2.8])
GAPS /= np.mean((GAPS[1:] + GAPS[:-1]) / 2)
UNLIKE = (0.4, 1.6, 0.8, 1.2, 1.0, 0.05, 3.0)

SYSTEMS = {
    "one agent": ((1.0,), 0.9, 0.5),
    "one agent who is waited for": ((1.0,), 0.8, 0.0),
    "two": ((0.5, 2.0), 2.4, 1.0),
    "light": (UNLIKE, 2.0, 0.3),
    "critical": (UNLIKE, sum(UNLIKE), 0.3),
    "overloaded": (UNLIKE, 20.0, 0.1),
    "patient": (UNLIKE, 6.5, 0.0),
    "impatient": (UNLIKE, 8.0, math.inf),
    "power of two": ((*UNLIKE, 0.9), 8.0, 2.0),
    "many": (tuple(0.5 + (k * 37 % 100) / 100 for k in range(100)), 99.0, 0.5),
    "nobody": ((), 3.0, 0.5),
    "nobody and no patience": ((), 3.0, math.inf),
}


def by_quantiles(key, call, draw, quantiles):
    counter = np.uint64((3 * int(call) + draw) % 2**64)
    whole, part = divmod(kernels.uniform(key, counter) * (quantiles.size - 1), 1)
    low, high = quantiles[int(whole)], quantiles[int(whole) + 1]
    return high if math.isinf(high) else low + part * (high - low)


def gap_by_hand(key, call, gaps):
    return by_quantiles(key, call, 0, gaps) if gaps.size else kernels.gap(key, call)


def patience_by_hand(key, call, theta, quantiles):
    if quantiles.size:
        return by_quantiles(key, call, 2, quantiles)
    return kernels.patience(key, call) * (1 / theta) if theta > 0 else math.inf


def by_hand(key, rates, in_order, lam, gaps, theta, quantiles, max_calls, warm_up, calls):
    """First come first served, longest idle first or in order, with a sorted list of (when next free, agent).

    And a list of when each call in the system leaves it, to be counted where there is a limit.
    """
    load = lam / sum(rates) if rates else math.inf
    free = []
    for k, rate in enumerate(rates):
        insort(free, (kernels.first_free(key, np.uint64(k), rate, load), k))
    present = [time for time, _ in free]
    now, rows = 0.0, []
    for number in range(-warm_up, calls):
        call = np.uint64(number % 2**64)
        now += gap_by_hand(key, call, gaps) * (1 / lam)
        present = [time for time in present if time > now]
        if len(present) == max_calls:
            rows.append((now, 0.0, math.inf, -2, 0.0))
            continue
        offered = max(free[0][0] - now, 0.0) if free else math.inf
        if offered > 0:
            wait = patience_by_hand(key, call, theta, quantiles)
            if wait < offered:
                present.append(now + wait)
                rows.append((now, wait, offered, -1, 0.0))
                continue
        by_then = [k for time, k in free if time <= now]
        place = [k for _, k in free].index(min(by_then)) if in_order and by_then else 0
        start, agent = free.pop(place)
        service = kernels.work(key, call) * (1 / rates[agent])
        insort(free, (max(start, now) + service, agent))
        present.append(max(start, now) + service)
        rows.append((now, offered, offered, agent, service))
    return [np.array(column) for column in zip(*rows, strict=True)]


@pytest.mark.parametrize(("rates", "lam", "theta"), SYSTEMS.values(), ids=SYSTEMS.keys())
@pytest.mark.parametrize("warm_up", [0, 150])
@pytest.mark.parametrize("in_order", [False, True])
@pytest.mark.parametrize("quantiles", [EXPONENTIAL, QUANTILES], ids=["exponential", "of quantiles"])
def test_every_call_is_that_of_the_obvious_loop(rates, lam, theta, warm_up, in_order, quantiles):
    if not rates:
        quantiles = quantiles[np.isfinite(quantiles)]  # who never gives up must be answered
    system = (in_order, lam, EXPONENTIAL, theta, quantiles, NO_LIMIT, warm_up, 2000)
    compiled = kernels.record_calls(KEY, np.array(rates), *system)
    for mine, plain in zip(compiled, by_hand(KEY, rates, *system), strict=True):
        np.testing.assert_array_equal(mine, plain)


@pytest.mark.parametrize("agents", [0, 1, 2, 7])
@pytest.mark.parametrize("load", [0.8, 1.0, 3.0])
@pytest.mark.parametrize("theta", [0.0, 0.3, math.inf])
@pytest.mark.parametrize("in_order", [False, True])
def test_so_it_is_with_places_for_some_and_gaps_of_any_law(agents, load, theta, in_order):
    """Blocked, and only then, is a call that finds as many in the system as may be in it."""
    rates = UNLIKE[:agents]
    lam = load * sum(rates) if rates else load
    patience = [EXPONENTIAL, QUANTILES] if rates else [EXPONENTIAL] if theta else []
    for quantiles, gaps in product(patience, (EXPONENTIAL, GAPS)):
        blocked = []
        for limit in (NO_LIMIT, agents, agents + 1, agents + 3, agents + 40, 2**62):
            system = (in_order, lam, gaps, theta, quantiles, limit, 20, 300)
            compiled = kernels.record_calls(KEY, np.array(rates), *system)
            for mine, plain in zip(compiled, by_hand(KEY, rates, *system), strict=True):
                np.testing.assert_array_equal(mine, plain)
            blocked.append(np.sum(compiled[3] == -2))
        assert blocked[0] == blocked[-1] == 0
        assert blocked[1] > 0


def test_looking_whether_to_stop_changes_nothing():
    calls = 2 * kernels.CALLS_BETWEEN_LOOKS + 100
    system = (False, 8.0, EXPONENTIAL, 0.3, EXPONENTIAL, NO_LIMIT, 100, calls)
    compiled = kernels.record_calls(KEY, np.array(UNLIKE), *system)
    for mine, plain in zip(compiled, by_hand(KEY, UNLIKE, *system), strict=True):
        np.testing.assert_array_equal(mine, plain)


def surprises_by_hand(record, initial, rates, lam, warm_up):
    """By how much gaps and services exceed their means, plainly and weighted by the strain of the moment."""
    capacity, free = sum(rates), list(initial)
    gaps = strained_gaps = works = strained_works = strain = 0.0
    now = 0.0
    for number, (arrival, wait, offered, agent, service) in enumerate(zip(*record, strict=True)):
        gap = lam * (arrival - now) - 1
        now = arrival
        excess = rates[agent] * service - 1 if agent >= 0 else 0.0
        before = strain
        if not rates:
            strain = 3.0  # whoever comes waits as long as they can
        elif offered > 0:
            strain = 1 + min(0.1 * capacity * (min(free) - arrival), 2)
        else:
            strain = 1 / (1 + capacity * (arrival - free[agent]))  # its agent has been idle for longest
        if agent >= 0:
            free[agent] = arrival + wait + service
        if number >= warm_up:
            gaps += gap
            strained_gaps += gap * (before if number > warm_up else 0.0)
            works += excess
            strained_works += strain * excess
    return [gaps, strained_gaps, works, strained_works]


def totals_by_hand(record, initial, rates, lam, warm_up, threshold, scale, bins):
    arrival, wait, offered, agent, service = record
    measured = slice(warm_up, None)
    opening = arrival[warm_up - 1] if warm_up else 0.0
    answered, blocked = agent >= 0, agent == -2
    # Agents busy from the start count, too, until they are first free.
    starts = np.append(np.where(answered, arrival + offered, 0.0), np.zeros(len(rates)))
    ends = np.append(np.where(answered, arrival + offered + service, 0.0), initial)
    overlap = np.minimum(ends, arrival[-1]) - np.maximum(starts, opening)
    wait, offered, answered, blocked = (column[measured] for column in (wait, offered, answered, blocked))
    waited = wait[wait > 0]
    counts, _ = np.histogram(waited / (waited + scale), bins, (0, 1))
    return [
        wait.size,
        np.sum((offered > 0) & ~blocked),
        wait.sum(),
        np.sum(~answered & ~blocked),
        wait[answered].sum(),
        np.sum(answered & (wait <= threshold)),
        np.sum(offered > threshold),
        overlap[overlap > 0].sum(),
        arrival[-1] - opening,
        *surprises_by_hand(record, initial, rates, lam, warm_up),
        blocked.sum(),
        answered.sum(),
    ], counts


@pytest.mark.parametrize(("rates", "lam", "theta"), SYSTEMS.values(), ids=SYSTEMS.keys())
@pytest.mark.parametrize(("warm_up", "threshold"), [(0, 0.0), (300, 0.25)])
@pytest.mark.parametrize(("gaps", "places"), [(EXPONENTIAL, None), (GAPS, 0), (GAPS, 2)])
def test_totals_are_those_of_the_recorded_calls(rates, lam, theta, warm_up, threshold, gaps, places):
    array, size = np.array(rates), len(rates)
    totals, histogram = np.zeros(kernels.TOTALS), np.zeros(64, np.int64)
    system = (False, lam, gaps, theta, EXPONENTIAL, NO_LIMIT if places is None else size + places)
    kernels.simulate_roster(KEY, array, *system, threshold, warm_up, 3000, totals, histogram, 0.3, GO_ON)
    load = lam / sum(rates) if rates else math.inf
    initial = [kernels.first_free(KEY, np.uint64(k), rate, load) for k, rate in enumerate(rates)]
    record = kernels.record_calls(KEY, array, *system, warm_up, 3000)
    expected, counts = totals_by_hand(record, initial, rates, lam, warm_up, threshold, 0.3, 64)
    np.testing.assert_allclose(totals, expected, rtol=1e-10, atol=1e-8)
    np.testing.assert_array_equal(histogram, counts)
    assert totals[kernels.BUSY] <= size * totals[kernels.ELAPSED] * (1 + 1e-12)


def test_totals_are_added_to():
    arguments = (KEY, np.array(UNLIKE), False, 8.0, EXPONENTIAL, 0.3, EXPONENTIAL, 9, 0.1, 50, 500)
    once, twice = np.zeros(kernels.TOTALS), np.zeros(kernels.TOTALS)
    bins_once, bins_twice = np.zeros(64, np.int64), np.zeros(64, np.int64)
    kernels.simulate_roster(*arguments, once, bins_once, 0.3, GO_ON)
    for _ in range(2):
        kernels.simulate_roster(*arguments, twice, bins_twice, 0.3, GO_ON)
    np.testing.assert_array_equal(twice, 2 * once)
    np.testing.assert_array_equal(bins_twice, 2 * bins_once)


def test_a_batch_is_its_rosters_one_by_one():
    rates = np.random.default_rng(3).uniform(0.5, 1.5, (5, 7))
    warm_up = np.array([20, 30, 0, 50, 1000])
    batch, alone = np.zeros((2, kernels.TOTALS))
    bins_batch, bins_alone = np.zeros(64), np.zeros(64, np.int64)
    common = (True, 7.0, GAPS, 0.5, QUANTILES, 9, 0.1)
    kernels.simulate_batch(KEY, rates, *common, warm_up, 400, np.ones(5), batch, bins_batch, 0.3, GO_ON)
    for r in range(5):
        own = np.uint64(kernels.roster_key(KEY, np.uint64(r)))
        kernels.simulate_roster(own, rates[r], *common, warm_up[r], 400, alone, bins_alone, 0.3, GO_ON)
    np.testing.assert_array_equal(batch, alone)
    np.testing.assert_array_equal(bins_batch, bins_alone)


def test_a_day_of_more_calls_weighs_more_and_absent_agents_never_answer():
    rates = np.array([[1.0, 0.0, 0.7, 0.0], [0.5, 0.9, 1.1, 0.3]])
    factors, warm_up = np.array([0.8, 1.3]), np.array([20, 30])
    batch, expected = np.zeros((2, kernels.TOTALS))
    bins_batch, expected_bins = np.zeros((2, 64))
    laws = (EXPONENTIAL, 0.5, EXPONENTIAL, 5, 0.1)
    kernels.simulate_batch(
        KEY, rates, False, 2.0, *laws, warm_up, 400, factors, batch, bins_batch, 0.3, GO_ON
    )
    for r, present in enumerate([[1.0, 0.7], [0.5, 0.9, 1.1, 0.3]]):
        own = np.uint64(kernels.roster_key(KEY, np.uint64(r)))
        totals, bins = np.zeros(kernels.TOTALS), np.zeros(64, np.int64)
        lam = 2.0 * factors[r]
        kernels.simulate_roster(
            own, np.array(present), False, lam, *laws, warm_up[r], 400, totals, bins, 0.3, GO_ON
        )
        expected += factors[r] * totals
        expected_bins += factors[r] * bins
    np.testing.assert_allclose(batch, expected, rtol=1e-14)
    np.testing.assert_allclose(bins_batch, expected_bins, rtol=1e-14)


def test_without_agents_callers_who_never_give_up_hold_every_place():
    """On other days they come to nobody, too, and are blocked all the same."""
    rates, warm_up = np.array([[0.0, 0.0], [1.0, 0.5], [0.0, 0.0]]), np.full(3, 20)
    for theta, quantiles in ((0.0, EXPONENTIAL), (1.0, QUANTILES)):
        batch, alone = np.zeros((2, kernels.TOTALS))
        bins, alone_bins = np.zeros((2, 64))
        days = (0.25, warm_up, 400)
        system = (False, 2.0, EXPONENTIAL, theta, quantiles, 6)
        factors = np.array([0.5, 1.2, 2.0])
        kernels.simulate_batch(KEY, rates, *system, *days, factors, batch, bins, 0.3, GO_ON)
        own = np.uint64(kernels.roster_key(KEY, np.uint64(1)))
        totals, counts = np.zeros(kernels.TOTALS), np.zeros(64, np.int64)
        system = (False, 2.4, *system[2:])
        kernels.simulate_roster(own, rates[1], *system, 0.25, 20, 400, totals, counts, 0.3, GO_ON)
        alone += 1.2 * totals
        alone_bins += 1.2 * counts
        for total in (kernels.CALLS, kernels.LATE, kernels.BLOCKED):
            alone[total] += 2.5 * 400
        # Weighed by the factors, both days are as long; six callers wait throughout.
        alone[kernels.ELAPSED] += 2 * 200
        alone[kernels.WAIT] += 6 * 2 * 200
        np.testing.assert_allclose(batch, alone, rtol=1e-14)
        np.testing.assert_allclose(bins, alone_bins, rtol=1e-14)


def test_a_kernel_told_to_stop_does_so_at_its_next_look():
    stop = np.ones(1, np.uint8)
    totals, histogram = np.zeros(kernels.TOTALS), np.zeros(64, np.int64)
    record = np.zeros((3 * kernels.CALLS_BETWEEN_LOOKS, 5))
    size = len(record) - 7
    system = (False, 8.0, EXPONENTIAL, 0.3, EXPONENTIAL, NO_LIMIT)
    kernels.serve(KEY, np.array(UNLIKE), *system, 0.1, 7, size, totals, histogram, 0.3, stop, record)
    assert np.all(record[:7, 0] > 0)  # calls before the first look, at call 0
    assert not record[7:].any()
    bins = np.zeros(64)
    kernels.simulate_batch(
        KEY, np.ones((2, 7)), *system, 0.1, np.full(2, 7), size, np.ones(2), totals, bins, 0.3, stop
    )
    assert not bins.any()
    assert not totals.any()
    assert not histogram.any()


def test_the_longest_idle_agent_answers():
    rates = np.array(UNLIKE)
    arrival, _, offered, agent, service = kernels.record_calls(
        KEY, rates, False, 3.0, EXPONENTIAL, 0.5, EXPONENTIAL, NO_LIMIT, 0, 5000
    )
    free = np.array([kernels.first_free(KEY, np.uint64(k), r, 3 / rates.sum()) for k, r in enumerate(rates)])
    choices = 0
    for a, v, k, s in zip(arrival, offered, agent, service, strict=True):
        if k < 0:
            continue
        choices += np.sum(free <= a) > 1
        assert free[k] == free.min()
        free[k] = a + v + s
    assert choices > 1000


@pytest.mark.parametrize("lam", [5.0, 9.5, 10.5])
def test_one_more_agent_shortens_every_wait_of_patient_callers(lam):
    # With identical agents the ordered free times of n + 1 agents never exceed those of n (Kiefer-Wolfowitz).
    few, more = (
        kernels.record_calls(
            KEY, np.full(n, 1.0), False, lam, EXPONENTIAL, 0.0, EXPONENTIAL, NO_LIMIT, 0, 20_000
        )
        for n in (10, 11)
    )
    np.testing.assert_array_equal(few[0], more[0])
    np.testing.assert_array_equal(few[4], more[4])
    assert np.all(more[2] <= few[2] + 1e-9)
    assert more[2].sum() < 0.9 * few[2].sum()


def test_callers_are_the_same_whatever_the_warm_up():
    rates = np.array(UNLIKE)
    short, long = (
        kernels.record_calls(KEY, rates, False, 8.0, EXPONENTIAL, 1.0, EXPONENTIAL, NO_LIMIT, warm_up, 500)
        for warm_up in (100, 3000)
    )
    np.testing.assert_allclose(np.diff(short[0][-500:]), np.diff(long[0][-500:]), rtol=1e-9)
    work_short, work_long = (r[4] * np.where(r[3] >= 0, rates[r[3]], 0.0) for r in (short, long))
    both = (short[3][-500:] >= 0) & (long[3][-500:] >= 0)
    assert both.sum() > 300
    np.testing.assert_allclose(work_short[-500:][both], work_long[-500:][both])
