"""What runs the programs inside a primitive, and how often: loops, branches, calls, kernels, solvers."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from math import prod
from typing import TYPE_CHECKING, Any

from jax import ShapeDtypeStruct, make_jaxpr
from jax.interpreters.partial_eval import dce_jaxpr

from paramcount.backend.trace.primitives import APPLYING
from paramcount.errors import quote

if TYPE_CHECKING:
    from paramcount.backend.trace.walker import Operation, Place, Walker

UNKNOWN = "unknown"  # the `trips` of a loop that a caller says nobody knows


def opened(jaxpr: Any) -> Any:
    """The bare jaxpr: some primitives hold a closed one, with its constants, and some do not."""
    return getattr(jaxpr, "jaxpr", jaxpr)


def alive(closed_jaxpr: Any) -> tuple[Any, list[bool]]:
    """The program without its dead code, and which inputs it still reads."""
    return dce_jaxpr(closed_jaxpr.jaxpr, [True] * len(closed_jaxpr.jaxpr.outvars))


def scan(walker: Walker, eqn: Any, place: Place) -> None:
    inner = place.inside(eqn).repeated(eqn.params["length"])
    constants = eqn.params["num_consts"]
    carry = slice(constants, constants + eqn.params["num_carry"])
    walker.program(opened(eqn.params["jaxpr"]), inner, eqn.invars, eqn.outvars, carry)


def largest_branch(walker: Walker, eqn: Any, place: Place) -> None:
    """The branch with the most MACs counts, and of those the one with the most elementwise operations.

    What is not counted in the others, and what is noted there, stays in the report.
    """

    def found(branch: Any) -> list[Operation]:
        inner = place.inside(eqn)
        return walker.collected(lambda: walker.program(opened(branch), inner, eqn.invars[1:], eqn.outvars))

    branches = [found(branch) for branch in eqn.params["branches"]]
    work = [(sum(each.macs for each in branch), sum(each.elementwise for each in branch)) for branch in branches]
    largest = work.index(max(work))
    for number, branch in enumerate(branches):
        walker.operations += branch if number == largest else remarks(branch)
    macs = [each for each, _ in work]
    uncertain = any(operation.uncounted for branch in branches for operation in branch)
    if len(macs) > 1 and (uncertain or len(set(macs)) > 1):
        text = f"largest of {len(macs)} branches: {', '.join(f'{each:,}' for each in macs)} MACs"
        walker.note(eqn, place, f"{text}, as far as they are counted" if uncertain else text)


def remarks(operations: list[Operation]) -> list[Operation]:
    """Those that say something about the program, which holds wherever the work itself is left out."""
    return [operation for operation in operations if operation.note]


def repeat_until(walker: Walker, eqn: Any, place: Place) -> None:
    """The body in all its iterations, and the condition once more; without their number, only loops without MACs."""
    trips = walker.trips(eqn, place)
    cond, body = (opened(eqn.params[f"{part}_jaxpr"]) for part in ("cond", "body"))
    skipped, constants = eqn.params["cond_nconsts"], eqn.params["body_nconsts"]
    carried = eqn.invars[skipped + constants :]
    inner = place.inside(eqn)

    def both(trips: int, tests: int) -> list[Operation]:
        def run() -> None:
            walker.program(cond, inner._replace(times=tests), [*eqn.invars[:skipped], *carried])
            operands, carry = eqn.invars[skipped:], slice(constants, None)
            walker.program(body, inner._replace(times=trips), operands, eqn.outvars, carry)

        return walker.collected(run)

    if isinstance(trips, int):
        walker.operations += both(place.times * trips, place.times * (trips + 1))
        return
    found = both(1, 1)  # one iteration, wherever the loop stands
    macs = sum(operation.macs for operation in found)
    unknown = [operation for operation in found if operation.uncounted]
    if trips == UNKNOWN and (macs or unknown):
        each = f"{macs:,} MACs each" if macs else ""
        within = "what is not counted within" if unknown else ""
        walker.note(eqn, place, f"unknown trips of {' and of '.join(filter(None, (each, within)))}", uncounted=True)
    elif macs or unknown:
        contracting = next(operation for operation in found if operation.macs or operation.uncounted)
        walker.uncounted(
            eqn,
            place,
            "nothing says how many times {} runs its " + contracting.primitive,
            "give `trips`, put it into jax.named_scope('trips=10'), or use `lax.scan`",
            contracting.scope,
        )
    elif any(operation.elementwise for operation in found):
        walker.note(eqn, place, "elementwise operations of a `while` are not counted")
    walker.operations += remarks(found)


def on_each_device(walker: Walker, eqn: Any, place: Place) -> None:
    """One device's program, once for each device along the axes of the mesh that it is mapped over."""
    params = eqn.params
    axes = params.get("newly_manual_axes", params.get("manual_axes"))
    sizes = dict(params["mesh"].shape)
    devices = prod(size for axis, size in sizes.items() if not axes or axis in axes)
    walker.program(opened(params["jaxpr"]), place.inside(eqn).repeated(devices), eqn.invars, eqn.outvars)


def kernel(walker: Walker, eqn: Any, place: Place) -> None:
    """A Pallas kernel, once for each point of its grid; if values decide the grid, by its own estimate."""
    grid, estimate = eqn.params["grid_mapping"].grid, eqn.params["cost_estimate"]
    if all(isinstance(size, int) for size in grid):
        inner = opened(eqn.params["jaxpr"])
        results = [None] * (len(inner.invars) - len(eqn.invars))  # the references that it writes
        walker.program(inner, place.inside(eqn).repeated(prod(grid)), [*eqn.invars, *results])
    elif estimate is not None:
        walker.contraction(eqn, place, lambda eqn: estimate.flops // 2)
        walker.note(eqn, place, f"half of the {estimate.flops:,} FLOPs that the kernel's `cost_estimate` gives")
    else:
        hint = "use a grid whose sizes are known during tracing, give the kernel a `cost_estimate`"
        hint += ', or register_rule("pallas_call", ...)'
        walker.uncounted(eqn, place, "the grid of {} depends on values", hint)


def linear_solve(walker: Walker, eqn: Any, place: Place) -> None:
    """The given solver; the operator and the transposed solver are for gradients."""
    lengths = eqn.params["const_lengths"]
    start, end = lengths.matvec + lengths.vecmat, sum(lengths)
    operands = [*eqn.invars[start : start + lengths.solve], *eqn.invars[end:]]
    walker.program(opened(eqn.params["jaxprs"].solve), place.inside(eqn), operands, eqn.outvars)


def element_by_element(walker: Walker, eqn: Any, place: Place) -> None:
    """Scalar programs that are applied to each element: `x.at[0].apply(jnp.sin)`, a reduction of the user's."""
    for parameter, elements in APPLYING[eqn.primitive.name].items():
        applied = opened(eqn.params[parameter])
        if applied is None or not applied.eqns:
            walker.free(eqn, place)
        else:
            inner = place.inside(eqn).repeated(elements(eqn))
            walker.program(applied, inner, (eqn.invars[0], eqn.invars[-1]))


def written_in_jax(walker: Walker, eqn: Any, place: Place) -> None:
    """A primitive whose own implementation is a JAX function, which is traced: what it does counts."""
    function = partial(eqn.primitive.impl, **eqn.params)
    traced = make_jaxpr(function)(*(ShapeDtypeStruct(each.aval.shape, each.aval.dtype) for each in eqn.invars))
    walker.program(alive(traced)[0], place.inside(eqn), eqn.invars, eqn.outvars)


def on_the_host(walker: Walker, eqn: Any, place: Place) -> None:
    """A call of Python. What that costs is not known, except of one that only raises the errors of Equinox."""
    function = getattr(eqn.params.get("callback"), "callback_func", None)
    if getattr(function, "__module__", "") != "equinox._errors":
        hint = f'it runs Python on the host: register_rule("{eqn.primitive.name}", lambda eqn: macs)'
        walker.uncounted(eqn, place, hint=f"{hint}, or trace with strict=False")


def foreign(walker: Walker, eqn: Any, place: Place) -> None:
    """A call of compiled code, which has a rule under the name of its target, or none."""
    target = eqn.params["target_name"]
    if target in walker.rules:
        walker.contraction(eqn, place, walker.rules[target])
    else:
        hint = f'register_rule("{target}", lambda eqn: macs)'
        walker.uncounted(eqn, place, f"no rule says what {{}} of {quote(target)} costs", hint)


# Primitives of Lineax, Equinox and jax.experimental.sparse.
WRITTEN_IN_JAX = """
    linear_solve maybe_set select_if_vmap vprim bcoo_dot_general_sampled bcoo_sort_indices bcoo_sum_duplicates
    """

STRUCTURES: dict[str, Callable[[Walker, Any, Place], None]] = {
    "scan": scan,
    "cond": largest_branch,
    "while": repeat_until,
    "shard_map": on_each_device,
    "pallas_call": kernel,
    "custom_linear_solve": linear_solve,
    "ffi_call": foreign,
    "pure_callback": on_the_host,
    "io_callback": on_the_host,
    "noinline": on_the_host,
    **dict.fromkeys(APPLYING, element_by_element),
    **dict.fromkeys(WRITTEN_IN_JAX.split(), written_in_jax),
}

# Primitives that run one inner program once, and the parameter that holds it. JAX renames them occasionally.
CALLS = {
    "jit": "jaxpr",
    "pjit": "jaxpr",
    "call": "call_jaxpr",
    "core_call": "call_jaxpr",
    "closed_call": "call_jaxpr",
    "remat": "jaxpr",
    "remat2": "jaxpr",
    "checkpoint": "jaxpr",
    "custom_jvp_call": "call_jaxpr",
    "custom_vjp_call": "call_jaxpr",
    "custom_vjp_call_jaxpr": "fun_jaxpr",
    "custom_vmap_call": "call",
    "custom_partitioning": "call",
    "composite": "jaxpr",
    "linear_call": "callee",
    "remat_opt": "fwd_jaxpr",
    "compute_on": "jaxpr",
    "xla_metadata_call": "jaxpr",
    "fused_call": "jaxpr",
    "cudnn_fusion": "jaxpr",
    "run_scoped": "jaxpr",
    "run_state": "jaxpr",
}
