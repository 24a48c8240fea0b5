"""What corrects the simulation for luck has mean zero, and takes away noise without adding bias.

Tests of chance fail with probability 1e-4 or less, for a random seed.
"""

import math
from statistics import NormalDist

import numpy as np
import pytest
from scipy import stats

from staffing.models.erlang import erlang_a
from staffing.models.rate_laws import GammaRates
from staffing.models.simulation.shared_queue import CONTROLS, FEWEST_LOST, SharedQueueSimulation


def identical(rate, agents):
    return lambda size, generator: np.full((size, agents), rate)


def gamma(agents, cv):
    return lambda size, generator: GammaRates(1.0, cv).rosters(agents, size, generator, strata=True)


def simulation(rosters, agents, lam, theta, seed=0, calls=100):
    return SharedQueueSimulation(
        arrival_rate=lam,
        rosters=rosters,
        agents=agents,
        abandonment_rate=theta,
        threshold=0.1,
        seed=seed,
        rosters_per_batch=4,
        calls_per_roster=calls,
    )


SYSTEMS = {
    "light": (gamma(12, 0.2), 12, 4.0, 1.0),
    "critical": (gamma(10, 0.5), 10, 10.0, 0.5),
    "overloaded": (gamma(5, 0.3), 5, 12.0, 0.5),
    "one agent": (identical(1.0, 1), 1, 0.8, 0.5),
    "patient": (identical(1.0, 6), 6, 5.0, 0.0),
    "impatient": (gamma(6, 0.3), 6, 6.0, math.inf),
    "nobody": (identical(1.0, 0), 0, 3.0, 0.5),
    "nobody and no patience": (identical(1.0, 0), 0, 3.0, math.inf),
}
KINDS = ("gaps", "strained gaps", "services", "strained services", "giving up")
Z = NormalDist().inv_cdf(1 - 1e-4 / 2 / len(SYSTEMS) / len(KINDS))


@pytest.mark.parametrize(("rosters", "agents", "lam", "theta"), SYSTEMS.values(), ids=SYSTEMS.keys())
def test_controls_have_mean_zero(rosters, agents, lam, theta):
    done = simulation(rosters, agents, lam, theta)
    done.run(600, workers=2)
    controls = done.controls()
    assert controls.shape == (600, CONTROLS)
    means, errors = controls.mean(axis=0), controls.std(axis=0, ddof=1) / math.sqrt(600)
    unused = {kind for kind, error in zip(KINDS, errors, strict=True) if error == 0}
    without_services = {"services", "strained services"} if agents == 0 else set()
    lost = done.performance().abandonment_probability * done.calls / done.batches
    without_patience = {"giving up"} if theta in (0.0, math.inf) or lost < FEWEST_LOST else set()
    assert unused == without_services | without_patience
    # Per call, where a gap or a service counts as 1: a strain that knows the draw it weighs would show.
    assert errors.max() < 0.008
    assert np.all(np.abs(means) <= Z * errors), dict(
        zip(KINDS, means / np.maximum(errors, 1e-300), strict=True)
    )


ERLANG_A = {
    "light": (4.2, 0.5, 1.0, 12),
    "critical": (10.0, 1.0, 0.5, 10),
    "overloaded": (15.0, 1.0, 1.0, 10),
    "impatient": (5.0, 1.0, math.inf, 5),
}
MEASURES = (
    "wait_probability",
    "mean_wait",
    "abandonment_probability",
    "service_level_offered",
    "occupancy",
)
RUNS, BATCHES = 200, 32


@pytest.fixture(scope="module", params=ERLANG_A.values(), ids=ERLANG_A.keys())
def many_runs(request):
    """Errors of the corrected and of the plain estimates, and the former in standard errors, by measure."""
    lam, mu, theta, agents = request.param
    exact = erlang_a(lam, mu, theta, agents, threshold=0.1)
    measures = [m for m in MEASURES if m != "mean_wait" or theta < math.inf]
    corrected, plain, scores = ({m: [] for m in measures} for _ in range(3))
    for seed in range(RUNS):
        done = simulation(identical(mu, agents), agents, lam, theta, seed)
        done.run(BATCHES)
        found, batches = done.performance(), done.batch_values()
        for m in measures:
            corrected[m].append(found.value(m) - exact.value(m))
            plain[m].append(np.mean([batch[m] for batch in batches]) - exact.value(m))
            scores[m].append(corrected[m][-1] / found.standard_errors[m])
    return corrected, plain, scores


def normal_scores(scores):
    return stats.norm.ppf(stats.t.cdf(scores, BATCHES - 1 - CONTROLS))


def test_corrected_estimates_are_unbiased(many_runs):
    _, _, scores = many_runs
    for m, values in scores.items():
        assert abs(normal_scores(values).mean()) < 3.9 / math.sqrt(RUNS), m


def test_corrected_standard_errors_are_honest(many_runs):
    """Within the 1e-4 interval of the chi-square law; errors a quarter too small or a third too large would show."""
    _, _, scores = many_runs
    low, high = stats.chi2.ppf([5e-5, 1 - 5e-5], RUNS)
    assert stats.chi2.cdf(high * (3 / 4) ** 2, RUNS) < 0.1
    assert stats.chi2.sf(low * (4 / 3) ** 2, RUNS) < 0.1
    for m, values in scores.items():
        assert low < np.sum(normal_scores(values) ** 2) < high, m


def test_correction_halves_the_variance(many_runs):
    corrected, plain, _ = many_runs
    ratios = [np.mean(np.square(corrected[m])) / np.mean(np.square(plain[m])) for m in corrected]
    assert max(ratios) < 0.8
    assert np.median(ratios) < 0.5
