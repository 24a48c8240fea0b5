"""How many agents a call centre needs when agents are not alike, and proof of it.

Names are loaded when they are first used, so that importing the package costs nothing.
"""

from importlib import import_module
from importlib.metadata import version
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from staffing.models.errors import Infeasible, ScenarioError, StaffingError
    from staffing.planning import evaluate_staffing, optimize_staffing, simulate_staffing
    from staffing.scenario import Scenario
    from staffing.scenario_file import read_scenario

__all__ = [
    "Infeasible",
    "Scenario",
    "ScenarioError",
    "StaffingError",
    "evaluate_staffing",
    "optimize_staffing",
    "read_scenario",
    "simulate_staffing",
]

_HOMES = {
    "Infeasible": "staffing.models.errors",
    "Scenario": "staffing.scenario",
    "ScenarioError": "staffing.models.errors",
    "StaffingError": "staffing.models.errors",
    "evaluate_staffing": "staffing.planning",
    "optimize_staffing": "staffing.planning",
    "read_scenario": "staffing.scenario_file",
    "simulate_staffing": "staffing.planning",
}


def __getattr__(name: str) -> Any:
    if name == "__version__":
        return version("staffing")
    if name not in _HOMES:
        raise AttributeError(f"module 'staffing' has no attribute {name!r}")
    value = getattr(import_module(_HOMES[name]), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__, "__version__"})
