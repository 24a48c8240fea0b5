"""Which idle agent gets a call: the rules by name, and those that take a number or a list."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from difflib import get_close_matches

import numpy as np
from numpy.typing import NDArray

from staffing.models.arguments import count, number
from staffing.models.errors import ScenarioError

EXACT_ROUTINGS = ("longest-idle", "random")
"""Rules that have one law in common, in closed form."""
NAMED_ROUTINGS = (*EXACT_ROUTINGS, "fastest-first", "slowest-first", "least-occupied")


@dataclass(frozen=True)
class Priority:
    """The idle agent who stands first in a list gets the call.

    Parameters
    ----------
    order : sequence of int
        Positions of the agents among the rates, from 0, each once; who stands first gets calls first. Where only the
        first n agents are staffed, the others are passed over.

    Raises
    ------
    ScenarioError
        If a position is not a whole number of at least 0, or is there twice.
    """

    order: Sequence[int]

    def __post_init__(self) -> None:
        order = tuple(count(f"routing[{k}]", agent) for k, agent in enumerate(self.order))
        if repeated := sorted(agent for agent, times in Counter(order).items() if times > 1):
            raise ScenarioError(f"routing: the priority list repeats {_agents(repeated)}")
        object.__setattr__(self, "order", order)


@dataclass(frozen=True)
class WeightedRandom:
    """One of the idle agents gets the call, with a chance proportional to a power of the agent's rate.

    Parameters
    ----------
    power : float
        From -1, where an agent twice as fast is half as likely to be taken, to 1, where it is twice as likely. 0 is
        random routing.

    Raises
    ------
    ScenarioError
        If the power is beyond those, where no formula of this package is any good.
    """

    power: float

    def __post_init__(self) -> None:
        power = number("power", self.power)
        if not -1 <= power <= 1:
            raise ScenarioError(
                f"power: {self.power!r} must be from -1 to 1; weights more unequal come near to slowest-first"
                " or fastest-first"
            )
        object.__setattr__(self, "power", power)


Rule = str | Priority | WeightedRandom
Routing = Rule | Sequence[int]
"""What a caller may give: a rule, or the order of a `Priority`."""


def rule_of(routing: Routing, agents: int | None = None) -> Rule:
    """The rule that is meant; a list must have each of so many agents, or names no agents where there is no number.

    Raises
    ------
    ScenarioError
        If the name is not known, or the list misses or repeats an agent, or has one that is not there.
    """
    if isinstance(routing, WeightedRandom):
        return "random" if routing.power == 0 else routing
    if isinstance(routing, str) and routing in NAMED_ROUTINGS:
        return routing
    if isinstance(routing, (Sequence, np.ndarray)) and not isinstance(routing, str):
        routing = Priority(routing)
    if not isinstance(routing, Priority):
        raise ScenarioError(
            f"routing: {routing!r} is not known; known are {', '.join(NAMED_ROUTINGS)}, a list of agents'"
            f" positions, and WeightedRandom(power){_nearest(routing)}"
        )
    if agents is None:
        raise ScenarioError(
            "routing: a priority list is for agents who are given; for agents drawn at random there are"
            " fastest-first and slowest-first"
        )
    if missing := sorted(set(range(agents)) - set(routing.order)):
        raise ScenarioError(f"routing: the priority list misses {_agents(missing)}")
    if strange := sorted(set(routing.order) - set(range(agents))):
        raise ScenarioError(
            f"routing: the priority list has {_agents(strange)}, and there are {agents}, counted from 0"
        )
    return routing


def without_closure(rule: Rule) -> bool:
    """Whether averages over rosters under this rule have to be taken over rosters, one by one."""
    return rule not in (*EXACT_ROUTINGS, "least-occupied")


def priority_order(rule: Rule, rates: NDArray[np.float64]) -> NDArray[np.intp]:
    """Positions of the agents, highest priority first, under a rule of strict priority."""
    if isinstance(rule, Priority):
        order = np.array(rule.order, np.intp)
        return order[order < rates.size]
    assert rule in ("fastest-first", "slowest-first")
    return np.argsort(-rates if rule == "fastest-first" else rates, kind="stable")


def _agents(positions: Sequence[int]) -> str:
    """Agents by their positions, at most five of them."""
    shown = ", ".join(str(agent) for agent in positions[:5])
    more = f" and {len(positions) - 5} more" if len(positions) > 5 else ""
    return f"agent{'s' if len(positions) > 1 else ''} {shown}{more}"


def _nearest(routing: object) -> str:
    if not isinstance(routing, str):
        return ""
    found = get_close_matches(routing.lower(), NAMED_ROUTINGS, 1)
    return f"; did you mean {found[0]}?" if found else ""
