"""Elementary functions made of polynomials, which unlike libm's vectorise in a compiled loop."""

import math

import numpy as np
from numba import njit

# 2π as a number of 33 bits, whose multiples up to the 2^20th are exact in float64, and the rest of it
_TURN = 6.2831853069365025
_TURN_REST = 2.430840202602477e-10
_PER_TURN = 1 / (2 * math.pi)
# cos(x) = C(x²) and sin(x) = x S(x²) for |x| <= π: Chebyshev series of degree 9 in x², within 7e-15
_C = (
    0.9999999999999939,
    -0.4999999999998753,
    0.04166666666624928,
    -0.0013888888883466389,
    2.4801586943668857e-05,
    -2.7557305644703407e-07,
    2.0876442980417245e-09,
    -1.1466242268369748e-11,
    4.740285736550244e-14,
    -1.3711196592553364e-16,
)
_S = (
    0.9999999999999997,
    -0.16666666666666066,
    0.008333333333313266,
    -0.0001984126983866317,
    2.7557319051963644e-06,
    -2.5052101860717106e-08,
    1.6058893015086541e-10,
    -7.645001931760305e-13,
    2.7926609809208532e-15,
    -7.307237125600596e-18,
)
# exp(-x) = E(x) for 0 <= x <= 5/4: Chebyshev series of degree 11, within 2e-15
_E = (
    0.999999999999998,
    -0.999999999999537,
    0.49999999998225436,
    -0.16666666640005068,
    0.04166666459453052,
    -0.008333323814186454,
    0.0013888610937793572,
    -0.00019835905663874822,
    2.4732074753285555e-05,
    -2.6955459328753455e-06,
    2.417614366562732e-07,
    -1.3518964354347249e-08,
)


@njit(nogil=True, cache=True, fastmath={"contract"})
def cosine_sine(angle: float) -> tuple[float, float]:
    """Cosine and sine of an angle [rad], within 1e-14 up to 6 million rad either way."""
    turns = np.rint(angle * _PER_TURN)
    x = (angle - turns * _TURN) - turns * _TURN_REST
    cosine, ratio = cosine_ratio(x * x)
    return cosine, x * ratio


@njit(nogil=True, cache=True, fastmath={"contract"})
def cosine_ratio(t: float) -> tuple[float, float]:
    """cos(x) and sin(x)/x from t = x² <= π², within 1e-14."""
    c = _C[5] + t * (_C[6] + t * (_C[7] + t * (_C[8] + t * _C[9])))
    s = _S[5] + t * (_S[6] + t * (_S[7] + t * (_S[8] + t * _S[9])))
    cosine = _C[0] + t * (_C[1] + t * (_C[2] + t * (_C[3] + t * (_C[4] + t * c))))
    ratio = _S[0] + t * (_S[1] + t * (_S[2] + t * (_S[3] + t * (_S[4] + t * s))))
    return cosine, ratio


@njit(nogil=True, cache=True, fastmath={"contract"}, error_model="numpy")
def tanh(x: float) -> float:
    """The hyperbolic tangent, within 4e-14; NumPy's error model spares the division a check."""
    t = min(abs(x), 20.0) / 16  # beyond 20 the tangent rounds to 1
    e = _E[6] + t * (_E[7] + t * (_E[8] + t * (_E[9] + t * (_E[10] + t * _E[11]))))
    e = _E[0] + t * (_E[1] + t * (_E[2] + t * (_E[3] + t * (_E[4] + t * (_E[5] + t * e)))))
    e *= e  # exp(-|x|/8)
    e *= e
    e *= e
    e *= e
    e *= e  # exp(-2|x|)
    y = (1 - e) / (1 + e)
    return y if x >= 0 else -y
