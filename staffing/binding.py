"""What keeps a plan from being cheaper."""

from dataclasses import dataclass, replace

from staffing.optimize.level import LevelSearch


@dataclass(frozen=True, kw_only=True)
class Binding:
    """The requirements that set the level, and their price."""

    requirements: tuple[str, ...]
    """The fields that bind together: promises, "min_agents", "max_agents", "max_calls"; none if costs set the level."""
    agents_without: int
    """The best level if they were dropped."""
    price_per_hour: float
    """What it saves an hour to drop them."""


def binding_of(search: LevelSearch, agents: int) -> Binding:
    """The requirements that set the best level `agents` of a search.

    A promise binds if one agent fewer would break it. What binds together is dropped together.
    """
    below = search.at(agents - 1) if agents > 0 else None
    broken = [name for name, promise in search.promises.items() if below and not promise.kept(below)]
    floor = ["min_agents"] if agents == search.lowest > 0 else []
    if broken or floor:
        rest = {name: promise for name, promise in search.promises.items() if name not in broken}
        free = replace(search, promises=rest, lowest=0 if floor else search.lowest)
        if (without := free.best()) < agents:
            return _priced(search, agents, (*broken, *floor), without)
    if agents == search.lines and search.costs.trade_off:
        return Binding(requirements=("max_calls",), agents_without=agents, price_per_hour=0.0)
    if agents == search.highest and search.costs.trade_off:
        # Agents who cost nothing have no best number without a limit.
        without = replace(search, highest=None).best() if search.costs.agent > 0 else agents + 1
        if without > agents:
            return _priced(search, agents, ("max_agents",), without)
    return Binding(requirements=(), agents_without=agents, price_per_hour=0.0)


def _priced(search: LevelSearch, agents: int, requirements: tuple[str, ...], without: int) -> Binding:
    saved = search.cost(agents) - search.cost(without)
    return Binding(requirements=requirements, agents_without=without, price_per_hour=max(saved, 0.0))
