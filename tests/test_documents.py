"""What the README, the docs and the case study say is what the code does."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

import staffing
from staffing import evaluate_staffing, optimize_staffing, read_scenario

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


def test_the_case_study_is_what_its_files_say(tmp_path: Path) -> None:
    folder = ROOT / "case_studies" / "bank_1999"
    subprocess.run(
        [sys.executable, folder / "run.py", tmp_path], check=True, capture_output=True, timeout=120
    )
    rebuilt = (tmp_path / "levels.csv").read_text(encoding="utf-8")
    kept = (folder / "levels.csv").read_text(encoding="utf-8")
    assert [line.split(",")[1] for line in rebuilt.splitlines()] == [
        line.split(",")[1] for line in kept.splitlines()
    ]
    for new, old in zip(rebuilt.splitlines()[1:], kept.splitlines()[1:], strict=True):
        for a, b in zip(new.split(",")[1:], old.split(",")[1:], strict=True):
            try:
                number = float(a.strip('"'))
            except ValueError:
                assert a == b
            else:
                assert number == pytest.approx(float(b), rel=1e-9, abs=1e-12)
    for figure in ("cost_curve.png", "risk_by_cv.png"):
        assert (tmp_path / figure).stat().st_size > 10_000


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
