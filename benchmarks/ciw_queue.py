"""Ciw: one node, floats, no progress bar, no state tracker; callers are tallied and forgotten, not recorded."""

import ciw

from benchmarks.simulated_queue import Answer


class Tally(ciw.Node):
    """A node that adds up instead of writing a record per caller."""

    warm_up = 0
    calls, waits, lost, total_wait = 0, 0, 0, 0.0

    def write_individual_record(self, individual: ciw.Individual) -> None:
        if individual.id_number > self.warm_up:
            self.calls += 1
            if individual.service_start_date > individual.arrival_date:
                self.waits += 1
                self.total_wait += individual.service_start_date - individual.arrival_date

    def write_reneging_record(self, individual: ciw.Individual) -> None:
        if individual.id_number > self.warm_up:
            self.calls += 1
            self.waits += 1
            self.lost += 1
            self.total_wait += individual.exit_date - individual.arrival_date


class Exit(ciw.ExitNode):
    """An exit that counts callers and does not keep them."""

    def accept(self, individual: ciw.Individual, completed: bool = True) -> None:
        self.number_of_individuals += 1
        self.number_of_completed_individuals += completed


def simulate(
    agents: int, arrival_rate: float, abandonment_rate: float, warm_up: int, calls: int, seed: int
) -> Answer:
    ciw.seed(seed)
    network = ciw.create_network(
        arrival_distributions=[ciw.dists.Exponential(arrival_rate)],
        service_distributions=[ciw.dists.Exponential(1.0)],
        reneging_time_distributions=[ciw.dists.Exponential(abandonment_rate)],
        number_of_servers=[agents],
    )
    simulation = ciw.Simulation(network, node_class=Tally, exit_node_class=Exit)
    (node,) = simulation.transitive_nodes
    node.warm_up = warm_up
    simulation.simulate_until_max_customers(warm_up + calls, method="Finish")
    return Answer(node.waits / node.calls, node.total_wait / node.calls, node.lost / node.calls)
