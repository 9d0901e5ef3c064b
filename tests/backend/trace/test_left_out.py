"""What a trace leaves out is named, wherever it stands: in branches that do not count, in loops inside loops."""

import random

import pytest

jax = pytest.importorskip("jax")

from jax import ShapeDtypeStruct, lax  # noqa: E402
from jax import numpy as jnp  # noqa: E402

from paramcount.backend.trace.trace import trace  # noqa: E402

scope = jax.named_scope


def shape(*sizes, dtype=jnp.float32):
    return ShapeDtypeStruct(sizes, dtype)


X, FLAG, NUMBER = shape(8, 8), shape(dtype=jnp.bool_), shape(dtype=jnp.int32)
PRODUCT = 8**3
MISSING = "ffi_call: no rule says what `ffi_call` of `foo` costs"
UNKNOWN = f"while: unknown trips of {PRODUCT} MACs each"


def squares(x):
    return lax.while_loop(lambda x: x.sum() < 9, lambda x: x @ x, x)


def foreign(x):
    return jax.ffi.ffi_call("foo", x)(x)


def notes(report):
    return "; ".join(row.note for row in report.rows)


def test_a_loop_of_unknown_length_in_a_branch():
    report = trace(lambda p, x: lax.cond(p, squares, lambda x: x + 1, x), FLAG, X, trips="unknown")
    assert (report.macs, report.uncounted) == (0, (UNKNOWN,))
    assert "largest of 2 branches: 0, 0 MACs, as far as they are counted" in notes(report)
    assert "NOT counted: 1 operation" in str(report)


def test_a_foreign_call_in_a_branch_that_does_not_count():
    report = trace(lambda p, x: lax.cond(p, foreign, lambda x: x @ x, x), FLAG, X, strict=False)
    assert (report.macs, report.uncounted) == (PRODUCT, (MISSING,))
    assert f"largest of 2 branches: {PRODUCT}, 0 MACs, as far as they are counted" in notes(report)


def test_every_branch_of_a_switch():
    branches = [foreign, squares, lambda x: x @ x]
    report = trace(lambda i, x: lax.switch(i, branches, x), NUMBER, X, trips="unknown", strict=False)
    assert (report.macs, report.uncounted) == (PRODUCT, (MISSING, UNKNOWN))


def test_a_branch_in_a_scan():
    def steps(p, x):
        return lax.scan(lambda x, _: (lax.cond(p, foreign, lambda x: x @ x, x), None), x, None, length=3)[0]

    report = trace(steps, FLAG, X, strict=False)
    assert (report.macs, report.uncounted) == (3 * PRODUCT, (MISSING,))


def test_platforms():
    report = trace(lambda x: lax.platform_dependent(x, cpu=foreign, default=lambda x: x @ x), X, strict=False)
    assert (report.macs, report.uncounted) == (PRODUCT, (MISSING,))


def test_the_notes_of_a_branch_that_does_not_count():
    def doubled(x):
        return lax.while_loop(lambda x: x.sum() < 9, lambda x: 2 * x, x)

    report = trace(lambda p, x: lax.cond(p, doubled, lambda x: x @ x, x), FLAG, X)
    assert "elementwise operations of a `while` are not counted" in notes(report)
    assert f"largest of 2 branches: {PRODUCT}, 0 MACs" in notes(report) and "as far as" not in notes(report)


@pytest.mark.parametrize(
    "body, outer, inner",
    [
        (squares, "of what is not counted within", (UNKNOWN,)),
        (lambda x: squares(x) @ x, f"of {PRODUCT} MACs each and of what is not counted within", (UNKNOWN,)),
        (lambda x: foreign(x) @ x, f"of {PRODUCT} MACs each and of what is not counted within", (MISSING,)),
        (foreign, "of what is not counted within", (MISSING,)),
    ],
)
def test_loops_of_unknown_length_around_what_is_not_counted(body, outer, inner):
    report = trace(lambda x: lax.while_loop(lambda x: x.sum() < 9, body, x), X, trips="unknown", strict=False)
    assert (report.macs, report.uncounted) == (0, (f"while: unknown trips {outer}", *inner))


def test_a_loop_whose_length_nobody_gives():
    def until(x):
        return lax.while_loop(lambda x: x.sum() < 9, lambda x: foreign(x @ x), x)

    report = trace(until, X, strict=False)
    assert report.uncounted == ("while: nothing says how many times `while` runs its dot_general", MISSING)


# Random programs, against a recursive evaluator of the same tree


SIDE = 3
KINDS = ("product", "foreign", "sine", "switch", "platform", "scan", "unknown", "known", "jit", "remat")


class Program:
    """A random nest of steps: as a JAX function, and by recursion its MACs and the names of what is left out."""

    def __init__(self, draw, depth=0, names=None):
        self.names = names if names is not None else {}  # of the loops, with their trips
        self.steps = [self.step(draw, depth) for _ in range(draw.randint(1, 3))]

    def step(self, draw, depth):
        kind = draw.choice(KINDS if depth < 3 else KINDS[:3])
        bodies = {"switch": 3, "platform": 2, "product": 0, "foreign": 0, "sine": 0}.get(kind, 1)
        inner = [Program(draw, depth + 1, self.names) for _ in range(bodies)]
        number = draw.randint(0, 3)
        name = f"{kind}{'_' * 9 * depth}{len(self.names)}"  # inside longer than around: the longest name counts
        self.names[name] = {"unknown": "unknown", "known": number}.get(kind)
        return kind, name, number, inner

    @property
    def trips(self):
        return {name: trips for name, trips in self.names.items() if trips is not None}

    def run(self, x):
        for kind, name, number, inner in self.steps:
            x = getattr(self, kind)(x, name, number, *inner)
        return x

    def product(self, x, name, number):
        return x @ x

    def foreign(self, x, name, number):
        return jax.ffi.ffi_call(name, x)(x)

    def sine(self, x, name, number):
        return jnp.sin(x)

    def switch(self, x, name, number, *inner):
        return lax.switch(x[0, 0].astype(int), [each.run for each in inner], x)

    def platform(self, x, name, number, some, others):
        return lax.platform_dependent(x, cpu=some.run, default=others.run)

    def scan(self, x, name, number, inner):
        return lax.scan(lambda x, _: (inner.run(x), None), x, None, length=number)[0]

    def loop(self, x, name, number, inner):
        with scope(name):
            test = (lambda x: (x @ x).sum() < 9) if number % 2 else (lambda x: x.sum() < 9)
            return lax.while_loop(test, inner.run, x)

    unknown = known = loop

    def jit(self, x, name, number, inner):
        return jax.jit(inner.run)(x)

    def remat(self, x, name, number, inner):
        return jax.checkpoint(inner.run)(x)

    def expected(self):
        macs, left_out = 0, []
        for kind, name, number, inner in self.steps:
            found = [each.expected() for each in inner]
            most = max((each for each, _ in found), default=0)
            below = [each for _, names in found for each in names]
            test = SIDE**3 * (number % 2)
            if kind == "product":
                macs += SIDE**3
            elif kind == "foreign":
                left_out.append(name)
            elif kind == "scan":
                macs += number * most
            elif kind == "known":
                macs += number * most + (number + 1) * test
            elif kind == "unknown":
                left_out += [name] if most or test or below else []
            elif kind != "sine":
                macs += most
            left_out += below
        return macs, left_out


def name_of(line):
    """The loop's scope, or the call's target."""
    return line.split("/while:")[0].split("/")[-1] if "while:" in line else line.split("`")[3]


def compare(seed):
    program = Program(random.Random(seed))
    report = trace(program.run, shape(SIDE, SIDE), trips=program.trips, strict=False)
    macs, left_out = program.expected()
    assert (report.macs, sorted(map(name_of, report.uncounted))) == (macs, sorted(left_out)), seed


@pytest.mark.parametrize("seed", range(0, 200, 20))
def test_random_nests(seed):
    for each in range(seed, seed + 20):
        compare(each)
