"""Scenarios from TOML files and from the command line's `--set field=value`."""

import os
import re
import tomllib
from collections.abc import Iterable, Mapping
from typing import Any

from staffing.field_kinds import Label, Number, Numbers, Points, Problem, kind_of, shown, text_hint
from staffing.models.errors import ScenarioError
from staffing.scenario import Scenario, check_fields
from staffing.scenario_fields import FIELDS

LARGEST_FILE = 4_000_000  # bytes

_COMMENT_OR_STRING = re.compile(
    r"#[^\n]*"
    r'|"""(?:\\.|[^\\])*?"""'
    r"|'''.*?'''"
    r'|"(?:\\.|[^"\\\n])*"'
    r"|'[^'\n]*'",
    re.DOTALL,
)
_KEY = re.compile(r"""[\[\s]*["']?([A-Za-z0-9_-]+)["']?\s*[=.\]]""")


def read_scenario(path: str | os.PathLike[str], settings: Iterable[str] = ()) -> Scenario:
    """Read a scenario from a TOML file of `field = value` lines.

    Parameters
    ----------
    path : str or path
        The file, in UTF-8, with a byte-order mark or without.
    settings : iterable of str, optional
        Each "field=value"; they replace what the file says before anything is checked.

    Returns
    -------
    Scenario

    Raises
    ------
    ScenarioError
        If the file cannot be read, is not TOML, or makes no scenario; every line starts with FILE:LINE, or with
        --set for a problem with a setting.
    """
    name = os.fsdecode(path)
    text = _text(name)
    given, problems = _flat(_parsed(name, text))
    chosen, slips = _settings(settings)
    lines = {field: f"{name}:{line}: " for field, line in _lines(text).items()}
    places = lines | _from_settings(chosen)
    return _scenario(given | chosen, problems + slips, places, f"{name}: ")


def _from_settings(chosen: Iterable[str]) -> dict[str, str]:
    return dict.fromkeys([*chosen, "--set"], "--set: ")


def _scenario(
    given: Mapping[str, object], problems: list[Problem], places: Mapping[str, str], elsewhere: str
) -> Scenario:
    problems = problems + check_fields(given)[-1]
    if not problems:
        return Scenario.from_fields(given)
    raise ScenarioError(
        next((places[field] for field in problem.fields if field in places), elsewhere) + problem.text
        for problem in problems
    )


def _text(name: str) -> str:
    try:
        with open(name, "rb") as file:
            content = file.read(LARGEST_FILE + 1)
    except FileNotFoundError:
        raise ScenarioError(
            f"{name}: there is no such file; `staffing init` writes one to start from"
        ) from None
    except IsADirectoryError:
        raise ScenarioError(f"{name}: is a directory; give the scenario file in it") from None
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or error
        raise ScenarioError(f"{name}: cannot be read: {reason}") from None
    if len(content) > LARGEST_FILE:
        raise ScenarioError(f"{name}: is larger than {LARGEST_FILE} bytes and cannot be a scenario")
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = content.count(b"\n", 0, error.start) + 1
        raise ScenarioError(f"{name}:{line}: is not UTF-8 text; save it with the encoding UTF-8") from None


def _parsed(name: str, text: str) -> dict[str, Any]:
    try:
        return tomllib.loads(text)
    except RecursionError:
        raise ScenarioError(
            f"{name}: is nested too deeply; a scenario has lines `field = value` only"
        ) from None
    except ValueError as error:
        raise ScenarioError(f"{name}{_syntax(str(error), text.rstrip())}") from None


def _syntax(complaint: str, text: str) -> str:
    """Where and why a text is not TOML, from the parser's complaint."""
    found = re.fullmatch(r"(.*) \(at (?:line (\d+), column \d+|end of document)\)", complaint)
    if not found:
        return f": is not TOML: {complaint}"
    rows = text.split("\n")
    number = min(int(found[2] or len(rows)), len(rows))
    row = rows[number - 1].strip()
    hint = "; is the field given twice?" if found[1] == "Cannot overwrite a value" else _row_hint(row)
    return f":{number}: is not TOML: {found[1]}: {shown(row)}{hint}"


def _row_hint(row: str) -> str:
    assignment = re.match(r"([A-Za-z_]+)\s*(=|:)\s*([^#]*)", row)
    if not assignment:
        return "; write `field = value`"
    name, sign, value = assignment[1], assignment[2], assignment[3].strip()
    if sign == ":":
        return "; write = for the colon"
    if name in FIELDS and isinstance(kind_of(FIELDS[name]), Numbers | Points):
        return "; write a list of numbers like [18.5, 21], with decimal points"
    if re.match(r"[^\W\d]", value):
        return "; put text in double quotes"
    return text_hint(value) if "." in value or "," in value or "%" in value else ""


def _flat(table: Mapping[str, Any]) -> tuple[dict[str, object], list[Problem]]:
    """The fields at the top level, with those under headings brought up, and a problem for each heading."""
    fields: dict[str, object] = {}
    problems = []
    for name, value in table.items():
        tables = value if isinstance(value, list) else [value]
        if tables and all(isinstance(inner, dict) for inner in tables):
            problems.append(Problem((name,), f"{shown(name)} is a table; write its fields at the top level"))
            fields |= {field: inner for field, inner in tables[0].items() if field in FIELDS}
        else:
            fields[name] = value
    return fields, problems


def _lines(text: str) -> dict[str, int]:
    """The line on which each key first appears; what is within an array is no key."""

    def emptied(match: re.Match[str]) -> str:
        found = match[0]
        return "\n" * found.count("\n") if found.startswith(("#", '"""', "'''")) else found

    lines: dict[str, int] = {}
    depth = 0
    for number, row in enumerate(_COMMENT_OR_STRING.sub(emptied, text).split("\n"), 1):
        if depth == 0 and (key := _KEY.match(row)):
            lines.setdefault(key[1], number)
        unquoted = _COMMENT_OR_STRING.sub("", row)
        depth += unquoted.count("[") - unquoted.count("]")
    return lines


def _settings(settings: Iterable[str]) -> tuple[dict[str, object], list[Problem]]:
    chosen: dict[str, object] = {}
    problems = []
    for setting in settings:
        name, equals, text = setting.partition("=")
        if equals:
            chosen[name.strip()] = _value(name.strip(), text.strip())
        else:
            problems.append(Problem(("--set",), f"{shown(setting)} must read field=value"))
    return chosen, problems


def _value(name: str, text: str) -> object:
    """What a setting's text stands for; the text itself where that is nothing, for the field to judge."""
    kind = kind_of(FIELDS[name]) if name in FIELDS else None
    if kind and not isinstance(kind, Label) and text.lower() == "none":
        return None
    try:
        parsed = tomllib.loads(f"value = {text}")
    except (ValueError, RecursionError):
        parsed = {}
    value = parsed["value"] if parsed.keys() == {"value"} else text
    if isinstance(kind, Numbers | Points):
        return value
    if isinstance(kind, Number):
        return _float(value) if isinstance(value, str) and value == text else value
    return value if isinstance(value, str) else text


def _float(text: str) -> float | str:
    try:
        return float(text)
    except ValueError:
        return text
