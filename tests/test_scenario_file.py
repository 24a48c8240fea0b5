import math
import re

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from staffing.models.errors import ScenarioError
from staffing.scenario import Scenario
from staffing.scenario_fields import FIELDS
from staffing.scenario_file import read_scenario
from staffing.scenario_template import scenario_template

ORDINARY = "calls_per_hour = 1200\nmean_handle_seconds = 180\nmean_patience_seconds = 120\n"


SMALL = "calls_per_hour = 1\nmean_handle_seconds = 60\nmean_patience_seconds = 60\n"


@pytest.fixture
def small(tmp_path):
    """A file with the fields that are required."""
    path = tmp_path / "small.toml"
    path.write_text(SMALL, encoding="utf-8")
    return path


@pytest.fixture
def read(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)

    def write_and_read(content, chosen=()):
        (tmp_path / "f.toml").write_bytes(content if isinstance(content, bytes) else content.encode())
        return read_scenario("f.toml", chosen)

    return write_and_read


def problems(function, *arguments):
    with pytest.raises(ScenarioError) as caught:
        function(*arguments)
    return caught.value.problems


def test_a_file_is_read(read):
    assert read(ORDINARY + "name = 'Montag früh'\nmax_agents = 80") == Scenario(
        calls_per_hour=1200,
        mean_handle_seconds=180,
        mean_patience_seconds=120,
        name="Montag früh",
        max_agents=80,
    )
    assert read(ORDINARY).assumed() == ("rate_cv",)
    assert read(ORDINARY.replace("120\n", "inf\n")).mean_patience_seconds == math.inf


def test_byte_order_marks_and_windows_line_ends_are_fine(read):
    assert read(b"\xef\xbb\xbf" + ORDINARY.replace("\n", "\r\n").encode()) == read(ORDINARY)


def test_every_problem_comes_with_its_line(read):
    text = (
        "# calls_per_hour = 1\n"
        'name = """a\nrate_cv = 3"""\n'
        '"calls_per_hour" = -5\r\n'
        "  mean_handle_second = 180 # unknown\n"
        "min_service_level = 80\n"
        "max_agents = 3\nmin_agents = 4\n"
    )
    assert [line.partition(" ")[0] + line.partition(" ")[2].split()[0] for line in problems(read, text)] == [
        "f.toml:2:name",
        "f.toml:4:calls_per_hour",
        "f.toml:5:mean_handle_second",
        "f.toml:6:min_service_level",
        "f.toml:mean_patience_seconds",
        "f.toml:8:min_agents",
    ]


LISTED = SMALL.replace("mean_handle_seconds = 60\n", "")


def test_a_list_may_run_over_lines_and_hides_no_key(read):
    text = (
        LISTED + "observed_rates_per_hour = [ # calls ] per hour\n"
        "  18.5, # rate_cv = 1\n"
        "  21,\n"
        "]\n"
        "max_occupancy = 85\n"
    )
    assert problems(read, text) == (
        "f.toml:7: max_occupancy = 85 must be between 0 and 1; for 85% write 0.85",
    )
    assert read(text.replace("85", "0.85")).observed_rates_per_hour == (18.5, 21.0)
    names = (
        'observed_rates_per_hour = [\n"rate_cv",\n["min_agents"]\n, "]"]\n"rate_cv" = -1\nmin_agents = -1\n'
    )
    assert [line.partition(": ")[0] for line in problems(read, LISTED + names)] == [
        "f.toml:3",
        "f.toml:7",
        "f.toml:8",
    ]


def test_a_contradiction_with_observed_rates_is_named_where_the_other_field_is(read):
    (line,) = problems(read, SMALL + "observed_rates_per_hour = [18.5, 21]\n")
    assert line.startswith("f.toml:2: mean_handle_seconds = 60 cannot go with observed_rates_per_hour")


def test_observed_rates_can_be_set(small):
    changed = read_scenario(small, ["observed_rates_per_hour=[18.5,21]", "mean_handle_seconds=none"])
    assert changed == read_scenario(small).replace(
        observed_rates_per_hour=[18.5, 21], mean_handle_seconds=None
    )
    assert read_scenario(small, ["observed_rates_per_hour=none"]) == read_scenario(small)


def test_an_unknown_key_is_answered_with_the_nearest(read):
    assert problems(read, ORDINARY + "\nshrinkge = 0.3") == (
        "f.toml:5: shrinkge is not a field of a scenario; did you mean shrinkage?",
    )


@pytest.mark.parametrize("heading", ["[scenario]", "[[scenario]]", '["scenario"]'])
def test_headings_are_refused_with_their_line_and_what_is_below_is_still_checked(read, heading):
    text = f"# one\n{heading}\n{ORDINARY}rate_cv = -1\n"
    first, second = problems(read, text)
    assert first == "f.toml:2: 'scenario' is a table; write its fields at the top level"
    assert second.startswith("f.toml:6: rate_cv = -1 ")


@pytest.mark.parametrize(
    ("row", "hint"),
    [
        ("min_service_level = 80%", "for 80% write 0.8"),
        ("rate_cv = 0,2", "decimal point"),
        ("rate_cv = .2", "write a 0 before the point"),
        ("name = Monday", "double quotes"),
        ("rate_cv: 0.2", "write = for the colon"),
        ("calls_per_hour = 5", "given twice"),
        ("nonsense", "write `field = value`"),
        ('name = "x', "Illegal character"),
        ("observed_rates_per_hour = 18.5, 21", "write a list of numbers like [18.5, 21]"),
        ("observed_rates_per_hour = [18,5; 21]", "with decimal points"),
    ],
)
def test_what_is_not_toml_is_shown_with_its_line_and_a_hint(read, row, hint):
    (line,) = problems(read, f"{ORDINARY}{row}\nshrinkage = 0.3\n")
    assert line.startswith("f.toml:4: is not TOML: ")
    assert row.replace("'", '"') in line
    assert hint in line


@pytest.mark.parametrize(
    ("content", "start"),
    [
        (b"# one\n# caf\xe9\n", "f.toml:2: is not UTF-8"),
        ("rate_cv = 1".encode("utf-16"), "f.toml:1: is not UTF-8"),
        (b"x = " + b"[" * 5000, "f.toml: is nested too deeply"),
        (b"rate_cv = " + b"1" * 5000, "f.toml: is not TOML: Exceeds the limit"),
        (b"#" * 4_000_001, "f.toml: is larger than 4000000 bytes"),
        (b"x = [\n1,\n\n", "f.toml:2: is not TOML"),
    ],
)
def test_files_that_are_something_else_are_refused_in_one_line(read, content, start):
    (line,) = problems(read, content)
    assert line.startswith(start)
    assert len(line) < 200


def test_files_that_cannot_be_opened_are_refused(tmp_path):
    assert "there is no such file" in problems(read_scenario, tmp_path / "none.toml")[0]
    assert "is a directory" in problems(read_scenario, tmp_path)[0]
    assert "cannot be read" in problems(read_scenario, "a\0b")[0]
    (tmp_path / "file").touch()
    assert "cannot be read" in problems(read_scenario, tmp_path / "file" / "below.toml")[0]


def test_an_empty_file_lacks_the_required_fields(read):
    assert [line.split()[1] for line in problems(read, "")] == [
        "calls_per_hour",
        "mean_handle_seconds",
        "mean_patience_seconds",
    ]


def test_settings_are_merged_before_anything_is_checked(read):
    assert read(
        "calls_per_hour = -5\n",
        ["mean_handle_seconds=180", "calls_per_hour=1200", "mean_patience_seconds=120"],
    ) == read(ORDINARY)
    assert problems(read, "calls_per_hour = 5\nrate_cv = 9", ["mean_handle_seconds=0", "rte_cv=1", "x"]) == (
        "--set: 'x' must read field=value",
        "f.toml:2: rate_cv = 9 must be between 0 and 1; for 9% write 0.09",
        "--set: mean_handle_seconds = 0 must be between 0.001 and 1000000",
        "--set: rte_cv is not a field of a scenario; did you mean rate_cv?",
        problems(read, "calls_per_hour = 5\nmean_handle_seconds = 1")[0],
    )


@pytest.mark.parametrize(
    ("setting", "field", "value"),
    [
        ("rate_cv=0.1", "rate_cv", 0.1),
        ("rate_cv = .1", "rate_cv", 0.1),
        ("mean_patience_seconds=inf", "mean_patience_seconds", math.inf),
        ("max_agents=7", "max_agents", 7),
        ("min_service_level=none", "min_service_level", None),
        ("service_level_definition=answered", "service_level_definition", "answered"),
        ('service_level_definition="answered"', "service_level_definition", "answered"),
        ("name=Monday, 10:00 = busy", "name", "Monday, 10:00 = busy"),
        ("name=2024", "name", "2024"),
        ("name=none", "name", "none"),
        ("name=", "name", ""),
        ("rate_cv=none", "rate_cv", None),
        ("rate_law=lognormal", "rate_law", "lognormal"),
        ("rate_law=None", "rate_law", None),
    ],
)
def test_settings_are_written_as_people_write_them(small, setting, field, value):
    small.write_text(SMALL + 'min_service_level = 0.5\nname = "old"\n', encoding="utf-8")
    changed = read_scenario(small, [setting])
    assert changed == read_scenario(small).replace(**{field: value})
    assert (field in changed.given()) == (value is not None)


@pytest.mark.parametrize(
    ("setting", "line"),
    [
        ("min_service_level=80%", "--set: min_service_level = '80%' must be a number; for 80% write 0.8"),
        ("min_service_level=80", "--set: min_service_level = 80 must be between 0 and 1; for 80% write 0.8"),
        ("max_agents=5\nmin_agents=3", r"--set: max_agents = '5\nmin_agents=3' must be a number"),
        ("max_agents=", "--set: max_agents = '' must be a number"),
        ("service_level_seconds=none5", "--set: service_level_seconds = 'none5' must be a number"),
        ("rate_cv=nan", "--set: rate_cv = nan must be between 0 and 1"),
        ("rate_cv", "--set: 'rate_cv' must read field=value"),
        (
            "observed_rates_per_hour=18.5,21",
            "--set: observed_rates_per_hour = '18.5,21' must be a list of numbers between 0.0036 and 3600000, such as "
            "[18.5, 21, 24.2]",
        ),
    ],
)
def test_bad_settings_are_named(small, setting, line):
    assert problems(read_scenario, small, [setting]) == (line,)


def test_the_last_of_two_settings_counts(small):
    assert read_scenario(small, ["rate_cv=9", "rate_cv=0.1"]).rate_cv == 0.1


def test_the_template_is_the_readme_example(read):
    assert read(scenario_template()) == Scenario(
        calls_per_hour=1200,
        mean_handle_seconds=180,
        mean_patience_seconds=120,
        agent_cost_per_hour=30,
        waiting_cost_per_hour=20,
        abandonment_cost=2.5,
        min_service_level=0.8,
    )


ENTRY = re.compile(r"^(?:# )?(\w+) = .*", flags=re.MULTILINE)


def test_the_template_knows_every_field_in_order():
    text = scenario_template()
    assert [entry[1] for entry in ENTRY.finditer(text)] == list(FIELDS)
    assert all(len(line) < 120 for line in text.splitlines())


@pytest.mark.parametrize("field", FIELDS)
def test_each_example_of_the_template_is_good(read, field):
    text = re.sub(rf"^# ({field} = )", r"\1", scenario_template(), flags=re.MULTILINE)
    instead = {"observed_rates_per_hour": "mean_handle_seconds", "patience_curve": "mean_patience_seconds"}
    if field in instead:
        lines = problems(read, text)
        assert len(lines) == 1  # that the mean is given too
        text = re.sub(f"^{instead[field]}", f"# {instead[field]}", text, flags=re.MULTILINE)
    if field == "patience_scv":
        assert "cannot go with patience_law = 'exponential'" in problems(read, text)[0]
        text = re.sub("^# patience_law = .*", 'patience_law = "gamma"', text, flags=re.MULTILINE)
    centre = read(text)
    assert field in centre.given()
    assert all("say little" in line for line in centre.warnings())  # of three rates


MARKS = ["=", "\n", "[", "]", "{", "}", '"', "'", '"""', "#", "\\", ",", ".", "\r", "\ufeff", "\0", " "]
VALUES = ["80%", "1e999", "inf", "nan", "0", "1200", "1979-05-27T07:32:00+99:99", "true", "none"]
PIECES = st.sampled_from([*FIELDS, *MARKS, *VALUES])


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=300)
@given(
    content=st.one_of(
        st.binary(),
        st.text().map(str.encode),
        st.lists(PIECES, max_size=40).map(lambda some: "".join(some).encode()),
    ),
    chosen=st.lists(st.one_of(st.text(max_size=8), st.lists(PIECES, max_size=5).map("".join)), max_size=2),
    before=st.sampled_from([b"", ORDINARY.encode()]),
)
def test_no_text_does_more_than_be_refused(read, content, chosen, before):
    lines = ()
    try:
        read(before + content, chosen)
    except ScenarioError as error:
        lines = error.problems
    assert all(line.startswith(("f.toml:", "--set: ")) and "\n" not in line for line in lines)
