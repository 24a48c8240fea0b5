"""SimPy as its guide writes a queue with reneging: a process per caller, who asks a resource and waits so long."""

from collections.abc import Generator
from random import Random

from simpy import Environment, Event, Resource

from benchmarks.simulated_queue import Answer


def simulate(
    agents: int, arrival_rate: float, abandonment_rate: float, warm_up: int, calls: int, seed: int
) -> Answer:
    exponential = Random(seed).expovariate
    environment = Environment()
    team = Resource(environment, agents)
    waits, lost, total_wait = 0, 0, 0.0

    def caller(counts: bool) -> Generator[Event]:
        nonlocal waits, lost, total_wait
        came = environment.now
        with team.request() as agent:
            if not agent.triggered:
                happened = yield agent | environment.timeout(exponential(abandonment_rate))
                if counts:
                    waits += 1
                    total_wait += environment.now - came
                    lost += agent not in happened
                if agent not in happened:
                    return
            yield environment.timeout(exponential(1.0))

    def callers() -> Generator[Event]:
        for number in range(warm_up + calls):
            yield environment.timeout(exponential(arrival_rate))
            environment.process(caller(number >= warm_up))

    environment.run(environment.process(callers()))
    return Answer(waits / calls, total_wait / calls, lost / calls)
