"""The table of a scenario's fields: names, defaults, meanings, units and limits.

Whatever reads, writes or explains scenarios takes it from here.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass, field, fields

from staffing.field_kinds import Choice, Label, Number, Numbers, Points, about

MOST_AGENTS = 2_000_000
SHORTEST, LONGEST = 0.001, 1e6  # seconds


@dataclass(frozen=True, kw_only=True, repr=False)
class ScenarioFields:
    """What a planner can say about one interval."""

    name: str = field(default="", metadata=about(Label("label in tables", example="Monday 10:00")))
    calls_per_hour: float = field(
        metadata=about(
            Number("calls offered, answered or not", unit="calls per hour", example=1200, high=1e9)
        )
    )
    mean_handle_seconds: float = field(
        metadata=about(
            Number(
                "mean handle time: talk, hold and after-call work, averaged over calls",
                unit="seconds",
                example=180,
                low=SHORTEST,
                high=LONGEST,
            ),
            instead="observed_rates_per_hour",
        )
    )
    mean_patience_seconds: float = field(
        metadata=about(
            Number(
                "mean time a caller waits before giving up",
                unit="seconds",
                example=120,
                low=SHORTEST,
                high=LONGEST,
                besides={0: "who finds nobody free is lost", math.inf: "nobody gives up"},
            ),
            instead="patience_curve",
        )
    )
    patience_law: str = field(
        default="exponential",
        metadata=about(
            Choice(
                "law of patience; deterministic: all wait equally long",
                words=(
                    "exponential",
                    "deterministic",
                    "gamma",
                    "hyperexponential",
                    "lognormal",
                    "weibull",
                    "curve",
                ),
            )
        ),
    )
    patience_scv: float | None = field(
        default=None,
        metadata=about(
            Number(
                "variance of patience / its mean squared; needed by gamma, hyperexponential, lognormal and weibull",
                example=2,
                low=1e-6,
                high=1e4,
            )
        ),
    )
    patience_curve: Sequence[tuple[float, float]] | None = field(
        default=None,
        metadata=about(
            Points(
                "patience from data, instead of the three above: (seconds, share still waiting)",
                example=((0, 1), (30, 0.9), (120, 0.5), (600, 0.05)),
                high=LONGEST,
            )
        ),
    )
    rate_cv: float = field(
        default=0.2,
        metadata=about(
            Number(
                "how much agents differ: coefficient of variation of their service rates",
                high=1,
                fraction=True,
            )
        ),
    )
    rate_law: str = field(
        default="gamma",
        metadata=about(
            Choice(
                "law of agents' service rates; two-point: half at mean (1 - rate_cv), half at mean (1 + rate_cv)",
                words=("gamma", "lognormal", "uniform", "two-point", "observed"),
            )
        ),
    )
    observed_rates_per_hour: Sequence[float] | None = field(
        default=None,
        metadata=about(
            Numbers(
                "the agents' own rates, instead of mean_handle_seconds and rate_cv",
                unit="calls per busy hour",
                example=(18.5, 21, 24.2),
                low=3600 / LONGEST,
                high=3600 / SHORTEST,
            )
        ),
    )
    roster: str = field(
        default="drawn",
        metadata=about(
            Choice(
                "drawn: every roster is a fresh draw; fixed: the observed rates are the agents, in this order",
                words=("drawn", "fixed"),
            )
        ),
    )
    routing: str = field(
        default="longest-idle",
        metadata=about(
            Choice(
                "which idle agent gets a call",
                words=("longest-idle", "random", "fastest-first", "slowest-first", "least-occupied"),
            )
        ),
    )
    max_calls: int | None = field(
        default=None,
        metadata=about(
            Number(
                "most calls at a time, waiting or being answered; who calls then is blocked",
                example=80,
                low=1,
                high=MOST_AGENTS,
                whole=True,
                refused={0: "lets nobody call; leave it out for no limit"},
            )
        ),
    )
    rate_day_cv: float = field(
        default=0.0,
        metadata=about(
            Number(
                "how all agents' rates move from day to day: CV of a common factor",
                example=0.05,
                high=1,
                fraction=True,
            )
        ),
    )
    arrival_cv: float = field(
        default=0.0,
        metadata=about(
            Number(
                "how calls move from day to day: CV of a factor on calls_per_hour",
                example=0.1,
                high=1,
                fraction=True,
            )
        ),
    )
    arrival_scv: float = field(
        default=1.0,
        metadata=about(
            Number(
                "how calls come within a day: variance of the times between them over their mean squared; 1: by chance",
                example=2,
                high=100,
            )
        ),
    )
    absence: float = field(
        default=0.0,
        metadata=about(
            Number(
                "chance that an agent is absent, paid all the same",
                example=0.05,
                high=0.99,
                fraction=True,
                refused={1: "leaves nobody at the phones; for 1% write 0.01"},
            )
        ),
    )
    shrinkage: float = field(
        default=0.0,
        metadata=about(
            Number(
                "share of paid time away from the phone; only turns agents into agents_gross",
                example=0.3,
                high=0.99,
                fraction=True,
                refused={1: "leaves nobody at the phones; for 1% write 0.01"},
            )
        ),
    )
    agent_cost_per_hour: float = field(
        default=1.0,
        metadata=about(
            Number(
                "cost of an agent at work; shrinkage adds none",
                unit="money per hour",
                example=30,
                high=1e9,
            )
        ),
    )
    waiting_cost_per_hour: float = field(
        default=0.0,
        metadata=about(
            Number(
                "cost of callers' waiting, all callers",
                unit="money per caller-hour",
                example=20,
                high=1e9,
            )
        ),
    )
    abandonment_cost: float = field(
        default=0.0,
        metadata=about(
            Number("cost of a lost call, abandoned or blocked", unit="money per call", example=2.5, high=1e9)
        ),
    )
    min_service_level: float | None = field(
        default=None,
        metadata=about(
            Number(
                "promise: share of calls served within service_level_seconds, at least",
                example=0.8,
                high=1,
                fraction=True,
                refused={
                    0: "promises nothing; leave it out",
                    1: "is unattainable with finitely many agents; try 0.99 (for 1% write 0.01)",
                },
            )
        ),
    )
    service_level_seconds: float = field(
        default=20.0,
        metadata=about(Number("threshold of the service level", unit="seconds", example=20, high=LONGEST)),
    )
    service_level_definition: str = field(
        default="offered",
        metadata=about(
            Choice(
                "which share: in time / all calls, in time / answered calls, offered wait in time",
                words=("offered", "answered", "virtual"),
            )
        ),
    )
    max_abandonment: float | None = field(
        default=None,
        metadata=about(
            Number(
                "promise: share of calls abandoned, at most; blocked calls apart",
                example=0.05,
                high=1,
                fraction=True,
                refused={1: "promises nothing; leave it out (for 1% write 0.01)"},
            )
        ),
    )
    max_mean_wait_seconds: float | None = field(
        default=None,
        metadata=about(
            Number(
                "promise: mean wait over all calls, blocked ones as 0, at most",
                unit="seconds",
                example=15,
                high=LONGEST,
            )
        ),
    )
    max_occupancy: float | None = field(
        default=None,
        metadata=about(
            Number(
                "promise: share of their time that agents are busy, at most",
                example=0.9,
                high=1,
                fraction=True,
                refused={
                    0: "is unattainable with finitely many agents; try 0.85",
                    1: "promises nothing; leave it out (for 1% write 0.01)",
                },
            )
        ),
    )
    min_agents: int = field(
        default=0,
        metadata=about(Number("fewest agents allowed", high=MOST_AGENTS, whole=True)),
    )
    max_agents: int | None = field(
        default=None,
        metadata=about(
            Number(
                "most agents allowed",
                example=100,
                high=MOST_AGENTS,
                whole=True,
            )
        ),
    )


FIELDS = {item.name: item for item in fields(ScenarioFields)}
