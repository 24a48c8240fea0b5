"""The kinds of value that a field can hold: which values each takes, and how it refuses the others."""

import math
import re
import unicodedata
from collections.abc import Mapping, Sequence
from dataclasses import KW_ONLY, MISSING, Field, dataclass, field
from difflib import get_close_matches
from itertools import islice
from numbers import Integral, Real
from typing import Any, NamedTuple

from staffing.models.errors import ScenarioError

LONGEST_LABEL = 200
LONGEST_SHOWN = 60
MOST_NUMBERS = 100_000
MOST_POINTS = 1000
BAD_ONES_SHOWN = 3


class Problem(NamedTuple):
    """One line of complaint, and the fields it is about."""

    fields: tuple[str, ...]
    text: str


@dataclass(frozen=True)
class Number:
    """A field that holds a number from `low` to `high`, or one of the values in `besides`.

    `refused` gives the words for values that lie within the limits or next to them and still make no sense.
    """

    meaning: str
    _: KW_ONLY
    unit: str = ""
    example: float | None = None
    low: float = 0
    high: float
    whole: bool = False
    fraction: bool = False
    besides: Mapping[float, str] = field(default_factory=dict)
    refused: Mapping[float, str] = field(default_factory=dict)

    @property
    def limits(self) -> str:
        """In words, the numbers taken."""
        if self.besides:
            exceptions = [f"{written(value)} ({words})" for value, words in self.besides.items()]
            return f"{', '.join(exceptions)} or between {written(self.low)} and {written(self.high)}"
        return f"between {written(self.low)} and {written(self.high)}"

    def read(self, value: object) -> float:
        """`value` as a plain number; ScenarioError says what is wrong with it."""
        if not _is_number(value):
            hint = text_hint(value) if isinstance(value, str) else ""
            raise ScenarioError("must be a number" + hint)
        try:
            number = float(value) + 0.0  # type: ignore[arg-type]  # the sum turns -0.0 into 0.0
        except (OverflowError, TypeError, ValueError):
            raise ScenarioError(f"must be {self.limits}") from None
        if self.whole and math.isfinite(number) and number != math.floor(number):
            neighbours = f"{math.floor(number)} and {math.ceil(number)}"
            raise ScenarioError(f"must be a whole number; its neighbours are {neighbours}")
        if number in self.refused:
            raise ScenarioError(self.refused[number])
        if number in self.besides or self.low <= number <= self.high:
            return int(number) if self.whole else number
        hint = ""
        if self.fraction and self.high < number <= 100:
            hint = f"; for {written(number)}% write {written(number / 100)}"
        raise ScenarioError(f"must be {self.limits}{hint}")


@dataclass(frozen=True)
class Numbers:
    """A field that holds a list of numbers from `low` to `high`, at least one, in an order that may matter."""

    meaning: str
    _: KW_ONLY
    unit: str = ""
    example: tuple[float, ...]
    low: float
    high: float

    @property
    def limits(self) -> str:
        """In words, the lists taken."""
        return f"a list of numbers between {written(self.low)} and {written(self.high)}"

    def read(self, value: object) -> tuple[float, ...]:
        """`value` as plain numbers; ScenarioError says which of them are wrong."""
        items = _items(value)
        if items is None:
            raise ScenarioError(f"must be {self.limits}, such as {list(self.example)}")
        if not 0 < len(items) <= MOST_NUMBERS:
            raise ScenarioError(f"must hold from 1 to {MOST_NUMBERS} numbers")
        each = Number(self.meaning, low=self.low, high=self.high)
        numbers, bad = [], []
        for position, item in enumerate(items, 1):
            try:
                numbers.append(each.read(item))
            except ScenarioError:
                bad.append((position, item))
        if not bad:
            return tuple(numbers)
        words = [f"number {position} is {shown(item, 30)}" for position, item in bad[:BAD_ONES_SHOWN]]
        more = len(bad) - len(words)
        also = f", and {more} more {'is' if more == 1 else 'are'} wrong" if more else ""
        raise ScenarioError(f"must be {self.limits}; {', '.join(words)}{also}")


@dataclass(frozen=True)
class Points:
    """A field that holds a curve: pairs of numbers, the first up to `high`, the second a share."""

    meaning: str
    _: KW_ONLY
    unit: str = ""
    example: tuple[tuple[float, float], ...]
    high: float

    @property
    def limits(self) -> str:
        """In words, the curves taken."""
        return f"a list of pairs, from 0 to {written(self.high)} and from 0 to 1"

    def read(self, value: object) -> tuple[tuple[float, float], ...]:
        """`value` as plain pairs of numbers; ScenarioError says which of them are wrong."""
        items = _items(value)
        if items is None or not 1 < len(items) <= MOST_POINTS:
            example = [list(pair) for pair in self.example]
            raise ScenarioError(f"must be {self.limits}, from 2 to {MOST_POINTS} of them, such as {example}")
        first = Number(self.meaning, low=0, high=self.high)
        second = Number(self.meaning, high=1, fraction=True)
        pairs = []
        for position, item in enumerate(items, 1):
            pair = _items(item)
            try:
                if pair is None or len(pair) != 2:
                    raise ScenarioError("must be a pair of numbers")
                pairs.append((first.read(pair[0]), second.read(pair[1])))
            except ScenarioError as error:
                raise ScenarioError(f"point {position} is {shown(item, 30)}: {error}") from None
        return tuple(pairs)


@dataclass(frozen=True)
class Label:
    """A field that holds one line of text."""

    meaning: str
    _: KW_ONLY
    unit: str = ""
    example: str | None = None

    @property
    def limits(self) -> str:
        """In words, the texts taken."""
        return f"one line of at most {LONGEST_LABEL} characters"

    def read(self, value: object) -> str:
        """`value` as plain text; ScenarioError says what is wrong with it."""
        if not isinstance(value, str):
            raise ScenarioError("must be text")
        if any(unicodedata.category(letter) in ("Cc", "Cs", "Zl", "Zp") for letter in value):
            raise ScenarioError("must be one line of text, without line breaks, tabs or control characters")
        if len(value) > LONGEST_LABEL:
            raise ScenarioError(f"must be {self.limits}; it has {len(value)}")
        return str(value)


@dataclass(frozen=True)
class Choice:
    """A field that holds one of a few words."""

    meaning: str
    _: KW_ONLY
    unit: str = ""
    example: str | None = None
    words: tuple[str, ...]

    @property
    def limits(self) -> str:
        """In words, the words taken."""
        return f"{', '.join(self.words[:-1])} or {self.words[-1]}"

    def read(self, value: object) -> str:
        """`value` as one of the words; ScenarioError says what is wrong with it."""
        if isinstance(value, str) and value in self.words:
            return str(value)
        hint = nearest(value.lower(), self.words) if isinstance(value, str) else ""
        raise ScenarioError(f"must be {self.limits}{hint}")


Kind = Number | Numbers | Points | Label | Choice


def about(kind: Kind, instead: str = "") -> dict[str, Kind | str]:
    """Metadata of a dataclass field that `kind` describes; it may be missing where `instead` is given."""
    return {"kind": kind, "instead": instead}


def kind_of(item: "Field[Any]") -> Kind:
    """The description that `about` has put on a dataclass field."""
    kind: Kind = item.metadata["kind"]
    return kind


def described(item: "Field[Any]") -> str:
    """A dataclass field as an entry of a docstring's parameters."""
    kind = kind_of(item)
    default = {None: ", optional", MISSING: ""}.get(item.default, f", default {item.default!r}")
    unit = f" ({kind.unit})" if kind.unit else ""
    return f"    {item.name} : {kind.limits}{default}\n        {kind.meaning.capitalize()}{unit}."


def read_fields(
    fields: "Sequence[Field[Any]]", given: Mapping[str, object]
) -> tuple[dict[str, Any], list[Problem]]:
    """Plain values of the fields in order, and a problem for each one unknown, missing or unusable.

    A field that is None is not given.
    """
    known = {item.name: item for item in fields}
    values: dict[str, Any] = {}
    problems: list[Problem] = []
    meant: set[str] = set()
    for name, value in given.items():
        if name not in known:
            meant.update(get_close_matches(name, known, 1))
            hint = nearest(name, tuple(known)) or f"; the fields are {', '.join(known)}"
            label = name if name.isidentifier() and len(name) <= LONGEST_SHOWN else shown(name)
            problems.append(Problem((name,), f"{label} is not a field of a scenario{hint}"))
            continue
        if value is None:
            continue
        try:
            values[name] = kind_of(known[name]).read(value)
        except ScenarioError as error:
            problems.append(Problem((name,), f"{name} = {shown(value)} {error}"))
    there = {name for name, value in given.items() if value is not None} | meant
    for name, item in known.items():
        if item.default is MISSING and not there & {name, item.metadata["instead"]}:
            kind = kind_of(item)
            problems.append(Problem((name,), f"{name} is missing: {kind.meaning}, {kind.limits}"))
    return values, problems


def nearest(word: str, words: Sequence[str]) -> str:
    """A hint at the known word closest to the one given, or nothing."""
    begun = [known for known in words if word and known.startswith(word)]
    found = begun or get_close_matches(word, words, 1)
    return f"; did you mean {found[0]}?" if found else ""


def text_hint(text: str) -> str:
    """A hint at how the number that somebody has written as `text` is written here, or nothing."""
    if percent := re.fullmatch(r"\s*([0-9]{1,9}(?:[.,][0-9]{1,9})?)\s*%\s*", text):
        number = float(percent[1].replace(",", "."))
        return f"; for {written(number)}% write {written(number / 100)}"
    if re.fullmatch(r"\s*-?[0-9]+(\.[0-9]+)?\s*", text):
        return "; leave out the quotes"
    if re.fullmatch(r"\s*-?\.[0-9]+\s*", text):
        return "; write a 0 before the point"
    if re.fullmatch(r"\s*-?[0-9][0-9.,'\s]*", text):
        return "; write a decimal point, and nothing between thousands"
    return ""


def written(number: float) -> str:
    """A number as people write it: 12 digits at most, no trailing zeros."""
    return f"{number:.12g}"


def shown(value: object, longest: int = LONGEST_SHOWN) -> str:
    """A value as an error message shows it: one line, never long."""
    try:
        if isinstance(value, Integral) and _is_number(value):
            text = str(int(value))
        elif isinstance(value, Real) and _is_number(value):
            text = repr(float(value))
        else:
            text = " ".join(repr(value).split())
    except Exception:
        return f"<{type(value).__name__}>"
    return text if len(text) <= longest else text[: longest - 3] + "..."


def _items(value: object) -> list[object] | None:
    """The first of what a list, tuple, one-dimensional array or column of a table holds; None for the rest."""
    if isinstance(value, str | bytes | bytearray | memoryview):
        return None
    try:
        if not isinstance(value, Sequence) and getattr(value, "ndim", None) != 1:
            return None
        return list(islice(value, MOST_NUMBERS + 1))  # type: ignore[call-overload]
    except Exception:
        return None


def _is_number(value: object) -> bool:
    if isinstance(value, bool) or not isinstance(value, Real):
        return False
    return getattr(getattr(value, "dtype", None), "kind", "") != "m"  # numpy counts timedelta64 as integers
