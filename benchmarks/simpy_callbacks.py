"""SimPy at its quickest: no process and no resource, an event for each arrival and each service, nothing else.

Random numbers are drawn all at once by numpy. Who gives up is found out when an agent looks for the next caller, which
saves the events at which callers lose patience and the cancelled ones among them.
"""

from collections import deque

import numpy as np
from simpy import Environment, Event

from benchmarks.simulated_queue import Answer


def simulate(
    agents: int, arrival_rate: float, abandonment_rate: float, warm_up: int, calls: int, seed: int
) -> Answer:
    draw = np.random.default_rng(seed).exponential
    size = warm_up + calls
    services = iter(draw(1.0, size).tolist())
    patiences = iter(draw(1.0 / abandonment_rate, size).tolist())
    environment = Environment()
    timeout = environment.timeout
    queue: deque[tuple[float, float]] = deque()
    join, leave = queue.append, queue.popleft
    idle, waits, lost, total_wait = agents, 0, 0, 0.0

    def arrive(_: Event) -> None:
        nonlocal idle, waits
        if idle:
            idle -= 1
            timeout(next(services)).callbacks.append(end_service)
        else:
            waits += 1
            now = environment.now
            join((now, now + next(patiences)))
        gap = next(gaps, None)
        if gap is None:
            finished.succeed()
        else:
            timeout(gap).callbacks.append(arrive)

    def end_service(_: Event) -> None:
        nonlocal idle, lost, total_wait
        now = environment.now
        while queue:
            came, deadline = leave()
            if deadline > now:
                total_wait += now - came
                timeout(next(services)).callbacks.append(end_service)
                return
            lost += 1
            total_wait += deadline - came
        idle += 1

    def run(size: int) -> tuple[int, float, int]:
        nonlocal gaps, finished
        gaps, finished = iter(draw(1.0 / arrival_rate, size).tolist()), environment.event()
        timeout(next(gaps)).callbacks.append(arrive)
        environment.run(finished)
        return waits, total_wait, lost

    gaps, finished = iter(()), environment.event()
    before = run(warm_up)
    return Answer(*((after - earlier) / calls for after, earlier in zip(run(calls), before, strict=True)))
