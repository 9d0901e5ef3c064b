"""A structural form of one's own: it places a body and runs it, and all that counts or proves networks follows."""

from dataclasses import dataclass
from typing import Any

import jax
import numpy
import pytest
from jax import numpy as jnp

import paramcount as pc
from paramcount.graph.tree import Body, Carry, Group, leaves
from paramcount.layers.layer import Item, Shape

DENSE = 4 * 4 + 4


@dataclass(eq=False)
class Ensemble(Item):
    """Members of equal bodies with weights of their own, all on the same value; their results are stacked."""

    members: int
    body: list

    kind = "ensemble"

    def place(self, builder, name):
        source = builder.arrived()
        builder.open("ensemble", name)
        body = Body("", self, self.members, "members", copies=self.members, gathered=self.members)
        with builder.inside(body):
            builder.prev = builder.enters(body, source, source.shape)
            builder.experts += (self.members,)
            builder.run(self.body)
            builder.experts = builder.experts[:-1]
            body.result = builder.arrived()
        builder.prev = body.collected = builder.value(Shape.of(self.members, *body.result.shape.sizes))
        builder.results = (builder.prev,)
        builder.close("ensemble", Group("", "ensemble", made_by=body))

    def forward(self, body: Body, run: Any) -> None:
        ((source, inside),) = body.enters
        stacks = run.stacks(body)
        axis, context = run.context.inside("member")

        def member(index):
            params, buffers = jax.tree.map(lambda stack: stack[index], stacks)
            return run.once(body, {inside: run.values[source]}, context, params, buffers)[0]

        run.values[body.collected] = jax.vmap(member, axis_name=axis)(jnp.arange(self.members))


@dataclass(eq=False)
class Iterate(Item):
    """A body that is applied to its own result so many times; the results of all times are stacked."""

    times: int
    body: list

    kind = "iterate"

    def place(self, builder, name):
        source = builder.arrived()
        builder.open("iterate", name)
        body = Body("", self, self.times, "times", sequential=True)
        with builder.inside(body):
            start = builder.prev = builder.value(source.shape)
            builder.run(self.body)
            body.result = builder.arrived()
            body.carries.append(Carry(source, start, body.result))
        builder.prev = body.collected = builder.value(Shape.of(self.times, *source.shape.sizes))
        builder.results = (builder.prev,)
        builder.close("iterate", Group("", "iterate", made_by=body))

    def forward(self, body: Body, run: Any) -> None:
        ((start, inside, _),) = body.carries

        def once(value, index):
            result, _, after = run.once(body, {inside: value}, run.context.step(index))
            return after, result

        _, run.values[body.collected] = jax.lax.scan(once, run.values[start], jnp.arange(self.times))


def test_members_have_weights_of_their_own():
    report = pc.count([Ensemble(3, [pc.Dense(4), pc.Relu()])], 4, train=True)
    assert [row.path for row in report.rows] == ["ensemble0", "ensemble0.dense0", "ensemble0.relu0"]
    assert report.rows[0].setting == "×3 members"
    assert (report.params, report.active_params, report.macs) == (3 * DENSE, 3 * DENSE, 3 * 16)
    assert report.backward_macs == 3 * 16  # none into the data
    assert report.elementwise == 3 * (4 + 4)


def test_iterations_share_their_weights():
    report = pc.count([Iterate(5, [pc.Dense(4)])], 4, train=True)
    assert (report.params, report.macs) == (DENSE, 5 * 16)
    assert report.backward_macs == 2 * 5 * 16  # after the first time, the input is trained too


@pytest.mark.parametrize("form", [Ensemble, Iterate])
@pytest.mark.parametrize("around", [lambda item: item, lambda item: pc.Repeat(2, [item, pc.Flatten(), pc.Dense(4)])])
def test_they_are_proved_like_any_other(form, around):
    aside = pc.With(pc.Dense(4), only="training")  # leaves that inference leaves out
    network = pc.Network([pc.Dense(4), aside, around(form(3, [pc.Dense(4), pc.Relu()])), pc.Flatten()], input=4)
    assert pc.verify(network).ok and pc.verify(network, train=True).ok


def test_the_members_in_numpy():
    network = pc.Network([Ensemble(3, [pc.Dense(4)])], input=4)
    params, buffers = network.init(seed=1)
    weight, bias = (numpy.asarray(params["ensemble0.dense0"][name]) for name in ("weight", "bias"))
    x = numpy.arange(4.0, dtype=numpy.float32)
    expected = numpy.einsum("i,mij->mj", x, weight) + bias
    numpy.testing.assert_allclose(network.apply(params, x, buffers), expected, rtol=1e-5)


def test_memory_of_what_follows_each_other_and_of_what_does_not():
    """In training all results are kept; in inference the iterations hold one at a time, and the collected value."""
    network = pc.Network([Iterate(5, [pc.Dense(4)]), pc.Flatten(), pc.Dense(2)], input=4)
    # One result of 4, and all of them, 20.
    assert pc.memory_of(network).values == 4 * (4 + 20)
    assert pc.memory_of(network, train=True).values == 4 * 20
    # The weights of all three members are gathered before, and each makes 4.
    ensemble = pc.Network([Ensemble(3, [pc.Dense(4)]), pc.Flatten(), pc.Dense(2)], input=4)
    assert pc.memory_of(ensemble).values == 4 * (3 * DENSE + 3 * 4)


def test_its_weights_are_frozen_by_path_and_shared_with_none_outside():
    network = pc.Network([Ensemble(3, [pc.Dense(4)]), pc.Flatten()], input=4)
    assert pc.count(network, train=True, freeze=["ensemble0"]).trainable == 0
    (leaf, _) = leaves(network.graph())
    assert leaf.path == leaf.owner == "ensemble0.dense0" and [body.copies for body in leaf.bodies] == [3]
    with pytest.raises(pc.ParamcountError, match="3 experts"):
        pc.count([pc.With(pc.Dense(4), share="k"), Ensemble(3, [pc.With(pc.Dense(4), share="k")])], 4)
