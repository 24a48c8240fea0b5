"""The question: what a planner knows about the calls, the agents, the money and the promises."""

import functools
import math
import os
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, fields
from fractions import Fraction
from typing import Any, Self, TypeVar

from staffing.field_kinds import Problem, described, read_fields, shown
from staffing.models.arguments import count
from staffing.models.errors import ScenarioError
from staffing.observed_rates import implied_by
from staffing.patience_fields import implied_by_curve
from staffing.scenario_contradictions import UNCERTAINTIES, contradictions
from staffing.scenario_fields import ScenarioFields
from staffing.scenario_warnings import doubts

T = TypeVar("T")

_GOALS = (
    "min_service_level",
    "max_abandonment",
    "max_mean_wait_seconds",
    "max_occupancy",
    "waiting_cost_per_hour",
    "abandonment_cost",
)
_PRICES = {"waiting_cost_per_hour", "abandonment_cost"}
_LOSING = {"max_abandonment", "abandonment_cost"}


def _all_problems_at_once(cls: type[T]) -> type[T]:
    """Let a dataclass read and check its fields before it is filled, and list them in its docstring."""
    fill: Callable[..., None] = cls.__init__

    @functools.wraps(fill)
    def __init__(self: Any, /, **given: object) -> None:  # noqa: N807
        values, implied, problems = check_fields(given)
        if problems:
            raise ScenarioError(problem.text for problem in problems)
        fill(self, **values, **implied)
        self.__dict__["_given"] = frozenset(values)

    setattr(cls, "__init__", __init__)  # noqa: B010
    lines = [described(item) for item in fields(cls)]  # type: ignore[arg-type]
    cls.__doc__ = (cls.__doc__ or "").replace("{fields}", "\n".join(lines).strip())
    return cls


@_all_problems_at_once
@dataclass(frozen=True, kw_only=True, repr=False)
class Scenario(ScenarioFields):
    """What a planner knows about one interval: calls, agents, costs and promises.

    A scenario cannot be changed; `replace` makes another. Numbers become plain `float` or `int`. Fractions
    are fractions: write 0.8 for 80%. Money has no currency. Scenarios with the same values are equal, whether
    the values were given or left at their defaults. None is the same as not given.

    Observed rates say how long calls take and how much agents differ: `mean_handle_seconds` is then 3600 / (mean
    rate), `rate_cv` the rates' own coefficient of variation, and `rate_law` "observed". A curve of patience says what
    `mean_patience_seconds` is.

    Parameters
    ----------
    {fields}

    Raises
    ------
    ScenarioError
        With one line for every field that is unknown, missing or unusable, and for fields that contradict
        each other.

    Examples
    --------
    >>> scenario = Scenario(calls_per_hour=1200, mean_handle_seconds=180, mean_patience_seconds=120)
    >>> scenario.offered_load
    60.0
    """

    @classmethod
    def from_fields(cls, given: Mapping[Any, Any]) -> Self:
        """A scenario from a mapping of field names to values, such as a row of a table.

        Raises
        ------
        ScenarioError
            With one line for every field that is unknown, missing or unusable.
        """
        if not isinstance(given, Mapping):
            raise ScenarioError(f"{shown(given)} is not a mapping of field names to values")
        return cls(**{name if isinstance(name, str) else shown(name): value for name, value in given.items()})

    def replace(self, **overrides: object) -> Self:
        """Another scenario: this one with some fields given anew, or taken back with None.

        Raises
        ------
        ScenarioError
            With one line for every override that is unknown or unusable.
        """
        return self.from_fields(self.given() | overrides)

    def given(self) -> dict[str, Any]:
        """The fields that were given, not left at their defaults, in the order of the class."""
        return {name: value for name, value in self.to_dict().items() if name in self.__dict__["_given"]}

    def alike(self) -> Self:
        """The same centre as Erlang's models take it: identical agents, exponential patience, lines without end."""
        return self.replace(
            mean_handle_seconds=self.mean_handle_seconds,
            rate_cv=0,
            rate_law=None,
            observed_rates_per_hour=None,
            roster=None,
            routing=None,
            max_calls=None,
            rate_day_cv=None,
            arrival_cv=None,
            arrival_scv=None,
            absence=None,
            mean_patience_seconds=self.mean_patience_seconds,
            patience_law=None,
            patience_scv=None,
            patience_curve=None,
        )

    def to_dict(self) -> dict[str, Any]:
        """Every field and its value, in the order of the class."""
        return {item.name: getattr(self, item.name) for item in fields(self)}

    def to_toml(self, path: str | os.PathLike[str]) -> None:
        """Write the fields that were given as a TOML file, from which `read_scenario` makes an equal scenario.

        Raises
        ------
        StaffingError
            If the file cannot be written; it appears whole or not at all.
        """
        from staffing.scenario_toml import scenario_toml
        from staffing.whole_file import write_whole

        write_whole(path, scenario_toml(self))

    def assumed(self) -> tuple[str, ...]:
        """Names of the fields left at their defaults on which the answer depends."""
        matter = ["rate_cv"] if self.observed_rates_per_hour is None else []
        if self.waiting_cost_per_hour > 0 or self.abandonment_cost > 0:
            matter.append("agent_cost_per_hour")
        if self.min_service_level is not None:
            matter += ["service_level_seconds", "service_level_definition"]
        return tuple(name for name in matter if name not in self.given())

    def warnings(self) -> tuple[str, ...]:
        """One line for each thing that is allowed and yet looks like a slip, above all of units."""
        return tuple(doubts(self))

    def require_goal(self) -> None:
        """Refuse a scenario that gives an optimiser nothing to aim at.

        Raises
        ------
        ScenarioError
            If there is neither a promise nor a cost of waiting or losing calls, or if agents are free without
            limit while waiting or losing calls is not.
        """
        goals = {name for name in _GOALS if getattr(self, name)}
        pointless = goals & _LOSING if math.isinf(self.mean_patience_seconds) else set()
        if goals == pointless:
            why = "".join(f"{name} is no goal while callers never give up; " for name in sorted(pointless))
            raise ScenarioError(
                f"{why}no promise and no cost of waiting or losing calls: the cheapest is to staff nobody; give "
                f"{', '.join(_GOALS[:-1])} or {_GOALS[-1]}"
            )
        if goals & _PRICES and self.agent_cost_per_hour == 0 and self.most_agents is None:
            raise ScenarioError(
                "agent_cost_per_hour = 0 with a cost of waiting or losing calls: more agents are always "
                "better; give agent_cost_per_hour above 0, or max_agents"
            )

    @property
    def arrival_rate(self) -> float:
        """Calls offered per second."""
        return self.calls_per_hour / 3600

    @property
    def service_rate(self) -> float:
        """Calls that an agent completes per second busy, mean over agents."""
        return 1 / self.mean_handle_seconds

    @property
    def abandonment_rate(self) -> float:
        """Rate, per second, at which a waiting caller gives up: 0 for never, inf for at once."""
        return 1 / self.mean_patience_seconds if self.mean_patience_seconds > 0 else math.inf

    @property
    def offered_load(self) -> float:
        """Agents kept busy if every call were served (erlangs)."""
        return self.calls_per_hour * self.mean_handle_seconds / 3600

    @property
    def most_agents(self) -> int | None:
        """The most agents there can be, by `max_agents`, `max_calls` and a fixed roster; None if there is no limit."""
        limits = [limit for limit in (self.max_agents, self.max_calls) if limit is not None]
        if self.roster == "fixed" and self.observed_rates_per_hour is not None:
            limits.append(len(self.observed_rates_per_hour))
        return min(limits, default=None)

    @property
    def uncertain(self) -> tuple[str, ...]:
        """The fields by which days differ, in the order of the class; none if every day is alike."""
        return tuple(name for name in UNCERTAINTIES if getattr(self, name) > 0)

    def agents_gross(self, agents: int) -> int:
        """Agents to pay so that `agents` are present: ceil(agents / (1 - shrinkage)), exactly."""
        present = 1 - Fraction(self.shrinkage).limit_denominator(10**9)
        return math.ceil(count("agents", agents) / present)

    def __repr__(self) -> str:
        return f"Scenario({', '.join(f'{name}={value!r}' for name, value in self.given().items())})"


def check_fields(given: Mapping[str, object]) -> tuple[dict[str, Any], dict[str, Any], list[Problem]]:
    """Plain values of the fields given and of those they imply, and every problem with what is given.

    A copy of what is implied, such as `Scenario.to_dict` holds, does not count as given.
    """
    values, problems = read_fields(fields(Scenario), given)
    implied, curve = implied_by(values), {}
    try:
        curve = implied_by_curve(values)
    except ScenarioError as error:
        for line in str(error).splitlines():
            text = re.sub(r"points\[(\d+)\]", lambda found: f"point {int(found[1]) + 1}", line)
            problems.append(Problem(("patience_curve",), f"patience_curve {text}"))
    copies = {name for name, value in (implied | curve).items() if _is_same(given.get(name), value)}
    values = {name: value for name, value in values.items() if name not in copies}
    problems = [problem for problem in problems if not copies.intersection(problem.fields)]
    unusable = {name for problem in problems for name in problem.fields}
    impossible = contradictions(values, implied, curve)
    return (
        values,
        implied | curve,
        problems + [each for each in impossible if not unusable.intersection(each.fields)],
    )


def _is_same(one: object, other: float | str) -> bool:
    return isinstance(one, float | str) and one == other
