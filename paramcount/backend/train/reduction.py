"""What data parallelism sums over the devices in one step: as read from the compiled program, and as predicted."""

from __future__ import annotations

import re
from math import prod

from paramcount.cost.forward import Forward, Inside, Looped, Ran, Tape
from paramcount.graph.tree import Graph

COMPUTATION = re.compile(r"(ENTRY )?%?([\w.-]+) .*\{")
INSTRUCTION = re.compile(r"\s+(?:ROOT )?\S+ = (.*?) ([a-z][\w-]*)\((.*)")  # its result's type, its name, the rest
CALLED = re.compile(r"(?:body|to_apply|calls|true_computation|false_computation)=%?([\w.-]+)")
BRANCHES = re.compile(r"branch_computations=\{([^}]*)\}")
TRIPS = re.compile(r'"known_trip_count":\{"n":"(\d+)"\}')


def all_reduce_bytes(program: str) -> int | None:
    """The bytes that one device's compiled program sums over all devices, read from its text (XLA's HLO).

    Those of a loop's body count once for each iteration. None if they cannot be determined: a loop whose number of
    iterations XLA does not know, branches, or a type without a size.

    >>> all_reduce_bytes('''
    ... ENTRY %main (a: f32[784,10], b: f32[]) -> (f32[784,10], f32[]) {
    ...   %r = (f32[784,10]{1,0}, f32[]) all-reduce(%a, %b), replica_groups={{0,1}}, to_apply=%add
    ... }''')
    31364
    """
    computations: dict[str, list[str]] = {}
    lines: list[str] = []
    entry = ""
    for line in program.splitlines():
        if head := COMPUTATION.fullmatch(line):
            lines = computations[head[2]] = []
            entry = head[2] if head[1] else entry
        else:
            lines.append(line)
    try:
        return summed(entry, computations) if entry else None
    except UnknownError:
        return None


class UnknownError(Exception):
    """The bytes that a program sums cannot be read from it."""


def summed(name: str, computations: dict[str, list[str]]) -> int:
    """The bytes that a computation sums, including all computations that it calls."""
    total = 0
    for line in computations.get(name, ()):
        found = INSTRUCTION.match(line)
        if not found:
            continue
        result, operation, rest = found.groups()
        if operation in ("all-reduce", "all-reduce-start"):
            total += size(result)
            continue
        if operation.endswith("-done"):  # it may repeat the call of its start
            continue
        branches = [each.strip(" %") for names in BRANCHES.findall(rest) for each in names.split(",")]
        inner = sum(summed(called, computations) for called in [*CALLED.findall(rest), *branches])
        if inner and operation == "while":
            trips = TRIPS.search(rest)
            if not trips:
                raise UnknownError
            inner *= int(trips[1])
        if inner and operation == "conditional":
            raise UnknownError
        total += inner
    return total


def size(result: str) -> int:
    """The bytes of a type, or of a tuple of them, as `(f32[3,10]{1,0}, bf16[])`."""
    total = 0
    for kind, sizes in re.findall(r"(\w+)\[([^\]]*)\]", result):
        bits = re.fullmatch(r"pred|[a-z]+(\d+)\w*", kind)  # f8e4m3fn has 8
        if not bits:
            raise UnknownError
        elements = prod(int(number) for number in re.findall(r"\d+", sizes))
        total += -(-elements * int(bits[1] or 8) // 8)
    return total


def batch_statistics(graph: Graph) -> int:
    """The numbers that batch norms sum over the devices in a step, counted each time one runs.

    Each channel has 2, the mean and the variance, and 3 more if a trainable parameter is upstream: the gradient of the
    variance, and that of the mean in two parts, through the normalized values and through the variance.

    >>> from paramcount.graph.network import Network
    >>> from paramcount.layers.batch_norm import BatchNorm
    >>> from paramcount.layers.dense import Dense
    >>> batch_statistics(Network([BatchNorm(), Dense(10), BatchNorm()], input=3).graph(training=True))  # 2·3 + 5·10
    56
    """
    return statistics(Forward().elements(graph.children, "", ""))


def statistics(tape: Tape) -> int:
    total = 0
    for entry in tape:
        match entry:
            case Ran():
                total += entry.node.layer.batch_sums(any(entry.inputs[:1]), *entry.node.shapes)
            case Looped():
                total += sum(statistics(each.tape) for each in entry.iterations)
            case Inside():
                total += statistics(entry.tape) * (entry.body.times if entry.body.sequential else 1)
    return total
