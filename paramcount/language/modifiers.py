"""What can stand beside any kind: each modifier with what it takes, what it does, and a spec that uses it."""

from __future__ import annotations

from typing import NamedTuple


class Modifier(NamedTuple):
    """A modifier: how it is written, what it takes in words and what that means, what it does, and an example."""

    usage: str
    takes: str
    meaning: str
    about: str
    example: str


LOOP = """\
input: {image: [56, 56, 32]}
layers:
  - for: [width, stride]
    in: [[64, 2], [128, 1]]
    conv: {out: width, kernel: 3, stride: stride}
"""

MODIFIERS = {  # in the order in which language.md lists them
    "for": Modifier(
        "for: [x, y]",
        "a name, or a list of names",
        "the names of a row's values",
        """One iteration of the item for each row of `in`, whose values the names have.

        Each iteration has parameters of its own; `i` is its index, from 0.""",
        LOOP,
    ),
    "in": Modifier(
        "in: rows",
        "a list of rows, a list variable, or a count",
        "the rows, one for each iteration",
        """The rows of `for`: a list or a list variable, or the numbers below a count.

        A row is one value, or a list with one for each name of `for`.""",
        LOOP,
    ),
    "from": Modifier(
        "from: path",
        "a path: a name, prev, or a list of items",
        "the value to start at",
        """Start at another value than the one that arrives.

        Evaluated before `repeat` and `when`. Without a kind, it goes on from that value.""",
        """\
inputs:
  text: {features: 5}
  picture: {features: 3}
layers:
  - {from: text, dense: 2}
  - add: [prev, [from: picture, dense: 2]]
""",
    ),
    "repeat": Modifier(
        "repeat: n",
        "a whole number of at least 0",
        "how many iterations there are",
        """Iterations of the item, each on the result of the one before.

        Each iteration has parameters of its own, or with `share: true` all have the same; `i` is its index, from 0.""",
        """\
input: {features: 64}
layers:
  - {dense: {out: 64, activation: relu}, repeat: 12}
""",
    ),
    "when": Modifier(
        "when: condition",
        "true or false",
        "whether the item is there",
        """Skip the item where the condition is false; the value passes through unchanged.

        It may compare variables, and `cin` and `length`, the last and the first axis of the value that arrives.""",
        """\
input: {image: [28, 28, 64]}
layers:
  - {pointwise: 256, when: cin < 128}
  - {pointwise: 256, when: cin < 128}
""",
    ),
    "name": Modifier(
        "name: word",
        "a new name, which may have expressions in braces: c{i}",
        "the name of the result",
        """Give the result a name, by which later items find it.

        It is also the name of the item's row. Without a kind, the value that arrives is named.""",
        """\
input: {image: [32, 32, 8]}
layers:
  - {conv: [8, 3], name: before}
  - conv: [8, 3]
  - add: [prev, before]
""",
    ),
    "into": Modifier(
        "into: [a, b]",
        "a list of new names",
        "the names of the results",
        """Name the results of an item that has several, in their order.

        The next item gets the first of them. A name that starts with `_` may stay unused.""",
        """\
input: {sequence: [50, 64]}
layers:
  - {split: 2, into: [left, right]}
  - multiply: [left, right]
""",
    ),
    "share": Modifier(
        "share: key",
        "a name, or beside repeat true",
        "the name of the weights, or whether all iterations have the same",
        """Share weights: with all items of the same key, or with `true` between the iterations of `repeat`.

        Shared parameters count once, their work each time.""",
        """\
inputs:
  left: {features: 64}
  right: {features: 64}
layers:
  - let:
      a: [from: left, {dense: 32, share: twin}]
      b: [from: right, {dense: 32, share: twin}]
  - subtract: [a, b]
""",
    ),
    "push": Modifier(
        "push: stack",
        "a name",
        "the name of the stack",
        """Put the result on a stack, from which `pop` takes the last one.

        A stack must be empty at the end.""",
        """\
input: {image: [64, 64, 3]}
layers:
  - {conv: [16, 3], push: skips}
  - max_pool: 2
  - upsample: 2
  - add: [prev, [pop: skips]]
""",
    ),
    "only": Modifier(
        "only: training",
        "training or stored",
        "when the item is there",
        """The item exists in training only, or its tensors are stored and nothing runs.

        Its parameters count, and in inference its work does not.""",
        """\
input: {sequence: [16, 32]}
layers:
  - {dense: 32, only: training}
  - {parameter: [32], only: stored, name: mask_token}
  - dense: 8
""",
    ),
    "frozen": Modifier(
        "frozen: true",
        "true or false",
        "whether the parameters stay as they are in training",
        """The parameters are not trained.

        They count in `params`, and not in `trainable`.""",
        """\
input: {image: [32, 32, 3]}
layers:
  - {conv: [16, 3], frozen: true}
  - conv: [8, 3]
""",
    ),
}
