"""What keeps a plan from being cheaper."""

from dataclasses import dataclass

from staffing.optimize.level import LevelSearch


@dataclass(frozen=True, kw_only=True)
class Binding:
    """The requirement that sets the level, and its price."""

    requirement: str
    """The field that binds: a promise, "min_agents", "max_agents", or "" if costs alone set the level."""
    agents_without: int
    """The best level if that requirement were dropped."""
    price_per_hour: float
    """What it saves an hour to drop it."""


def binding_of(search: LevelSearch, agents: int) -> Binding:
    """The requirement that sets the best level `agents` of a search.

    Several promises may fail one agent below; the one whose own least level is highest binds, the first of equals.
    """
    if (
        agents == search.lowest
        and agents > 0
        and all(p.kept(search.at(agents)) for p in search.promises.values())
    ):
        free = search.limited(lowest=0, highest=search.highest)
        without = free.best()
        if without < agents:
            return _priced(search, agents, "min_agents", without)
    least = {name: search.least_keeping({name: promise}) for name, promise in search.promises.items()}
    name = max(least, key=lambda name: least[name], default="")
    if name and least[name] == agents:
        rest = {other: promise for other, promise in search.promises.items() if other != name}
        without = search.best(rest)
        if without < agents:
            return _priced(search, agents, name, without)
    if agents == search.highest and search.costs.trade_off:
        without = search.limited(lowest=search.lowest, highest=None).best()
        if without > agents:
            return _priced(search, agents, "max_agents", without)
    return Binding(requirement="", agents_without=agents, price_per_hour=0.0)


def _priced(search: LevelSearch, agents: int, requirement: str, without: int) -> Binding:
    saved = search.cost(agents) - search.cost(without)
    return Binding(requirement=requirement, agents_without=without, price_per_hour=max(saved, 0.0))
