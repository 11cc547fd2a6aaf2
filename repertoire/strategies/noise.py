"""`Noise`: standard normal numbers that are a pure function of a key and a counter.

The generator is Philox4x32-10 (J. Salmon et al., "Parallel random numbers: as easy as 1, 2, 3", SC 2011),
followed by the transform of G. Box and M. Muller (1958). Any part of any draw can be made at any time, and
all that a checkpoint must hold is the key and the number of draws.
"""

from collections.abc import Mapping

import numpy as np

from robots.compilation import compiled
from robots.errors import InvalidValueError

_CHUNK = 512  # counters a pass; the scratch arrays of a pass stay in the first cache
_ROUNDS = 10
_MULTIPLIERS = np.uint64(0xD2511F53), np.uint64(0xCD9E8D57)
_WEYL = np.uint64(0x9E3779B9), np.uint64(0xBB67AE85)
_LOW = np.uint64(0xFFFFFFFF)
_HALF = np.uint64(32)


class Noise:
    """Draws of float32 standard normals, each of any number of independent streams, by a key from `rng`.

    Numbers have 24 significant bits and at most 5.9 as their absolute value. The generator must be driven by
    `numpy.random.SFC64`, whose state a checkpoint can hold.
    """

    def __init__(self, rng: np.random.Generator) -> None:
        if not isinstance(rng.bit_generator, np.random.SFC64):
            raise InvalidValueError(f"rng must be driven by SFC64, got {type(rng.bit_generator).__name__}")
        self._key = rng.integers(0, 2**64, dtype=np.uint64)
        self._draws = 0

    def next_draw(self) -> int:
        """Number the next draw."""
        self._draws += 1
        return self._draws

    def fill(self, out: np.ndarray, *, draw: int, stream: int = 0) -> None:
        """Write a stream, below 2^32, of a draw that `next_draw` numbered to a contiguous float32 array."""
        _fill(self._key, draw, stream, out.reshape(-1))

    def draw(self, out: np.ndarray, *, split: int, stream: int) -> None:
        """Write the next draw: rows (n, ...) before the split from stream 0, the others from another."""
        draw = self.next_draw()
        self.fill(out[:split], draw=draw, stream=0)
        self.fill(out[split:], draw=draw, stream=stream)

    def state(self) -> dict[str, np.ndarray]:
        """What a checkpoint must hold."""
        return {"key": np.array(self._key), "draws": np.array(self._draws)}

    def restore(self, state: Mapping[str, np.ndarray]) -> None:
        """Take back what `state` returned."""
        self._key, self._draws = np.uint64(state["key"]), int(state["draws"])


def generator_state(rng: np.random.Generator) -> np.ndarray:
    """Return SFC64's four words, then the half word that it keeps for 32-bit draws, as (6,) uint64."""
    state = rng.bit_generator.state
    return np.array([*state["state"]["state"], state["has_uint32"], state["uinteger"]], np.uint64)


def restore_generator(rng: np.random.Generator, words: np.ndarray) -> None:
    """Take back what `generator_state` returned."""
    rng.bit_generator.state = {
        "bit_generator": "SFC64",
        "state": {"state": words[:4]},
        "has_uint32": int(words[4]),
        "uinteger": int(words[5]),
    }


@compiled()
def _fill(key: np.uint64, draw: int, stream: int, out: np.ndarray) -> None:
    words = np.empty((4, _CHUNK), np.uint32)
    normals = np.empty((4, _CHUNK), np.float32)
    uniforms, radii = np.empty(_CHUNK, np.float32), np.empty(_CHUNK, np.float32)
    bits = uniforms.view(np.int32)
    start = 0
    while start < out.size:
        count = min(_CHUNK, (out.size - start + 3) // 4)
        _philox(key, start // 4, stream, draw, words[0], words[1], words[2], words[3], count)
        for pair in range(0, 4, 2):
            _radius(words[pair], uniforms, bits, radii, count)
            _turn(words[pair + 1], radii, normals[pair], normals[pair + 1], count)
        for word in range(4):
            _copy(normals[word], out, start + word * count, count)
        start += 4 * count


@compiled()
def _copy(source: np.ndarray, target: np.ndarray, start: int, count: int) -> None:
    for i in range(min(count, target.size - start)):
        target[start + i] = source[i]


@compiled()
def _philox(
    key: np.uint64,
    position: int,
    stream: int,
    draw: int,
    w0: np.ndarray,
    w1: np.ndarray,
    w2: np.ndarray,
    w3: np.ndarray,
    count: int,
) -> None:
    """Write the four words of `count` consecutive counters (position, stream, draw low, draw high)."""
    for i in range(count):
        # 32-bit words in 64-bit integers, which hold a whole product
        x0, x1 = np.uint64(position + i), np.uint64(stream)
        x2, x3 = np.uint64(draw) & _LOW, np.uint64(draw) >> _HALF
        k0, k1 = key & _LOW, key >> _HALF
        for _ in range(_ROUNDS):
            p, q = x0 * _MULTIPLIERS[0], x2 * _MULTIPLIERS[1]
            x0, x1 = (q >> _HALF) ^ x1 ^ k0, q & _LOW
            x2, x3 = (p >> _HALF) ^ x3 ^ k1, p & _LOW
            k0, k1 = (k0 + _WEYL[0]) & _LOW, (k1 + _WEYL[1]) & _LOW
        w0[i], w1[i], w2[i], w3[i] = np.uint32(x0), np.uint32(x1), np.uint32(x2), np.uint32(x3)


@compiled(fastmath={"contract"})
def _radius(words: np.ndarray, uniforms: np.ndarray, bits: np.ndarray, radii: np.ndarray, count: int) -> None:
    """Write √(-2 ln u) for u uniform in (0, 1); `bits` is a view of `uniforms` as int32."""
    f = np.float32
    for i in range(count):
        uniforms[i] = (f(np.int32(words[i] >> np.uint32(8))) + f(0.5)) * f(2.0**-24)
    for i in range(count):
        # u = 2^e m with m from √½ to √2, both taken from the bits of the number
        exponent = np.int32((bits[i] - np.int32(0x3F3504F3)) >> np.int32(23))
        bits[i] = np.int32(bits[i] - np.int32(exponent << np.int32(23)))
        radii[i] = f(exponent)
    for i in range(count):
        # ln(1 + x) = x - x²/2 + x³ p(x), minimax on m (Cephes' single-precision logarithm), error below 1e-7
        x = uniforms[i] - f(1)
        square = x * x
        p = f(7.0376836292e-2) * x - f(1.1514610310e-1)
        p = p * x + f(1.1676998740e-1)
        p = p * x - f(1.2420140846e-1)
        p = p * x + f(1.4249322787e-1)
        p = p * x - f(1.6668057665e-1)
        p = p * x + f(2.0000714765e-1)
        p = p * x - f(2.4999993993e-1)
        p = p * x + f(3.3333331174e-1)
        log = x * square * p - f(0.5) * square + x + radii[i] * f(0.6931471805599453)
        radii[i] = np.sqrt(abs(f(-2) * log))


@compiled(fastmath={"contract"})
def _turn(words: np.ndarray, radii: np.ndarray, cosines: np.ndarray, sines: np.ndarray, count: int) -> None:
    """Write r cos φ and r sin φ, φ uniform on the circle: two bits choose a quadrant, 23 an angle in it."""
    f = np.float32
    for i in range(count):
        word = words[i]
        step = f(np.int32((word >> np.uint32(7)) & np.uint32(0x7FFFFF))) + f(0.5) - f(2.0**22)
        x = step * f(np.pi / 2 / 2**23)  # in (-π/4, π/4)
        square = x * x
        # minimax polynomials on that range (Cephes' single-precision sine and cosine), error below 1e-7
        s = f(-1.9515295891e-4) * square + f(8.3321608736e-3)
        s = (s * square - f(1.6666654611e-1)) * square * x + x
        c = f(2.443315711809948e-5) * square - f(1.388731625493765e-3)
        c = (c * square + f(4.166664568298827e-2)) * square * square - f(0.5) * square + f(1)
        odd = (word & np.uint32(0x40000000)) != np.uint32(0)
        signed = radii[i] if word < np.uint32(0x80000000) else -radii[i]
        cosines[i] = (s if odd else c) * signed
        sines[i] = (c if odd else s) * signed
