"""The counter-based generator. Chance makes a test here fail with probability 1e-4 or less, for a random key."""

import itertools
import math
from statistics import NormalDist

import numpy as np
import pytest
from numba import njit
from scipy import stats

from staffing.models.simulation import _kernels as kernels
from staffing.models.simulation import _random as random

KEY = np.uint64(0xFEDCBA9876543210)
SIZE = 400_000
Z = NormalDist().inv_cdf(1 - 1e-4 / 2)


def splitmix(key: int, counter: int) -> int:
    mask = 2**64 - 1
    z = (key + counter * 0x9E3779B97F4A7C15) & mask
    z = ((z ^ (z >> 30)) * 0xBF58476D1CE4E5B9) & mask
    z = ((z ^ (z >> 27)) * 0x94D049BB133111EB) & mask
    return z ^ (z >> 31)


@njit
def _uniforms(key, size):
    return np.array([random.uniform(key, np.uint64(i)) for i in range(size)])


@njit
def _exponentials(key, size):
    return np.array([random.exponential(key, np.uint64(i)) for i in range(size)])


@njit
def _callers(key, size):
    out = np.empty((3, size))
    for i in range(size):
        call = np.uint64(i)
        out[0, i] = kernels.gap(key, call)
        out[1, i] = kernels.work(key, call)
        out[2, i] = kernels.patience(key, call)
    return out


@pytest.fixture(scope="module")
def uniforms():
    return _uniforms(KEY, SIZE)


@pytest.fixture(scope="module")
def exponentials():
    return _exponentials(KEY, SIZE)


def test_published_first_outputs_of_splitmix64():
    published = [6457827717110365317, 3203168211198807973, 9817491932198370423, 4593380528125082431]
    assert [int(random.bits(np.uint64(1234567), np.uint64(i))) for i in range(1, 5)] == published


@pytest.mark.parametrize("key", [0, 1, 2**63 - 1, 2**63, 2**64 - 1])
@pytest.mark.parametrize("counter", [0, 1, 2**53 + 1, 2**63, 2**64 - 5])
def test_bits_are_those_of_whole_numbers(key, counter):
    word = random.bits(np.uint64(key), np.uint64(counter))
    assert int(word) == splitmix(key, counter)
    assert random.uniform(np.uint64(key), np.uint64(counter)) == (splitmix(key, counter) >> 11) / 2**53


def test_layers_have_equal_areas():
    edges, heights = random.EDGES, random.HEIGHTS
    areas = edges[1:256] * (heights[2:] - heights[1:-1])
    np.testing.assert_allclose(areas, random.AREA, rtol=1e-11)
    lowest = random.TAIL * math.exp(-random.TAIL) + math.exp(-random.TAIL)
    assert lowest == pytest.approx(random.AREA, rel=1e-12)
    assert edges[0] * heights[1] == pytest.approx(random.AREA, rel=1e-12)


def test_uniform_law(uniforms):
    assert uniforms.min() >= 0
    assert uniforms.max() < 1
    assert stats.kstest(uniforms, "uniform").pvalue > 1e-4
    assert abs(uniforms.mean() - 1 / 2) < Z * math.sqrt(1 / 12 / SIZE)
    assert abs((uniforms**2).mean() - 1 / 3) < Z * math.sqrt(4 / 45 / SIZE)


def test_exponential_law(exponentials):
    assert exponentials.min() >= 0
    assert stats.kstest(exponentials, "expon").pvalue > 1e-4


@pytest.mark.parametrize("power", [1, 2, 3])
def test_exponential_moments(exponentials, power):
    variance = math.factorial(2 * power) - math.factorial(power) ** 2
    assert abs((exponentials**power).mean() - math.factorial(power)) < Z * math.sqrt(variance / SIZE)


def test_exponential_shares_of_layers():
    # Both halves of each layer's range, so that a wedge or a tail filled wrongly shows.
    edges = np.sort(random.EDGES[1:])
    edges = np.sort(np.concatenate([edges, (edges[1:] + edges[:-1]) / 2, [8.5, 10.0, np.inf]]))
    counts, _ = np.histogram(_exponentials(np.uint64(77), 4_000_000), edges)
    expected = 4_000_000 * -np.diff(np.exp(-edges))
    assert expected.min() > 50
    assert stats.chisquare(counts, expected).pvalue > 1e-4


def test_tail_is_exponential():
    beyond = _exponentials(np.uint64(78), 8_000_000)
    beyond = beyond[beyond > random.TAIL] - random.TAIL
    assert beyond.size > 3000
    assert stats.kstest(beyond, "expon").pvalue > 1e-4


def test_same_key_and_counter_give_the_same_draw(exponentials):
    again = [random.exponential(KEY, np.uint64(i)) for i in (17, 3, 399_999, 3)]
    assert again == [exponentials[i] for i in (17, 3, 399_999, 3)]


def test_streams_are_uncorrelated():
    streams = [*_callers(KEY, SIZE)]
    streams += [_callers(np.uint64(kernels.roster_key(KEY, np.uint64(r))), SIZE)[0] for r in (0, 1)]
    streams += [_callers(np.uint64(int(KEY) + 1), SIZE)[0]]
    pairs = list(itertools.combinations(streams, 2))
    pairs += [(s[lag:], s[:-lag]) for s in streams for lag in (1, 2, 3)]
    pairs += [(streams[0][1:], streams[2][:-1]), (streams[1][1:], streams[0][:-1])]
    # Ranks as well as values: the logarithms of exponentials are far from linear in them.
    pairs += [(np.log(a + 1e-300), b) for a, b in pairs]
    limit = NormalDist().inv_cdf(1 - 1e-4 / 2 / len(pairs)) / math.sqrt(SIZE - 3)
    assert max(abs(np.corrcoef(a, b)[0, 1]) for a, b in pairs) < limit


def test_rosters_of_a_batch_and_neighbouring_batches_have_distinct_keys():
    keys = {
        int(kernels.roster_key(np.uint64(key), np.uint64(r)))
        for key in (5, 6, 2**64 - 1)
        for r in range(2000)
    }
    assert len(keys) == 6000
