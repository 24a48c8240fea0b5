"""LINE's exact Erlang A, with its measures under our names."""

from line_solver.api.qsys import qsys_erlanga


def evaluate(
    arrival_rate: float, service_rate: float, abandonment_rate: float, agents: int
) -> dict[str, float]:
    found = qsys_erlanga(arrival_rate, service_rate, abandonment_rate, agents)
    return {
        "wait_probability": 1.0 - found["probNoWait"],
        "mean_wait": found["meanWait"],
        "mean_wait_answered": found["meanWaitServed"],
        "mean_queue": found["meanQueueLength"],
        "abandonment_probability": found["probAbandon"],
        "occupancy": found["utilization"],
        "throughput": found["throughput"],
    }
