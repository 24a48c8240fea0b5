"""What a scenario's fields say of callers' patience, in the models' terms."""

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from staffing.models.patience import PatienceLaw
    from staffing.scenario import Scenario

NEED_SCV = ("gamma", "hyperexponential", "lognormal", "weibull")
"""Laws that the mean alone does not determine."""


def implied_by_curve(values: Mapping[str, Any]) -> dict[str, Any]:
    """The fields that a curve of patience determines; none without one.

    Raises
    ------
    ScenarioError
        If the curve is none: it rises, does not start at (0, 1), has unsorted times or ends flat.
    """
    points = values.get("patience_curve")
    if points is None:
        return {}
    from staffing.models.patience_curve import CurvePatience

    return {"mean_patience_seconds": CurvePatience(points).mean, "patience_law": "curve"}


def patience_of(scenario: "Scenario") -> "PatienceLaw | None":
    """The law of patience, in seconds; None where it is exponential, endless or none at all."""
    from staffing.models import patience

    mean, scv = scenario.mean_patience_seconds, scenario.patience_scv
    if scenario.patience_curve is not None:
        from staffing.models.patience_curve import CurvePatience

        return CurvePatience(scenario.patience_curve)
    if scenario.patience_law == "deterministic":
        return patience.DeterministicPatience(mean)
    if scv is None:
        return None
    laws: Mapping[str, Callable[[float, float], PatienceLaw]] = {
        "gamma": patience.GammaPatience,
        "hyperexponential": patience.HyperexponentialPatience,
        "lognormal": patience.LognormalPatience,
        "weibull": patience.WeibullPatience,
    }
    return laws[scenario.patience_law](mean, scv)
