"""Random numbers from an explicit state: SplitMix64 (Steele, Lea and Flood, 2014).

A state is an array of one uint64. A stream is identified by a seed and a name (of a chain or a
document, for example), so draws do not depend on the thread or on earlier draws.
"""

from __future__ import annotations

import numpy as np

from manylabel.kernels.compile import step

_STEP = np.uint64(0x9E3779B97F4A7C15)
_FIRST = np.uint64(0xBF58476D1CE4E5B9)
_SECOND = np.uint64(0x94D049BB133111EB)
_UNIT = 2.0**-53


@step
def mix(value):
    """Scramble 64 bits."""
    value = (value ^ (value >> np.uint64(30))) * _FIRST
    value = (value ^ (value >> np.uint64(27))) * _SECOND
    return value ^ (value >> np.uint64(31))


@step
def start_stream(state, seed, name):
    """Set the state to the beginning of the stream ``name`` (uint64) of ``seed`` (uint64)."""
    state[0] = mix(mix(seed + _STEP) ^ mix(name + _SECOND))


@step
def uniform(state):
    """The next number in [0, 1)."""
    state[0] += _STEP
    return (mix(state[0]) >> np.uint64(11)) * _UNIT


@step
def document_name(words, values, start, stop):
    """A stream name from a document's content, so that its position in a batch has no effect."""
    name = np.uint64(stop - start)
    for entry in range(start, stop):
        name = mix(name ^ np.uint64(words[entry])) + _STEP
        name = mix(name ^ np.uint64(np.int64(values[entry] * 1048576.0)))
    return name
