"""The corrected mean: on jointly normal samples everything about it is known exactly.

Tests of chance fail with probability 1e-4 or less, for a random seed.
"""

import math

import numpy as np
import pytest
from scipy import stats

from staffing.models.simulation.controlled_mean import controlled_mean, enough

MEAN = 3.0
EFFECTS = np.array([0.8, -0.5, 0.3])
SCALES = np.array([1.0, 0.01, 30.0])
NOISE = 0.6
EXPLAINED = float(np.sum(EFFECTS**2) / (np.sum(EFFECTS**2) + NOISE**2))
"""The squared multiple correlation between a value and its controls."""


def normal_sample(generator, m):
    """A sample of mean MEAN and its controls, which are correlated with one another."""
    z = generator.standard_normal((m, 3))
    mixing = np.array([[1.0, 0.5, 0.0], [0.0, 1.0, 0.4], [0.0, 0.0, 1.0]])
    return MEAN + z @ EFFECTS + NOISE * generator.standard_normal(m), z @ mixing * SCALES


@pytest.fixture(scope="module", params=[18, 40])
def repeated(request):
    """Plain means, corrected means and their standard errors in 3000 repetitions."""
    m, generator = request.param, np.random.default_rng(17)
    rows = []
    for _ in range(3000):
        sample, controls = normal_sample(generator, m)
        rows.append((sample.mean(), *controlled_mean(sample, controls)))
    return m, *np.array(rows).T


def test_is_the_intercept_of_least_squares():
    sample, controls = normal_sample(np.random.default_rng(1), 50)
    design = np.column_stack([np.ones(50), controls])
    coefficients, [squares], _, _ = np.linalg.lstsq(design, sample)
    mean, error = controlled_mean(sample, controls)
    assert mean == pytest.approx(coefficients[0], rel=1e-10)
    assert error == pytest.approx(math.sqrt(squares / 46 * np.linalg.inv(design.T @ design)[0, 0]), rel=1e-9)


def test_is_unbiased(repeated):
    _, _, means, _ = repeated
    error = means.std(ddof=1) / math.sqrt(means.size)
    assert error < 0.005
    assert abs(means.mean() - MEAN) < 3.9 * error


def test_variance_falls_by_what_the_controls_explain(repeated):
    # (1 - R^2) (m - 2) / (m - k - 2): Lavenberg and Welch 1981. A chi-square interval at 1e-4.
    m, _, means, _ = repeated
    variance = (np.sum(EFFECTS**2) + NOISE**2) / m
    expected = variance * (1 - EXPLAINED) * (m - 2) / (m - 5)
    low, high = stats.chi2.ppf([5e-5, 1 - 5e-5], means.size - 1) / (means.size - 1)
    assert 0.89 < low < high < 1.11
    assert low < means.var(ddof=1) / expected < high
    assert means.var(ddof=1) < 0.5 * variance


def test_standard_errors_are_honest(repeated):
    # Given the controls it is a regression, so the score has Student's law with m - 1 - k degrees of freedom.
    m, _, means, errors = repeated
    scores = (means - MEAN) / errors
    assert stats.kstest(scores, stats.t(m - 4).cdf).pvalue > 1e-4
    for share in (0.5, 0.9, 0.99):
        covered = np.sum(np.abs(scores) <= stats.t(m - 4).ppf((1 + share) / 2))
        assert stats.binomtest(int(covered), scores.size, share).pvalue > 1e-4


def test_controls_that_explain_nothing_cost_little():
    generator = np.random.default_rng(5)
    rows = []
    for _ in range(3000):
        sample = generator.standard_normal(40)
        rows.append((sample.mean(), controlled_mean(sample, generator.standard_normal((40, 3)))[0]))
    plain, corrected = np.var(rows, axis=0)
    assert 1.0 < corrected / plain < 1.2  # 38 / 35 expected
    assert np.mean(rows, axis=0) == pytest.approx(0, abs=4 / math.sqrt(40 * 3000))


def test_a_sample_explained_entirely_has_no_error():
    controls = np.random.default_rng(2).standard_normal((30, 2))
    mean, error = controlled_mean(7 + controls @ [2.0, -1.0], controls)
    assert mean == pytest.approx(7)
    assert error < 1e-12


@pytest.mark.parametrize(("m", "used"), [(2, False), (15, False), (16, False), (17, True)])
def test_few_values_are_not_corrected(m, used):
    sample, controls = normal_sample(np.random.default_rng(3), m)
    assert enough(m, 3) == used
    mean, error = controlled_mean(sample, controls)
    assert (mean != pytest.approx(sample.mean())) == used
    if not used:
        assert error == pytest.approx(sample.std(ddof=1) / math.sqrt(m))


def test_controls_are_worth_the_same_on_any_scale():
    sample, controls = normal_sample(np.random.default_rng(6), 60)
    expected = controlled_mean(sample, controls)
    for scale in (1e-3, 1e3):
        assert controlled_mean(sample, scale * controls) == pytest.approx(expected, rel=1e-6)
    mean, error = controlled_mean(1e6 * sample, controls)
    assert (mean, error) == pytest.approx((1e6 * expected[0], 1e6 * expected[1]), rel=1e-9)


def test_a_control_given_twice_changes_the_mean_not_at_all():
    sample, controls = normal_sample(np.random.default_rng(7), 60)
    mean, error = controlled_mean(sample, controls)
    twice, wider = controlled_mean(sample, np.column_stack([controls, controls[:, 0]]))
    assert twice == pytest.approx(mean, rel=1e-8)
    assert wider == pytest.approx(error * math.sqrt(56 / 55), rel=1e-8)


@pytest.mark.parametrize("where", [0, 1, 3])
def test_a_control_that_never_varies_is_left_out(where):
    sample, controls = normal_sample(np.random.default_rng(8), 17)
    with_zeros = np.insert(controls, where, 0.0, axis=1)
    assert controlled_mean(sample, with_zeros) == controlled_mean(sample, controls)


@pytest.mark.parametrize("controls", [np.zeros((30, 2)), np.empty((30, 0))])
def test_without_controls_it_is_the_plain_mean(controls):
    sample, _ = normal_sample(np.random.default_rng(9), 30)
    mean, error = controlled_mean(sample, controls)
    assert mean == pytest.approx(sample.mean())
    assert error == pytest.approx(sample.std(ddof=1) / math.sqrt(30))


@pytest.mark.parametrize("m", [2, 10, 100])
def test_a_constant_sample_is_certain(m):
    _, controls = normal_sample(np.random.default_rng(10), m)
    assert controlled_mean(np.full(m, 0.1), controls) == (pytest.approx(0.1, rel=1e-15), 0.0)


@pytest.mark.parametrize("wrong", [math.inf, math.nan])
@pytest.mark.parametrize("size", [1, 30])
def test_an_infinite_value_makes_an_infinite_mean(wrong, size):
    sample, controls = normal_sample(np.random.default_rng(11), 30)
    sample[:size] = wrong
    assert controlled_mean(sample, controls) == (math.inf, math.inf)


def test_controls_may_be_of_any_size():
    """Waits in units of a patience of a year, beside gaps of a second, change nothing."""
    sample, controls = normal_sample(np.random.default_rng(5), 64)
    mean, error = controlled_mean(sample, controls)
    for sizes in ([1e-12, 1.0, 1e12], [1e9, 1e9, 1e9], [1e-15, 1e-15, 1.0]):
        assert controlled_mean(sample, controls * np.array(sizes)) == pytest.approx((mean, error), rel=1e-9)
