"""What the README, the docs and the case studies say is what the code does."""

import csv
import re
import subprocess
import sys
from pathlib import Path

import pytest

import staffing
from staffing import evaluate_staffing, optimize_staffing, read_scenario
from staffing.models.routing import NAMED_ROUTINGS

ROOT = Path(__file__).parent.parent
README = (ROOT / "README.md").read_text(encoding="utf-8")


def blocks(language: str) -> list[str]:
    return re.findall(rf"```{language}\n(.*?)```", README, re.DOTALL)


def without_check(text: str) -> list[str]:
    """The lines of a printed plan but for the check, whose counts depend on the machine's speed."""
    kept, checking = [], False
    for line in text.strip().splitlines():
        checking = line.startswith("check") or (checking and line.startswith(" " * 16))
        if not checking:
            kept.append(line)
    return kept


def test_the_readmes_first_call_prints_what_the_readme_shows(capsys: pytest.CaptureFixture[str]) -> None:
    code, shown = blocks("python")[0], blocks("text")[0]
    exec(code, {})
    assert without_check(capsys.readouterr().out) == without_check(shown)


def test_the_readmes_other_code_runs(tmp_path: Path) -> None:
    for code in blocks("python")[1:]:
        subprocess.run([sys.executable, "-c", code], cwd=tmp_path, check=True, capture_output=True)
    assert (tmp_path / "what_if.csv").read_text(encoding="utf-8").count("\n") == 12


def test_the_readmes_commands_run(tmp_path: Path) -> None:
    lines = [line.split("#")[0].split() for line in blocks("sh")[2].splitlines()]
    assert [line[1] for line in lines] == ["init", "optimize", "evaluate"]
    for line in lines:
        subprocess.run(
            [sys.executable, "-m", *line], cwd=tmp_path, check=True, capture_output=True, timeout=60
        )
    assert (tmp_path / "monday.csv").exists()


def test_links_between_the_documents_lead_somewhere() -> None:
    for document in [*ROOT.glob("*.md"), *ROOT.glob("docs/*.md"), *ROOT.glob("case_studies/*/*.md")]:
        for target in re.findall(r"\]\(([^)#]+)\)", document.read_text(encoding="utf-8")):
            assert (document.parent / target).exists(), f"{document.name} links to {target}"


def rebuild(study: str, folder: Path) -> str:
    """What the study's run.py prints, having written its files to the folder."""
    run = ROOT / "case_studies" / study / "run.py"
    done = subprocess.run(
        [sys.executable, run, folder],
        check=True,
        capture_output=True,
        text=True,
        encoding="utf-8",
        timeout=120,
    )
    return done.stdout


def assert_same_table(rebuilt: Path, kept: Path, rel: float = 1e-9) -> None:
    """Every cell is the other's, numbers to so much of their value."""
    new, old = (list(csv.reader(path.read_text(encoding="utf-8").splitlines())) for path in (rebuilt, kept))
    assert new[0] == old[0]
    for new_row, old_row in zip(new[1:], old[1:], strict=True):
        for a, b in zip(new_row, old_row, strict=True):
            try:
                number = float(a)
            except ValueError:
                assert a == b
            else:
                assert number == pytest.approx(float(b), rel=rel, abs=1e-12)


def kept_rows(study: str, file: str) -> list[dict[str, str]]:
    text = (ROOT / "case_studies" / study / file).read_text(encoding="utf-8")
    return list(csv.DictReader(text.splitlines()))


def story_of(study: str) -> str:
    """The study's README, on one line for phrases that run on."""
    return (ROOT / "case_studies" / study / "README.md").read_text(encoding="utf-8").replace("\n", " ")


def test_the_case_study_is_what_its_files_say(tmp_path: Path) -> None:
    rebuild("bank_1999", tmp_path)
    assert_same_table(tmp_path / "levels.csv", ROOT / "case_studies" / "bank_1999" / "levels.csv")
    for figure in ("cost_curve.png", "risk_by_cv.png"):
        assert (tmp_path / figure).stat().st_size > 10_000


@pytest.mark.slow
@pytest.mark.parametrize(
    ("study", "tables", "figure", "rel"),
    [
        # Four digits are written of what may be the difference of numbers a million times as large.
        ("accuracy", ("accuracy.csv", "convergence.csv"), "accuracy.png", 2e-3),
        ("routing_rules", ("rules.csv", "same_agents.csv"), "routing_rules.png", 1e-5),
        # What is written of differences has fewer digits, too.
        (
            "random_drift",
            ("regimes.csv", "variance.csv", "one_point.csv", "trust.csv", "error.csv"),
            "variance.png",
            2e-3,
        ),
    ],
)
def test_a_studys_files_and_the_tables_in_its_readme_are_what_its_code_makes(
    study: str, tables: tuple[str, ...], figure: str, rel: float, tmp_path: Path
) -> None:
    printed = rebuild(study, tmp_path)
    for table in tables:
        assert_same_table(tmp_path / table, ROOT / "case_studies" / study / table, rel)
    assert (tmp_path / figure).stat().st_size > 10_000
    readme = (ROOT / "case_studies" / study / "README.md").read_text(encoding="utf-8").splitlines()
    assert [line for line in printed.splitlines() if line and line not in readme] == []


def test_what_the_accuracy_study_says_follows_from_its_tables() -> None:
    story = story_of("accuracy")
    rows = {
        (r["method"], int(r["agents"]), float(r["load"]), r["measure"]): r
        for r in kept_rows("accuracy", "accuracy.csv")
    }

    def error(method: str, agents: int, load: float, measure: str = "wait_probability") -> float:
        return float(rows[method, agents, load, measure]["mean_absolute_error"])

    mean_rate, limit, finer = "Erlang A, n and the mean rate", "diffusion, limit g", "diffusion, g = S2 / S"
    law, own, two = (f"gamma closure, c2 {of}" for of in ("of the law", "of the roster", "by two idle"))
    assert "off by a tenth in P(wait)" in story
    assert [error(mean_rate, n, 1.0) for n in (20, 100, 500)] == pytest.approx([0.1] * 3, rel=0.1)
    assert "two points of P(wait) at 20 agents, and one at 100" in story
    for method in (limit, finer):
        assert [error(method, n, 1.0) for n in (20, 100)] == pytest.approx([0.02, 0.01], rel=0.25)
    queue = rows[finer, 100, 1.0, "mean_queue"]
    assert error(finer, 100, 1.0, "mean_queue") < 0.005 * float(queue["exact_mean_over_rosters"])
    queue = rows[finer, 500, 0.9, "mean_queue"]
    assert 0.07 < error(finer, 500, 0.9, "mean_queue") / float(queue["exact_mean_over_rosters"]) < 0.12
    assert "ten times less than the diffusion" in story
    assert [error(finer, n, 1.0) / error(law, n, 1.0) for n in (20, 100, 500)] == pytest.approx(
        [10] * 3, rel=0.2
    )
    assert "factor of four (20 agents) to twenty (500)" in story
    assert error(law, 20, 1.0) / error(own, 20, 1.0) == pytest.approx(4, rel=0.1)
    assert error(law, 500, 1.0) / error(own, 500, 1.0) == pytest.approx(20, rel=0.1)
    assert all(error(two, n, load) < error(own, n, load) for n in (20, 100, 500) for load in (0.9, 1.0, 1.1))
    methods = (ROOT / "docs" / "methods.md").read_text(encoding="utf-8")
    assert "the bound is 7e-5 in P(wait) at CV .2" in methods
    bound = evaluate_staffing(
        calls_per_hour=100,
        mean_handle_seconds=3600,
        mean_patience_seconds=7200,
        rate_cv=0.2,
        agents=100,
    ).performance.method_error["wait_probability"]
    assert bound == pytest.approx(7e-5, rel=0.02)


def test_what_the_study_of_routing_rules_says_follows_from_its_tables() -> None:
    story = story_of("routing_rules")
    same = {(r["routing"], r["rate_cv"]): r for r in kept_rows("routing_rules", "same_agents.csv")}

    def cost(rule: str, cv: str, column: str = "cost_per_hour") -> float:
        return float(same[rule, cv][column])

    rules = {rule for rule, _ in same}
    assert rules == set(NAMED_ROUTINGS)
    for cv in ("0.2", "0.4"):
        costs = {rule: cost(rule, cv) for rule in rules}
        assert min(costs, key=costs.__getitem__) == "fastest-first"
        assert max(costs, key=costs.__getitem__) == "slowest-first"
        low, high = (cost("longest-idle", cv, f"cost_per_hour_{end}pct_of_rosters") for end in ("5", "95"))
        assert f"{max(costs.values()) - min(costs.values()):.2f}" in story
        assert f"{high - low:.2f}" in story
        assert f"{costs['longest-idle'] - costs['fastest-first']:.2f}" in story
    for figure in (
        f"{cost('fastest-first', '0.2'):,.2f} per hour and the worst {cost('slowest-first', '0.2'):,.2f}",
        f"even {cost('fastest-first', '0') - cost('fastest-first', '0.2'):.2f} less than if all agents were alike",
        f"costs {cost('longest-idle', '0.2') - cost('least-occupied', '0.2'):.2f} less than longest-idle",
        f"busy {cost('fastest-first', '0.2', 'busier_if_one_deviation_faster'):.1%}".replace(
            "%", " points more"
        ),
        f"{-cost('longest-idle', '0.2', 'busier_if_one_deviation_faster'):.1%}".replace(
            "%", " points *less*"
        ),
        f"a mean of {cost('fastest-first', '0.2', 'occupancy'):.1%}",
        f"{cost('longest-idle', '0.2', 'share_of_rosters_missing_the_promise'):.0%} of longest-idle rosters",
        f"{cost('fastest-first', '0.2', 'share_of_rosters_missing_the_promise'):.0%} of fastest-first",
    ):
        assert figure in story, figure
    best = {(r["routing"], r["rate_cv"]): r for r in kept_rows("routing_rules", "rules.csv")}
    assert {key: r["agents"] for key, r in best.items() if r["agents"] != "61"} == {
        ("slowest-first", "0.2"): "60"
    }
    one_more = cost("slowest-first", "0.2") - float(best["slowest-first", "0.2"]["cost_per_hour"])
    assert f"61st would cost {one_more:.2f} more" in story


def test_the_case_studys_figures_are_the_codes() -> None:
    scenario = read_scenario(ROOT / "case_studies" / "bank_1999" / "scenario.toml")
    story = (ROOT / "case_studies" / "bank_1999" / "README.md").read_text(encoding="utf-8")
    plan = optimize_staffing(scenario, check=False)
    seven = evaluate_staffing(scenario, agents=plan.binding.agents_without)
    ten = evaluate_staffing(scenario, agents=10)
    assert (plan.agents, seven.agents) == (9, 7)
    for figure in (
        f"{seven.cost_per_hour:.2f} per hour",
        f"{plan.performance.service_level.offered:.1%}",
        f"{plan.cost_per_hour:.2f}",
        f"{plan.binding.price_per_hour:.2f} per hour more",
        f"{plan.rosters.share_missing_any:.0%} of the rosters",
        f"{ten.rosters.share_missing_any:.1%} of rosters",
        f"{ten.cost_per_hour - plan.cost_per_hour:.2f} per",
    ):
        assert figure in story.replace("\n", " "), figure
    risk = {
        (n, cv): evaluate_staffing(scenario, agents=n, rate_cv=cv).rosters.share_missing_any
        for n, cv in ((9, 0.1), (9, 0.5), (10, 0.3))
    }
    assert f"{risk[9, 0.1]:.0%} of rosters at a CV of 0.1" in story
    assert f"for {risk[9, 0.5]:.0%} at 0.5" in story
    assert risk[10, 0.3] < 0.05
    assert {optimize_staffing(scenario, rate_cv=cv, check=False).agents for cv in (0, 0.2, 0.4)} == {9}
    assert plan.classic.erlang_a.agents == 9
    assert plan.classic.erlang_c.agents == 10


def test_the_changelog_names_the_version() -> None:
    assert staffing.__version__ in (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")


def test_what_the_study_of_the_random_drift_says_follows_from_its_tables() -> None:
    story = story_of("random_drift")
    at = {(r["rate_day_cv"], int(r["agents"])): r for r in kept_rows("random_drift", "regimes.csv")}

    def share(day_cv: str, agents: int, column: str, digits: int = 1) -> str:
        return f"{float(at[day_cv, agents][column]):.{digits}%}"

    lost = {
        (r["agents"], r["routing"], float(r["rate_cv"])): r for r in kept_rows("random_drift", "variance.csv")
    }

    def abandonment(agents: str, rule: str, cv: float) -> float:
        return float(lost[agents, rule, cv]["abandonment"])

    saved = abandonment("100", "longest-idle", 0.3) - abandonment("100", "longest-idle", 0.15)
    error = {
        (int(r["agents"]), r["at"]): abs(float(r["error"]))
        for r in kept_rows("random_drift", "error.csv")
        if r["measure"] == "wait_probability"
    }
    for figure in (
        f"efficiency-driven ({share('0', 80, 'ED', 0)})",
        f"efficiency-driven on {share('0.1', 100, 'ED')} of days, and at 90 on {share('0.1', 90, 'ED', 0)}",
        f"alone made {share('0', 90, 'ED', 3)}",
        f"{share('0', 70, 'fluid_abandonment')} of {share('0', 70, 'abandonment')} at 70 agents",
        f"at 100 agents {share('0', 100, 'abandonment')} are lost and {share('0', 100, 'fluid_abandonment')} would",
        f"it is {share('0.1', 100, 'fluid_abandonment')} of {share('0.1', 100, 'abandonment')}: size is no cure",
        f"loses {abandonment('111', 'fastest-first', 0.0):.3%} of calls if agents are alike, "
        f"{abandonment('111', 'fastest-first', 0.25):.3%} at a CV of 0.25, the best there is, and "
        f"{abandonment('111', 'fastest-first', 0.7):.3%} at 0.7",
        # 2.50 a lost call; 20 for the 200 hours that callers would wait in an hour if all gave up
        f"halving a CV of 0.3 would save {saved * (2000 * 2.5 + 200 * 20):.2f} per hour",
        f"{error[25, 'safety 0.5']:.4f} at 25 agents, {error[100, 'safety 0.5']:.4f} at 100, "
        f"{error[6400, 'safety 0.5']:.4f} at 6400",
    ):
        assert figure in story, figure
    curve = {cv: abandonment("111", "fastest-first", cv) for _, rule, cv in lost if rule == "fastest-first"}
    assert min(curve, key=curve.__getitem__) == 0.25
    assert "within 2.1% up to a CV of 0.5 under longest-idle and least-occupied, 5% under" in story
    for (agents, rule, cv), r in lost.items():
        channels = ("alike", "capacity_channel_second_order", "idleness_channel_second_order")
        formula = sum(float(r[part]) for part in channels)
        if agents == "111" and cv <= 0.5:
            bound = 0.021 if rule in ("longest-idle", "least-occupied") else 0.05
            assert formula == pytest.approx(float(r["abandonment"]), rel=bound)
    assert "in P(wait) it is 1.6 times what is met, and more" in story
    for table in ("error.csv", "trust.csv"):
        for r in kept_rows("random_drift", table):
            met, stated = abs(float(r["error"])), float(r["stated_error"])
            assert met < stated
            if r["measure"] == "wait_probability":
                assert stated > 1.6 * met
    points = {
        (r["agents"], r["routing"], r["rate_cv"]): r for r in kept_rows("random_drift", "one_point.csv")
    }
    known = points["111", "longest-idle", "0.3"]
    assert (
        "costs 0.75 per hour to live with, or a fourteenth of an agent, 2.16 per hour, to staff away" in story
    )
    assert f"{30 * float(known['agents_of_one_point']):.2f}" == "2.16"
    assert float(known["agents_of_one_point"]) == pytest.approx(1 / 14, rel=0.03)
    assert f"{float(known['cost_per_hour_of_one_point']):.2f}" == "0.75"
    for agents in ("100", "111"):
        assert float(points[agents, "fastest-first", "0.1"]["cost_per_hour_of_one_point"]) < 0


def test_the_figures_of_the_random_drift_are_kept() -> None:
    for name in ("paths", "regimes", "error", "variance"):
        size = (ROOT / "case_studies" / "random_drift" / f"{name}.png").stat().st_size
        assert 10_000 < size < 300_000
