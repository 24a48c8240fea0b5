"""Figures and paragraphs as a planner reads them."""

import math

import pytest

from staffing.wording import INDENT, WIDTH, duration, heads, money, paragraph, percent


@pytest.mark.parametrize(
    ("share", "text"),
    [(0, "0.0%"), (0.8, "80.0%"), (1, "100.0%"), (0.0005, "0.1%"), (1e-9, "<0.05%"), (0.12345, "12.3%")],
)
def test_percentages(share, text):
    assert percent(share) == text


def test_durations_and_money():
    assert duration(12.34) == "12.3 s"
    assert duration(math.inf) == money(math.inf) == "endless"
    assert money(1964.8977) == "1,964.90"
    assert money(-3.5) == "-3.50"


def test_one_agent_is_not_many():
    assert [heads(n) for n in (0, 1, 2)] == ["0 agents", "1 agent", "2 agents"]


def test_a_paragraph_is_wrapped_beside_its_label():
    words = [f"word{i}" for i in range(60)]
    lines = paragraph("label", " ".join(words))
    assert len(lines) > 2
    assert max(map(len, lines)) <= WIDTH
    assert [line[:INDENT].strip() for line in lines] == ["label"] + [""] * (len(lines) - 1)
    assert " ".join(line[INDENT:] for line in lines).split() == words


def test_a_short_text_is_one_line_and_no_text_is_its_label():
    assert paragraph("cost", "12.00") == [f"{'cost':{INDENT}}12.00"]
    assert [line.strip() for line in paragraph("cost", "")] == ["cost"]
