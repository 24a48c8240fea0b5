"""The commented TOML file that a scenario starts from."""

from dataclasses import MISSING

from staffing.field_kinds import Kind, Number, kind_of
from staffing.scenario_fields import FIELDS
from staffing.scenario_toml import toml_value

ABSURD = 1e5
FILLED = (
    "calls_per_hour",
    "mean_handle_seconds",
    "mean_patience_seconds",
    "agent_cost_per_hour",
    "waiting_cost_per_hour",
    "abandonment_cost",
    "min_service_level",
)

HEAD = """\
# A staffing scenario: one interval of a call centre. Answer it with `staffing optimize THIS_FILE`.
# Lines that begin with # are not read; take the # away to give a field another value than its default.
# Fractions are fractions: 0.8 is 80%. Money has no currency. inf means without end.
"""


def scenario_template() -> str:
    """TOML text with every field, its meaning, unit, limits and default, and the main figures filled in."""
    entries = [HEAD]
    for name, item in FIELDS.items():
        kind = kind_of(item)
        unit = f", in {kind.unit}" if kind.unit else ""
        instead = item.metadata["instead"]
        required = f"required, or {instead}" if instead else "required"
        default = {None: "none unless given", MISSING: required}.get(item.default)
        default = default or f"{toml_value(item.default)} unless given"
        example = item.default if kind.example is None else kind.example
        mark = "" if name in FILLED else "# "
        entries.append(
            f"# {kind.meaning}{unit}\n# {_limits(kind)}{default}\n{mark}{name} = {toml_value(example)}\n"
        )
    return "\n".join(entries)


def _limits(kind: Kind) -> str:
    """Its limits, except those that only keep absurd numbers out."""
    absurd = isinstance(kind, Number) and kind.high > ABSURD and not kind.besides
    return "" if absurd else f"{kind.limits}; "
