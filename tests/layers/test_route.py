import numpy
import pytest

from paramcount.errors import ArgumentError, ShapeError
from paramcount.layers.layer import Shape, Work
from paramcount.layers.route import Router


def test_figures_of_mixtral():
    router = Router(experts=8, top_k=2)
    tokens = Shape.of(128, 4096)
    assert router.params(tokens)["weight"].shape == (4096, 8)  # 32,768 weights
    assert router.work(tokens) == Work(4194304, 5632)  # 128 · 4096 · 8; 5 · 128 · 8 + 2 · 128 · 2
    assert router.output_shape(tokens) == (Shape.of(128, 2), Shape((128, 2), "tokens"))
    assert router.output_shape(Shape.of(4096)) == (Shape.of(2), Shape((2,), "tokens"))
    assert router.setting() == "2 of 8"


def test_a_correction_is_a_buffer():
    router = Router(experts=8, top_k=2, router="sigmoid", correction=True)
    correction = router.params(Shape.of(5, 6))["correction"]
    assert (correction.shape, correction.role) == ((8,), "buffer")
    assert router.work(Shape.of(5, 6)) == Work(240, 100)  # 5 · 6 · 8; (1 + 1) · 5 · 8 + 2 · 5 · 2


def test_errors_name_both_numbers():
    def shape(**settings):
        return Router(**settings).output_shape(Shape.of(5, 6))

    with pytest.raises(ArgumentError, match="top_k 9 of 8 experts"):
        shape(experts=8, top_k=9)
    with pytest.raises(ArgumentError, match="8 experts do not divide into 3 groups"):
        shape(experts=8, top_k=2, groups=3)
    with pytest.raises(ArgumentError, match="top_groups 5 of 4 groups"):
        shape(experts=8, top_k=2, groups=4, top_groups=5)
    with pytest.raises(ArgumentError, match="top_k 3, but the chosen groups have 2 experts"):
        shape(experts=8, top_k=3, groups=4, top_groups=1)
    with pytest.raises(ArgumentError, match="unknown router `argmax`"):
        shape(experts=8, top_k=2, router="argmax")
    with pytest.raises(ShapeError, match="`moe` needs a sequence or features, and got image 4×4×6"):
        Router(experts=8, top_k=2).output_shape(Shape.of(4, 4, 6))


def test_the_weights_of_the_chosen_sum_to_one():
    scores = numpy.log(numpy.array([[0.1, 0.2, 0.3, 0.4]], "float32"))
    weights, chosen = Router(experts=4, top_k=2).forward({"weight": numpy.eye(4)}, scores, context=None)
    assert chosen.tolist() == [[3, 2]]
    numpy.testing.assert_allclose(weights, [[0.4 / 0.7, 0.3 / 0.7]], rtol=1e-5)


def test_weights_as_they_are():
    scores = numpy.log(numpy.array([[0.1, 0.2, 0.3, 0.4]], "float32"))
    router = Router(experts=4, top_k=2, normalize=False)
    weights, _ = router.forward({"weight": numpy.eye(4)}, scores, context=None)
    numpy.testing.assert_allclose(weights, [[0.4, 0.3]], rtol=1e-5)
    assert router.work(Shape.of(1, 4)) == Work(16, 20)  # 4 · 4; 5 · 4


def test_without_a_correction_a_group_is_as_good_as_its_best_expert():
    # Groups of two: best 0.4, 0.25, 0.13; sums 0.41, 0.45, 0.14. The best two groups hold experts 0 to 3.
    shares = numpy.array([0.4, 0.01, 0.25, 0.2, 0.13, 0.01], "float32")
    router = Router(experts=6, top_k=3, groups=3, top_groups=2)
    _, chosen = router.forward({"weight": numpy.eye(6)}, numpy.log(shares), context=None)
    assert chosen.tolist() == [0, 2, 3]
    _, chosen = Router(6, 2, groups=3, top_groups=1).forward({"weight": numpy.eye(6)}, numpy.log(shares), context=None)
    assert chosen.tolist() == [0, 1]  # by sums it would be 2 and 3


def test_groups_and_correction_choose_but_do_not_weigh():
    # Groups of two: sums 1.0, 0.9, 0.8, 0.1; the best two groups hold experts 0 to 3.
    logits = numpy.array([0.9, 0.1, 0.45, 0.45, 0.8, 0.0, 0.05, 0.05], "float32")
    scores = numpy.log(logits / (1 - logits) + 1e-9)  # sigmoid gives the figures back
    settings = {"experts": 8, "top_k": 2, "router": "sigmoid", "groups": 4, "top_groups": 2, "correction": True}
    params = {"weight": numpy.eye(8), "correction": numpy.zeros(8)}
    weights, chosen = Router(**settings).forward(params, scores, context=None)
    assert chosen.tolist() == [0, 2]  # without groups it would be 0 and 4
    numpy.testing.assert_allclose(weights, [0.9 / 1.35, 0.45 / 1.35], rtol=1e-4)
    params["correction"] = numpy.array([0, 0, 0, 0, 0.2, 0.2, 0, 0], "float32")
    weights, chosen = Router(**settings).forward(params, scores, context=None)
    assert chosen.tolist() == [4, 0]
    numpy.testing.assert_allclose(weights, [0.8 / 1.7, 0.9 / 1.7], rtol=1e-4)
