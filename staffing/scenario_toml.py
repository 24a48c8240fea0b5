"""A scenario written as TOML."""

import json
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from staffing.scenario import Scenario


def scenario_toml(scenario: "Scenario") -> str:
    """TOML text from which `read_scenario` makes an equal scenario: the fields that were given."""
    return "".join(f"{name} = {toml_value(value)}\n" for name, value in scenario.given().items())


def toml_value(value: object) -> str:
    """One line of text, a number, or a tuple of them, as TOML writes it."""
    if isinstance(value, str):
        return json.dumps(value, ensure_ascii=False)
    if isinstance(value, tuple):
        return f"[{', '.join(map(toml_value, value))}]"
    if isinstance(value, float) and value.is_integer():
        return str(int(value))
    return repr(value)
