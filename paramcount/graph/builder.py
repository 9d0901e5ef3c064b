"""Expanding items into the tree: what is `prev`, what has a name, what a layer is given, within limits."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

from paramcount.errors import Position, ShapeError, SpecError, quote
from paramcount.graph.foreign import checked_shape, is_foreign
from paramcount.graph.scope import Name, Scope, Standing
from paramcount.graph.sharing import owns_weights, tied_table, used_once
from paramcount.graph.tree import Body, Element, Group, Node, Value
from paramcount.layers.layer import Item, Layer, Shape
from paramcount.numbers.arithmetic import LIMIT

STEPS = 100_000  # iterations and items, whether or not they make a layer
LAYERS = 50_000  # after expansion; folded iterations count one by one
DEPTH = 48  # groups in groups
AXES = 32  # of a value


class OpenGroup:
    """A group while it is built: its elements so far, and the names that they have taken.

    `around` is the group of the loop that it is an iteration of, `called_by` the name that it then has there.
    """

    def __init__(self, around: OpenGroup | None = None, entry: Value | None = None) -> None:
        self.around = around
        self.entry = entry
        self.called_by = ""
        self.children: list[Element] = []
        self.ordinals: dict[str, int] = {}
        self.taken: set[str] = set()

    def named(self, kind: str, name: str | None) -> str:
        """The name of the next element: the one given, or by its kind; an iteration's only element has none, ""."""
        return self.called(kind) if name is None or (not name and self.children) else name

    def called(self, kind: str) -> str:
        """The name of the next element of a kind: the kind and its ordinal."""
        ordinal = self.ordinals.get(kind, 0)
        self.ordinals[kind] = ordinal + 1
        return self.free(f"{kind}_{ordinal}" if kind[-1].isdigit() else f"{kind}{ordinal}")

    def free(self, name: str) -> str:
        """A name that no other element has: the one wanted, or longer."""
        while name in self.taken:
            name += "_"
        self.taken.add(name)
        return name


class Builder:
    """The state of one expansion: the value that arrives (`prev`), the open group, and the scope of names."""

    def __init__(self, training: bool = False, fold: bool = True) -> None:
        self.training = training
        self.fold = fold
        self.scope = Scope()
        self.prev: Value | None = None
        self.results: tuple[Value | None, ...] = ()  # of the latest item, for `into`
        self.group = OpenGroup()
        self.around: list[OpenGroup] = []  # the open groups in which it stands
        self.trail: list[str] = []  # their names
        self.experts: tuple[Any, ...] = ()  # how many there are in each `moe` around
        self.frozen = False
        self.dormant = False  # inside an item of training while expanding for inference
        self.stored = False  # inside an item that is stored and never runs
        self.steps = 0
        self.layers = 0
        self.depth = 0
        self.warnings: dict[str, None] = {}  # each once
        self.unused: list[Value] = []  # the values of names that nothing uses, which warnings name

    # Items

    def run(self, items: Iterable[Item]) -> None:
        """Expand items one after the other."""
        if isinstance(items, (str, bytes)) or not isinstance(items, (list, tuple, Sequence, Iterator)):
            raise SpecError(f"{quote(items, repr)} is not a list of items", hint="put it into a list: `[...]`")
        standing = self.scope.root.standing
        for index, item in enumerate(items):
            place = Standing(item, items, index, tuple(self.trail), self.group.children)
            known = standing.setdefault(id(item), place)
            self.build(item)
            if known is not place and (known.items is not items or known.index != index):  # not a list run again
                self.stands_twice(known, place)

    def build(self, item: Any, name: str | None = None) -> None:
        """Expand one item; its element is called `name`, or by its kind and ordinal."""
        self.count_steps(1)
        if not isinstance(item, Item):
            if isinstance(item, type) and issubclass(item, Item):
                hint = f"write `{item.__name__}(...)`, with its arguments"
                raise SpecError(f"the class {quote(item.__name__)} is not an item", hint=hint)
            listed = isinstance(item, (list, tuple))
            hint = (
                "put several items into `Do([...])`" if listed else "use layers, blocks, and forms such as `Residual`"
            )
            raise SpecError(f"{quote(item, repr)} is not an item", hint=hint)
        item.place(self, name)

    def stands_twice(self, known: Standing, place: Standing) -> None:
        """Warn once of an object that stands at two places in lists, if it has weights of its own at both."""
        if not known.warned and any(map(owns_weights, place.children[place.start :])):
            known.warned = True
            root = self.scope.root.trail
            one, two = (quote(join_trail(each.path_below(root))) for each in (known, place))
            message = f"one object, of {quote(getattr(place.item, 'kind', 'item'))}, stands at {one} and at {two}"
            advice = "wrap it as `With(item, share=KEY)` to share them, or make an object for each place"
            self.warnings[f"{message}, and has weights of its own at each: {advice}"] = None

    def count_steps(self, steps: int) -> None:
        self.steps += steps
        if self.steps > STEPS:
            raise SpecError(f"more than {STEPS:,} expansion steps", hint="lower the repeats")

    def count_layers(self, layers: int) -> None:
        self.layers += layers
        if self.layers > LAYERS:
            raise SpecError(f"more than {LAYERS:,} layers after expansion", hint="lower the repeats")

    def layer(self, layer: Layer, name: str | None = None) -> None:
        """Expand a layer, followed by its norm and activation."""
        if layer.norm is None and layer.activation is None:
            self.leaf(layer, name)
            return
        self.open(layer.kind, name)
        self.leaf(layer)
        self.norm_and_activation(layer)
        self.close(layer.kind, Group("", layer.kind, made_by=self.group.children[0]))

    def norm_and_activation(self, layer: Layer) -> None:
        """Expand the norm and the activation of a layer, in the open group."""
        for what, after in (("norm", layer.norm), ("activation", layer.activation)):
            if isinstance(after, Item):
                self.build(after)
            elif after is not None:
                from paramcount.graph.words import argumentless

                self.build(argumentless(after, f"{what} of {quote(join_trail(self.trail))}"))

    def leaf(self, layer: Layer, name: str | None = None) -> None:
        """A layer on the value that arrives, and on those that its fields lead to."""
        inputs = (self.arrived(),) if layer.takes_prev else ()
        if layer.value_fields():
            layer, more = self.extra_inputs(layer)
            inputs += more
        self.merge(layer, inputs, name)

    def merge(self, layer: Layer, inputs: tuple[Value, ...], name: str | None = None) -> None:
        """A layer on given values."""
        shapes = tuple([value.shape for value in inputs])
        given = checked_shape(layer, shapes) if is_foreign(type(layer)) else layer.output_shape(*shapes)
        outputs = tuple(map(self.value, given)) if isinstance(given, tuple) else (self.value(given),)
        node = Node(self.group.named(layer.kind, name), layer, inputs, shapes, outputs)
        self.mark(node)
        tied = getattr(layer, "tied", None)
        if tied is not None:
            node.tie = tied_table(tied, self.scope.root.weights, node, self.experts)
            self.uses(tied)
        self.group.children.append(node)
        self.count_layers(1)
        self.prev, self.results = outputs[0], outputs

    def extra_inputs(self, layer: Layer) -> tuple[Layer, tuple[Value, ...]]:
        """The values of the layer's fields that take a path, in their order, and the layer that takes them.

        Fields without a path are skipped. Where a path leads to an input that is not given, that layer has None.
        """
        found: list[Value] = []
        missing: dict[str, Any] = {}
        for field, check in layer.value_fields():
            path = getattr(layer, field)
            if path is None and check.none:
                continue
            if path is None:
                raise SpecError(f"{quote(layer.kind)} needs a value for {quote(field)}", argument=field)
            if check.takes == "values":
                found += [self.path(each, field) for each in path]
            else:
                value = self.optional_path(path, field)
                if value is not None:
                    found.append(value)
                elif check.none:
                    missing[field] = None
                else:
                    raise SpecError(f"{quote(layer.kind)} needs a value for {quote(field)}", argument=field)
        return replace(layer, **missing) if missing else layer, tuple(found)

    # Values

    def value(self, shape: Shape) -> Value:
        """A new value; raises ShapeError beyond the sizes that expressions can have, so that figures stay printable."""
        beyond = [size for size in shape.sizes if type(size) is int and size > LIMIT]
        if beyond or len(shape.sizes) > AXES:
            hint = f"a value has at most {AXES} axes, each of at most 1e18"
            raise ShapeError("the result is too large", hint=hint)
        return Value(shape, self.dormant, self.stored)

    def mark(self, element: Element) -> None:
        """Mark an element with what holds for everything that is built now."""
        element.frozen, element.training_only, element.stored_only = self.frozen, self.dormant, self.stored

    def arrived(self) -> Value:
        """The value that arrives at an item; raises SpecError where there is none."""
        if self.prev is None:
            raise SpecError(
                "nothing is `prev` yet",
                hint="with several inputs, start with `from: NAME`",
            )
        return self.prev

    def path(self, path: Any, kind: str, name: str | None = None) -> Value:
        """The value that a path leads to: `prev`, a name, or a list of items that starts at `prev`.

        Such items become a group under the name, or called by the kind and its ordinal.
        """
        value = self.optional_path(path, kind, name)
        if value is None:
            raise SpecError(
                f"{quote(path)} is `none` here",
                hint="an input that is not given may only be handed on",
                position=getattr(path, "position", None),
            )
        return value

    def optional_path(self, path: Any, kind: str, name: str | None = None) -> Value | None:
        """The value that a path leads to, or None for an input of the block that is not given."""
        if isinstance(path, str):
            if path == "prev":
                return self.arrived()
            value = self.scope.find(path)
            if value is not None and value.stored_only and not self.stored:
                raise SpecError(
                    f"{quote(path)} is stored only, and never computed",
                    hint="take `only: stored` away to use it",
                    position=getattr(path, "position", None),
                )
            if value is not None and value.training_only and not self.dormant and not self.training:
                raise SpecError(
                    f"{quote(path)} only exists in training",
                    hint="use it in items that are `only: training` too, or list it under `outputs:`",
                    position=getattr(path, "position", None),
                )
            return value
        if path is None:
            hint = "`none` stands for an input of a block that is not given, and for no value"
            raise SpecError("`none` is not a value", hint=hint)
        before = self.prev
        self.open(kind, name)
        if isinstance(path, (list, tuple)):
            self.run(path)
        else:
            self.build(path)
        self.close("path")
        result, self.prev = self.arrived(), before
        return result

    # Groups

    def open(self, kind: str, name: str | None = None) -> None:
        """Start a group; what is built from now on becomes its children."""
        self.deeper()
        self.trail.append(self.group.named(kind, name))
        self.around.append(self.group)
        self.group = OpenGroup(entry=self.prev)

    def close(self, kind: str, group: Group | None = None) -> None:
        """End the open group and add it to its parent's children; without a `group` of its own, not an empty one."""
        children, entry = self.group.children, self.group.entry
        self.group = self.around.pop()
        name = self.trail.pop()
        self.depth -= 1
        if group is None:
            if not children:
                return
            group = Group(name, kind)
        group.name, group.children, group.entry, group.output = name, children, entry, self.prev
        self.mark(group)
        self.group.children.append(group)

    def deeper(self) -> None:
        self.depth += 1
        if self.depth > DEPTH:
            raise SpecError(
                f"more than {DEPTH} blocks, loops and groups inside each other", hint="does a block contain itself?"
            )

    @contextmanager
    def down(self, name: str) -> Iterator[None]:
        """Build one level further down, below a name."""
        self.deeper()
        self.trail.append(name)
        yield
        self.trail.pop()
        self.depth -= 1

    @contextmanager
    def aside(self, name: str) -> Iterator[tuple[list[Element], Scope]]:
        """Build below a name, into a list of elements and a scope of their own, which are yielded."""
        around = self.group
        self.group = OpenGroup(around)
        self.trail.append(name)
        outer = self.enter()
        yield self.group.children, self.scope
        self.leave(outer)
        self.trail.pop()
        self.group = around

    def call(self, name: str) -> None:
        """Call the iteration that is being built by a name of its own, beside the name of its loop."""
        assert self.group.around is not None
        self.group.called_by = self.group.around.free(name)
        self.trail[-2:] = ["", self.group.called_by]

    def enter(self, declared: dict[str, Position] | None = None, root: bool = False, closed: bool = False) -> Scope:
        """Start a scope of names; a root scope (a block's) does not see the names around it."""
        outer = self.scope
        self.scope = Scope(None if root else outer, len(self.trail), declared)
        self.scope.closed = closed
        return outer

    def leave(self, outer: Scope) -> None:
        """End the scope; raises SpecError for values left on its stacks, and warns of unused names."""
        scope, self.scope = self.scope, outer
        if scope.root is scope:
            for stack, values in scope.stacks.items():
                if values:
                    raise SpecError(
                        f"{len(values)} value{'s' * (len(values) > 1)} left on the stack {quote(stack)}",
                        hint="each `push` needs a `pop` in the same block or file",
                        position=getattr(stack, "position", None),
                    )
            for key, guess in used_once(scope.shared).items():
                remark = f"did you mean {quote(guess)}?" if guess else "it shares nothing"
                self.warnings[f"the key {quote(key)} of `share` is used once: {remark}"] = None
        else:
            scope.close()
        for name, position in scope.unused.items():
            where = f"{position}: " if position else ""
            self.warnings[f"{where}the name {quote(name)} is never used"] = None
            value = scope.names[name]
            self.unused += [] if value is None else [value]

    def uses(self, key: str) -> None:
        """Note a use of shared weights; one in a loop may be several. Reading a spec notes its own."""
        if not isinstance(key, Name):
            looped = any(name.startswith("[") for name in self.trail[self.scope.root.trail :])
            shared = self.scope.root.shared
            shared[key] = shared.get(key, 0) + 1 + looped

    @contextmanager
    def inside(self, body: Body) -> Iterator[None]:
        """Build into a body, which stands in the open group; what is named in it is not seen outside."""
        outer, around = self.enter(closed=True), self.group.children
        self.group.children = body.children
        yield
        self.group.children = around
        around.append(body)
        self.leave(outer)

    def enters(self, body: Body, outside: Value, shape: Shape) -> Value:
        """The value, of a given shape, that a value from outside becomes inside a body."""
        inside = self.value(shape)
        body.enters.append((outside, inside))
        return inside

    def here(self) -> str:
        """The path of the open group within its block or file."""
        return join_trail(self.trail[self.scope.root.trail :])


def join_trail(trail: list[str]) -> str:
    """Names on the way down as one path; a loop's iterations stand as `[i]` behind its name."""
    path = ""
    for name in trail:
        path += name if not path or name.startswith("[") or not name else f".{name}"
    return path
