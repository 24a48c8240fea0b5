"""Random numbers by counter: draw `counter` of stream `key`, whatever was or was not drawn before it.

The bits are the finaliser of splitmix64 (Steele, Lea and Flood 2014) applied to key + counter * odd constant;
the exponential variates come from a ziggurat of 256 layers (Marsaglia and Tsang 2000). All integers are
uint64: mixed with a signed one they would become floats.
"""

import math

import numpy as np
from numba import njit
from numpy.typing import NDArray

_ODD = np.uint64(0x9E3779B97F4A7C15)
_AGAIN = np.uint64(0xD1342543DE82EF95)
_MULTIPLY_1 = np.uint64(0xBF58476D1CE4E5B9)
_MULTIPLY_2 = np.uint64(0x94D049BB133111EB)
_27, _30, _31, _11 = np.uint64(27), np.uint64(30), np.uint64(31), np.uint64(11)
_LAYER = np.uint64(255)
_UNIT = 2.0**-53

TAIL = 7.69711747013104972
"""Where the ziggurat's lowest layer ends and the tail begins."""
AREA = 0.0039496598225815571993
"""Area of each layer, the tail included in the lowest."""


def _edges() -> NDArray[np.float64]:
    edges = np.empty(257)
    edges[0] = AREA * math.exp(TAIL)
    edges[1] = TAIL
    for i in range(1, 255):
        edges[i + 1] = -math.log(math.exp(-edges[i]) + AREA / edges[i])
    edges[256] = 0.0
    return edges


EDGES = _edges()
"""Right ends of the layers from the lowest up, then 0."""
HEIGHTS = np.exp(-EDGES)


@njit(cache=True, nogil=True)
def mix(z: np.uint64) -> np.uint64:
    """A bijection of 64 bits in which every output bit depends on every input bit."""
    z = (z ^ (z >> _30)) * _MULTIPLY_1
    z = (z ^ (z >> _27)) * _MULTIPLY_2
    return z ^ (z >> _31)


@njit(cache=True, nogil=True)
def bits(key: np.uint64, counter: np.uint64) -> np.uint64:
    """64 random bits."""
    return mix(key + counter * _ODD)


@njit(cache=True, nogil=True)
def _unit(word: np.uint64) -> float:
    return np.float64(np.int64(word >> _11)) * _UNIT


@njit(cache=True, nogil=True)
def uniform(key: np.uint64, counter: np.uint64) -> float:
    """A number in [0, 1)."""
    return _unit(bits(key, counter))


@njit(cache=True, nogil=True)
def _outside(word: np.uint64, layer: np.int64, x: float) -> float:
    while True:
        word = mix(word + _AGAIN)
        if layer == 0:
            return TAIL - math.log(1.0 - _unit(word))
        if HEIGHTS[layer] + _unit(word) * (HEIGHTS[layer + 1] - HEIGHTS[layer]) < math.exp(-x):
            return x
        word = mix(word + _AGAIN)
        layer = np.int64(word & _LAYER)
        x = _unit(word) * EDGES[layer]
        if x < EDGES[layer + 1]:
            return x


@njit(cache=True, nogil=True)
def exponential(key: np.uint64, counter: np.uint64) -> float:
    """An exponential variate of mean 1."""
    word = bits(key, counter)
    layer = np.int64(word & _LAYER)
    x: float = _unit(word) * EDGES[layer]
    if x < EDGES[layer + 1]:
        return x
    return _outside(word, layer, x)
