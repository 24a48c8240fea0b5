"""The shared queue simulated: many rosters, in independent batches, with honest standard errors."""

import math
from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from staffing.models.arguments import count, non_negative, positive
from staffing.models.errors import Infeasible, ScenarioError
from staffing.models.performance import MEASURES, MethodError, Performance, Sums, measures, performance
from staffing.models.simulation import _kernels as kernels
from staffing.models.simulation.controlled_mean import controlled_mean, enough
from staffing.models.simulation.histogram_waits import BINS, HistogramWaits, wait_scale
from staffing.models.simulation.quantile_tables import gap_table, patience_table, table_scv
from staffing.models.simulation.warm_up import settles, warm_up_calls
from staffing.models.stoppable_threads import Flag, in_threads, never

UNBOUNDED = ("mean_wait", "mean_wait_answered", "mean_queue", "throughput")
Rosters = Callable[[int, np.random.Generator], NDArray[np.float64]]
Factors = Callable[[int, np.random.Generator], NDArray[np.float64]]

Report = Callable[[int], None]

CONTROLS = 5
FEWEST_LOST = 30
"""Calls lost in a batch, below which patience is no control."""
LEAST_SCV = 1e-12
"""Squared CV of times between calls, below which only rounding tells them apart: they are no control."""
MOST_COUNTED = 2**62
"""A limit on calls that is none: machine integers go on for a little."""


class _Batch(NamedTuple):
    totals: NDArray[np.float64]
    sizes: NDArray[np.float64]
    settled: bool
    histogram: NDArray[np.float64]


class _Results(NamedTuple):
    """Totals, mean capacity and agents present of each batch, one row each; whether all settled, and all bins."""

    totals: NDArray[np.float64]
    sizes: NDArray[np.float64]
    settled: bool
    histogram: NDArray[np.float64]


class SharedQueueSimulation:
    """Simulation of one queue served first come first served by unlike agents, longest idle first or in a given order.

    Poisson or renewal arrivals of rate lam, exponential service at rate mu_k by agent k, patience exponential of rate
    theta or of any law, and places to wait for all or for some. Each roster is simulated for a warm-up, which is left
    out, then for the same number of calls. Batches of rosters are independent and accumulate; results depend on the
    seed and the number of batches only. Simulations with the same seed and calls per roster measure the same callers,
    whatever their agents. Nothing is approximate but for chance, told by the standard errors, and what the warm-up
    leaves of the start.

    Parameters
    ----------
    arrival_rate : float
        lam > 0, calls per unit of time.
    rosters : callable
        `rosters(size, generator)` gives the agents' rates, > 0 or 0 for an absent agent, shape (size, agents).
        Rosters of one batch may depend on each other, as strata do; different batches must not. Called from several
        threads.
    agents : int
        Agents in each roster, >= 0.
    abandonment_rate : float
        theta >= 0, 1 / mean patience; 0 if callers never give up, infinite if none of them waits.
    patience_quantiles : ndarray, shape (m + 1,), optional
        Patience exceeded with probability 1 - k / m, k = 0 ... m, even in between; infinite for callers who never give
        up. Instead of exponential patience; `abandonment_rate` then only sizes the runs.
    arrival_factors : callable, optional
        `arrival_factors(size, generator)` gives factors on lam, > 0, one per roster of a batch, of mean 1: so many
        calls its day has. Shares are then of all days' calls, mean queue and busy agents of their time.
    gap_quantiles : ndarray, shape (m + 1,), optional
        Times between calls exceeded with probability 1 - k / m, k = 0 ... m, even in between, all finite, in any unit:
        they are scaled to mean 1 / lam. Exponential if omitted or empty.
    max_calls : int, optional
        Calls being served or waiting at which one more is blocked, >= agents; it neither waits nor is served, counts as
        offered, and its wait is 0. Absent agents leave their places to those who wait.
    in_order : bool
        Whether calls go to the first idle agent in the order of the roster, not to the one idle for longest.
    threshold : float
        Wait within which a call counts as answered in time, >= 0.
    seed : int
        Seed of everything random, >= 0.
    time_unit : str
        Name of the unit of time.
    rosters_per_batch : int
        Rosters in a batch, >= 1.
    calls_per_roster : int, optional
        Measured calls of each roster, >= 1. If omitted, four times the warm-up of a roster of average
        capacity and at least 200.
    warm_up_calls : int, optional
        Calls left out of each roster, >= 0. If omitted, five times that roster's `relaxation_time`.

    Raises
    ------
    ScenarioError
        If an argument is out of range, or `rosters` returns anything but positive rates of that shape.
    """

    def __init__(
        self,
        *,
        arrival_rate: float,
        rosters: Rosters,
        agents: int,
        abandonment_rate: float,
        patience_quantiles: NDArray[np.float64] | None = None,
        arrival_factors: Factors | None = None,
        gap_quantiles: NDArray[np.float64] | None = None,
        max_calls: int | None = None,
        in_order: bool = False,
        threshold: float = 0.0,
        seed: int = 0,
        time_unit: str = "unit of the rates",
        rosters_per_batch: int = 64,
        calls_per_roster: int | None = None,
        warm_up_calls: int | None = None,
    ) -> None:
        self.arrival_rate = positive("arrival_rate", arrival_rate)
        self.agents = count("agents", agents)
        self.abandonment_rate = non_negative("abandonment_rate", abandonment_rate, infinite=True)
        self._patience = patience_table(patience_quantiles)
        self._gaps = gap_table(gap_quantiles)
        self._arrival_scv = table_scv(self._gaps) if self._gaps.size else 1.0
        self.max_calls = None if max_calls is None else _limit(max_calls, self.agents)
        self._factors = arrival_factors
        self._in_order = in_order
        self.threshold = non_negative("threshold", threshold)
        self.seed = count("seed", seed)
        self.time_unit = time_unit
        self.rosters_per_batch = _at_least_one("rosters_per_batch", rosters_per_batch)
        if not callable(rosters):
            raise ScenarioError(f"rosters: {rosters!r} must be a function of (size, generator)")
        self._draw = rosters
        self._warm_up = None if warm_up_calls is None else count("warm_up_calls", warm_up_calls)
        rates = self._rosters_of(0)
        # A roster of average capacity, to size the runs and the bins by.
        typical = np.full(self.agents, rates.mean() if self.agents else 0.0)
        self.calls_per_roster = (
            max(4 * int(self._warm_up_of(typical)), 200)
            if calls_per_roster is None
            else _at_least_one("calls_per_roster", calls_per_roster)
        )
        places = None if self.max_calls is None else self.max_calls - self.agents
        self._scale = wait_scale(float(typical.sum()), self.arrival_rate, self.abandonment_rate, places)
        self._results = _Results(np.empty((0, kernels.TOTALS)), np.empty((0, 2)), True, np.zeros(BINS))

    @property
    def batches(self) -> int:
        """Batches simulated so far."""
        return len(self._results.totals)

    @property
    def rosters(self) -> int:
        """Rosters simulated so far."""
        return self.batches * self.rosters_per_batch

    @property
    def calls(self) -> int:
        """Calls measured so far."""
        return self.rosters * self.calls_per_roster

    @property
    def settled(self) -> bool:
        """Whether every roster so far was left to itself until it forgot its start, or would have been."""
        return self._results.settled

    @property
    def degrees_of_freedom(self) -> int:
        """Of the standard errors, for Student's law."""
        return self.batches - 1 - (CONTROLS if enough(self.batches, CONTROLS) else 0)

    def run(self, batches: int, workers: int = 1, report: Report | None = None) -> None:
        """Simulate `batches` more batches, on `workers` threads.

        An interrupt is heard at once, leaves no thread running and adds nothing; a later run gives what it would have
        given.

        Parameters
        ----------
        batches : int
            How many, >= 0.
        workers : int
            Threads, >= 1. The results do not depend on it.
        report : callable, optional
            Told how many more rosters have been simulated, again and again, in the calling thread.

        Raises
        ------
        ScenarioError
            If an argument is out of range or `rosters` returns something unusable.
        Infeasible
            If a roster's capacity does not exceed the rate at which callers arrive who never give up, and no limit ends
            its queue: it grows for ever and no mean over rosters exists.
        """
        numbers = range(self.batches, self.batches + count("batches", batches))
        workers = _at_least_one("workers", workers)
        # What must be compiled is so here, by simulating nothing: this thread hears an interrupt.
        self._simulate(np.uint64(0), np.empty((0, self.agents)), np.empty(0), never())
        totals: list[NDArray[np.float64]] = []
        sizes: list[NDArray[np.float64]] = []
        histogram = self._results.histogram.copy()

        settled = self._results.settled

        def take(batch: _Batch) -> None:
            nonlocal settled
            settled = settled and batch.settled
            totals.append(batch.totals)
            sizes.append(batch.sizes)
            np.add(histogram, batch.histogram, out=histogram)
            if report is not None:
                report(self.rosters_per_batch)

        in_threads(self._batch, numbers, workers, take)
        # One assignment, which no interrupt can cut in two.
        self._results = _Results(
            np.vstack([self._results.totals, *totals]),
            np.vstack([self._results.sizes, *sizes]),
            settled,
            histogram,
        )

    def performance(self) -> Performance:
        """What callers and agents experience, with standard errors from batch to batch.

        Every measure is a mean over batches of jackknife pseudo-values, corrected for the part explained by the
        batch's luck: by how much its gaps, services and patience differ from their means, which are inputs. It takes
        nothing from any formula for queues.

        Raises
        ------
        ScenarioError
            If fewer than two batches have been run.
        """
        batches = self.batches
        if batches < 2:
            raise ScenarioError(
                f"batches: {batches} have been run, at least 2 are needed to tell how uncertain the results "
                f"are; call run({2 - batches}) first"
            )
        totals, sizes, _, histogram = self._results
        whole = self._measures(totals.sum(axis=0), sizes.mean(axis=0))
        others = [
            self._measures(rest, size)
            for rest, size in zip(
                totals.sum(axis=0) - totals, (sizes.sum(axis=0) - sizes) / (batches - 1), strict=True
            )
        ]
        controls = self.controls()
        values, errors = {}, {}
        for m in MEASURES:
            if not math.isfinite(whole[m]):
                values[m] = errors[m] = math.inf
                continue
            pseudo = batches * whole[m] - (batches - 1) * np.array([other[m] for other in others])
            values[m], errors[m] = controlled_mean(pseudo, controls)
            if m not in UNBOUNDED:
                values[m] = min(max(values[m], 0.0), 1.0)
        method_error: dict[str, MethodError] = dict.fromkeys(MEASURES, "unknown")
        if self.max_calls is None:
            method_error["blocking_probability"] = "exact"
        return performance(
            values,
            method="simulation",
            method_error=method_error,
            time_unit=self.time_unit,
            threshold=self.threshold,
            wait_law=HistogramWaits.of_counts(histogram, self._scale, float(totals[:, kernels.CALLS].sum())),
            standard_errors=errors,
        )

    def batch_values(self) -> list[dict[str, float]]:
        """Every measure by its name for each batch alone, in their order; batches are independent."""
        return [
            self._measures(totals, sizes)
            for totals, sizes in zip(self._results.totals, self._results.sizes, strict=True)
        ]

    def controls(self) -> NDArray[np.float64]:
        """Surprises of mean zero per call of each batch, shape (batches, 5).

        Gaps and services less their means, plainly and weighted by the strain they came upon; and exponential patience:
        callers give up at rate theta while they wait, so abandonments less theta times the waits have mean zero.
        """
        totals = self._results.totals
        surprises = totals[:, [kernels.GAPS, kernels.STRAINED_GAPS, kernels.WORK, kernels.STRAINED_WORK]]
        if self._arrival_scv < LEAST_SCV:
            surprises[:, :2] = 0.0
        lost = totals[:, kernels.LOST]
        exponential = self.abandonment_rate < math.inf and self._patience.size == 0
        # Where hardly anybody gives up it is the few who do that keep its mean at zero, and chance may leave them out.
        theta = self.abandonment_rate if exponential and lost.mean() >= FEWEST_LOST else 0.0
        giving_up = theta * totals[:, kernels.WAIT] - (lost if theta else 0.0)
        return np.column_stack([surprises, giving_up]) / totals[:, [kernels.CALLS]]

    def _measures(self, totals: NDArray[np.float64], sizes: NDArray[np.float64]) -> dict[str, float]:
        share = (totals / totals[kernels.CALLS]).tolist()
        sums = Sums(
            answered=share[kernels.ANSWERED],
            waits=share[kernels.WAITS],
            queue=self.arrival_rate * share[kernels.WAIT],
            lost=share[kernels.LOST],
            answered_wait=share[kernels.ANSWERED_WAIT],
            answered_in_time=share[kernels.IN_TIME],
            virtually_late=share[kernels.LATE],
            busy=min(max(float(totals[kernels.BUSY] / totals[kernels.ELAPSED]), 0.0), float(self.agents)),
            blocked=share[kernels.BLOCKED],
        )
        capacity, present = sizes.tolist()
        values = measures(sums, arrival_rate=self.arrival_rate, agents=present, capacity=capacity)
        if capacity > 0:
            # By chance more may be answered than in the long run can be: cut off here, the mean and its error would be
            # too small.
            values["capacity_utilisation"] = values["throughput"] / capacity
        return values

    @property
    def _never_giving_up(self) -> float:
        """The share of callers with endless patience."""
        if self._patience.size == 0:
            return float(self.abandonment_rate == 0)
        return float(np.isinf(self._patience[1:]).mean())

    def _seeds(self, batch: int) -> tuple[np.random.Generator, np.uint64]:
        rosters, calls, _ = np.random.SeedSequence(self.seed, spawn_key=(batch,)).spawn(3)
        return np.random.default_rng(rosters), calls.generate_state(1, np.uint64)[0]

    def _rosters_of(self, batch: int) -> NDArray[np.float64]:
        generator, _ = self._seeds(batch)
        rates = np.ascontiguousarray(self._draw(self.rosters_per_batch, generator), np.float64)
        shape = (self.rosters_per_batch, self.agents)
        if rates.shape != shape:
            raise ScenarioError(f"rosters: returned rates of shape {rates.shape}, needed is {shape}")
        if not np.all((rates >= 0) & (rates < math.inf)):
            wrong = rates[~((rates >= 0) & (rates < math.inf))][0]
            raise ScenarioError(
                f"rosters: returned a rate of {wrong}; rates must be above 0 and finite, or 0 for an absent agent"
            )
        return rates

    def _factors_of(self, batch: int) -> NDArray[np.float64]:
        if self._factors is None:
            return np.ones(self.rosters_per_batch)
        *_, own = np.random.SeedSequence(self.seed, spawn_key=(batch,)).spawn(3)
        factors = np.ascontiguousarray(
            self._factors(self.rosters_per_batch, np.random.default_rng(own)), np.float64
        )
        if factors.shape != (self.rosters_per_batch,) or not np.all((factors > 0) & (factors < math.inf)):
            raise ScenarioError(
                f"arrival_factors: must return {self.rosters_per_batch} numbers above 0 and finite"
            )
        return factors

    def _warm_up_of(
        self, rates: NDArray[np.float64], factors: float | NDArray[np.float64] = 1.0
    ) -> NDArray[np.int64]:
        if self._warm_up is not None:
            return np.full(rates.shape[:-1], self._warm_up)
        return warm_up_calls(
            rates,
            self.arrival_rate * factors,
            self.abandonment_rate,
            max_calls=self.max_calls,
            arrival_scv=self._arrival_scv,
        )

    def _batch(self, batch: int, stop: Flag) -> _Batch:
        rates, factors = self._rosters_of(batch), self._factors_of(batch)
        capacity = rates.sum(axis=1)
        endless = self.arrival_rate * self._never_giving_up if self.max_calls is None else 0.0
        if endless > 0 and np.any(capacity <= endless * factors):
            raise Infeasible(
                f"calls arrive at rate {endless:g}, a roster can serve {capacity.min():g} (mean over rosters "
                f"{capacity.mean():g}) and their callers never give up, so its queue would grow for ever; "
                "capacity must exceed that rate in every roster: add agents, make patience finite or set max_calls"
            )
        totals, histogram = self._simulate(self._seeds(batch)[1], rates, factors, stop)
        settled = settles(
            rates,
            self.arrival_rate * factors,
            self.abandonment_rate,
            max_calls=self.max_calls,
            arrival_scv=self._arrival_scv,
        )
        sizes = np.array([capacity.mean(), (rates > 0).sum(axis=1).mean()])
        return _Batch(totals, sizes, settled, histogram)

    def _simulate(
        self, key: np.uint64, rates: NDArray[np.float64], factors: NDArray[np.float64], stop: Flag
    ) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        totals, histogram = np.zeros(kernels.TOTALS), np.zeros(BINS)
        kernels.simulate_batch(
            key,
            rates,
            self._in_order,
            self.arrival_rate,
            self._gaps,
            self.abandonment_rate,
            self._patience,
            -1 if self.max_calls is None else min(self.max_calls, MOST_COUNTED),
            self.threshold,
            self._warm_up_of(rates, factors),
            self.calls_per_roster,
            factors,
            totals,
            histogram,
            self._scale,
            stop,
        )
        return totals, histogram


def _limit(max_calls: int, agents: int) -> int:
    result = count("max_calls", max_calls)
    if result < agents:
        raise ScenarioError(
            f"max_calls: {result} is below the {agents} agents, each of whom can serve a call; make it at least as many"
        )
    return result


def _at_least_one(name: str, value: object) -> int:
    result = count(name, value)
    if result < 1:
        raise ScenarioError(f"{name}: {value!r} must be at least 1")
    return result
