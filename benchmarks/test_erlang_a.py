"""All measures of Erlang A at load 1, patience two services: ours and LINE's."""

from collections.abc import Callable

import pytest

from benchmarks import line_erlang_a
from benchmarks.table import OURS
from staffing.models.erlang import erlang_a

METHODS = {OURS: erlang_a, "LINE": line_erlang_a.evaluate}
ROUNDS = {OURS: 1000, "LINE": 30}
# Ours is over in a moment, which may be a bad one.
CENTRES = [(agents, who) for agents in (60, 500, 1000, 5000) for who in (OURS, "LINE", OURS)]


@pytest.mark.parametrize(("agents", "who"), [*CENTRES, (100_000, OURS)])
def test_erlang_a(timed: Callable, agents: int, who: str) -> None:
    centre = (float(agents), 1.0, 0.5, agents)
    found = timed(f"Erlang A, {agents:,} agents", who, METHODS[who], [centre] * ROUNDS[who])[0]
    if who == OURS:
        assert found.wait_probability == pytest.approx(
            0.5858, abs=0.02
        )  # Garnett's function at beta 0, r 1/2
    else:
        ours = erlang_a(*centre)
        assert {name: getattr(ours, name) for name in found} == pytest.approx(found, rel=1e-9, abs=0)
