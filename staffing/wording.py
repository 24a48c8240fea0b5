"""How figures and paragraphs are worded for a planner."""

import math
import textwrap

WIDTH = 100
INDENT = 16


def percent(share: float) -> str:
    """A fraction as a percentage."""
    return f"{100 * share:.1f}%" if share == 0 or share >= 0.0005 else "<0.05%"


def duration(seconds: float) -> str:
    """Seconds, or "endless"."""
    return "endless" if math.isinf(seconds) else f"{seconds:.1f} s"


def money(amount: float) -> str:
    """An amount without currency."""
    return "endless" if math.isinf(amount) else f"{amount:,.2f}"


def heads(agents: int) -> str:
    """So many agents."""
    return f"{agents} agent" if agents == 1 else f"{agents} agents"


def paragraph(label: str, text: str) -> list[str]:
    """Text behind a label, wrapped."""
    lines = textwrap.wrap(text, WIDTH - INDENT) or [""]
    return [f"{label if i == 0 else '':{INDENT}}{line}" for i, line in enumerate(lines)]
