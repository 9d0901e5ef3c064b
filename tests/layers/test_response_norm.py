"""Normalizations without parameters, against NumPy."""

import numpy as np
import pytest

from paramcount.backend.run.context import Context
from paramcount.errors import ShapeError
from paramcount.layers.layer import Shape, Work
from paramcount.layers.response_norm import L2Norm, LocalResponseNorm

X = np.random.default_rng(2).standard_normal((3, 7)).astype(np.float32)


def test_by_hand():
    x = Shape.of(27, 27, 96)
    assert LocalResponseNorm().work(x) == Work(0, 629_856)  # (5 + 4) · 27² · 96
    assert L2Norm().work(x) == Work(0, 209_952)  # 3 · 27² · 96
    assert LocalResponseNorm().params(x) == L2Norm().params(x) == {}
    assert LocalResponseNorm().output_shape(x) == L2Norm().output_shape(x) == x


@pytest.mark.parametrize("size, before", [(5, 2), (4, 2), (1, 0)])
def test_local_response_norm(size, before):
    padded = np.pad(X**2, [(0, 0), (before, size - 1 - before)])
    mean = np.stack([padded[:, c : c + size].sum(-1) / size for c in range(7)], -1)
    y = LocalResponseNorm(size, alpha=0.3, beta=0.5, offset=2.0).forward({}, X, context=Context())
    np.testing.assert_allclose(y, X / np.sqrt(2 + 0.3 * mean), rtol=1e-5)


def test_l2_norm():
    y = L2Norm().forward({}, X, context=Context())
    np.testing.assert_allclose(y, X / np.linalg.norm(X, axis=-1, keepdims=True), rtol=1e-5)
    zero = L2Norm().forward({}, np.zeros(4, np.float32), context=Context())
    assert np.asarray(zero).tolist() == [0, 0, 0, 0]


@pytest.mark.parametrize("layer", [LocalResponseNorm(), L2Norm()])
def test_tokens_are_refused(layer):
    with pytest.raises(ShapeError, match="tokens 8"):
        layer.output_shape(Shape((8,), "tokens"))
