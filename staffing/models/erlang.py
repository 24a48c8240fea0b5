"""Identical agents: Erlang B, C and A, and any law of patience."""

import numpy as np

from staffing.models.arguments import count, positive
from staffing.models.patience import PatienceLaw
from staffing.models.performance import Performance
from staffing.models.shared_queue import Callers, closure_rows, shared_queue

_ONE = np.ones(1)


def erlang_a(
    arrival_rate: float,
    service_rate: float,
    abandonment_rate: float,
    agents: int,
    *,
    threshold: float = 0.0,
    time_unit: str = "time unit of the rates",
    max_calls: int | None = None,
) -> Performance:
    """Queue M/M/n+M, or M/M/n/N+M: Poisson calls, identical exponential agents, exponential patience.

    States: death rates min(x, n) mu + (x - n)^+ theta; every sum over states is a sum of positive terms.

    Parameters
    ----------
    arrival_rate : float
        lam, calls per unit of time, >= 0.
    service_rate : float
        mu, calls an agent completes per unit of busy time, > 0.
    abandonment_rate : float
        theta = 1 / mean patience, >= 0; 0 gives Erlang C, infinity the loss system of Erlang B.
    agents : int
        n >= 0; below the offered load too.
    threshold : float
        The wait that counts as in time, >= 0.
    time_unit : str
        What the rates are per.
    max_calls : int, optional
        N >= n, the most calls in the system; a call that finds so many is blocked.

    Returns
    -------
    Performance
        Exact, with a limit by quadrature to about 1e-12 of each measure. Shares, and the mean wait, are of all calls,
        blocked ones included, who do not wait and are not answered in time. With theta = 0, no limit and lam >= n mu
        the queue grows without end: every call waits, mean wait infinite.

    Raises
    ------
    ScenarioError
        If a parameter is out of range.

    References
    ----------
    Garnett, Mandelbaum and Reiman (2002), Designing a call center with impatient customers.
    """
    callers = Callers(arrival_rate, abandonment_rate, threshold, time_unit, max_calls=max_calls)
    n = count("agents", agents)
    capacity = np.array([n * positive("service_rate", service_rate)])
    rows = closure_rows(callers, n, capacity, 0.0)
    return shared_queue(callers, n, rows, capacity, _ONE, method=kendall(callers, n))


def kendall(callers: Callers, agents: int) -> str:
    """What the queue of agents alike is called."""
    if callers.max_calls == agents:
        return "Erlang B"
    if callers.bursty:
        return "GI/M/n" if callers.abandonment_rate == 0 else "GI/M/n+M"
    places = "" if callers.max_calls is None else "/N"
    if callers.patience is not None:
        return f"M/M/n{places}+G"
    if places:
        return "M/M/n/N" if callers.abandonment_rate == 0 else "M/M/n/N+M"
    return "Erlang C" if callers.abandonment_rate == 0 else "Erlang A"


def erlang_g(
    arrival_rate: float,
    service_rate: float,
    patience: PatienceLaw,
    agents: int,
    *,
    threshold: float = 0.0,
    time_unit: str = "time unit of the rates",
    max_calls: int | None = None,
) -> Performance:
    """Queue M/M/n+G, or M/M/n/N+G: Poisson calls, identical exponential agents, patience by any law.

    The wait V offered to a call has a density in proportion to exp(lam E[min(patience, t)] - n mu t), t > 0; with a
    limit N, times the chance that a Poisson number of mean lam E[min(patience, t)] is below N - n. Other parameters,
    conventions and errors are those of `erlang_a`, of which it is the case of exponential patience.

    Parameters
    ----------
    patience : PatienceLaw
        The law of patience, in the same unit of time.

    Returns
    -------
    Performance
        Exact, by quadrature, to about 1e-12 of each measure.

    References
    ----------
    Baccelli and Hebuterne (1981), On queues with impatient customers; Zeltyn and Mandelbaum (2005), Call centers with
    impatient customers: many-server asymptotics of the M/M/n+G queue.
    """
    callers = Callers(
        arrival_rate, threshold=threshold, time_unit=time_unit, patience=patience, max_calls=max_calls
    )
    n = count("agents", agents)
    capacity = np.array([n * positive("service_rate", service_rate)])
    rows = closure_rows(callers, n, capacity, 0.0)
    return shared_queue(callers, n, rows, capacity, _ONE, method=kendall(callers, n))


def erlang_c(
    arrival_rate: float,
    service_rate: float,
    agents: int,
    *,
    threshold: float = 0.0,
    time_unit: str = "time unit of the rates",
) -> Performance:
    """Queue M/M/n: nobody gives up. See `erlang_a`, of which it is the case theta = 0."""
    return erlang_a(arrival_rate, service_rate, 0.0, agents, threshold=threshold, time_unit=time_unit)


def erlang_b(
    arrival_rate: float, service_rate: float, agents: int, *, time_unit: str = "time unit of the rates"
) -> Performance:
    """Loss system M/M/n/n: a call that finds no agent free is blocked; see `erlang_a`, its case N = n."""
    n = count("agents", agents)
    return erlang_a(arrival_rate, service_rate, np.inf, n, time_unit=time_unit, max_calls=n)
