"""The rules that count contractions, by primitive, and how users add their own."""

from __future__ import annotations

from typing import Any

from paramcount.backend.trace.attention import ATTENTION
from paramcount.backend.trace.factorizations import FACTORIZATIONS
from paramcount.backend.trace.products import PRODUCTS, Rule
from paramcount.backend.trace.sparse import SPARSE
from paramcount.errors import ArgumentError, quote
from paramcount.numbers.arithmetic import native

CONTRACTIONS: dict[str, Rule] = PRODUCTS | FACTORIZATIONS | SPARSE | ATTENTION
registered: dict[str, Rule] = {}


def register_rule(name: str, rule: Rule | None) -> None:
    """Count a primitive or an FFI target by your own rule: a function of its equation that returns its MACs.

    The equation's `invars` and `outvars` have shapes, `eqn.invars[0].aval.shape`, and `params` has its settings. A rule
    replaces an existing one; None removes it again. Raises ArgumentError if the rule is not a function.

    >>> import jax, jax.numpy as jnp
    >>> from paramcount.backend.trace.trace import trace
    >>> x = jax.ShapeDtypeStruct((8, 4), jnp.float32)
    >>> register_rule("my_gram", lambda eqn: 4 * 4 * 8)
    >>> trace(lambda x: jax.ffi.ffi_call("my_gram", jax.ShapeDtypeStruct((4, 4), x.dtype))(x), x).macs
    128
    >>> register_rule("my_gram", None)
    """
    if not isinstance(name, str) or (rule is not None and not callable(rule)):
        message = f"a rule must be a primitive's name and a function, not {quote(name, repr)} and {quote(rule, repr)}"
        raise ArgumentError(message, hint='register_rule("name", lambda eqn: macs)')
    if rule is None:
        registered.pop(name, None)
    else:
        registered[name] = checked(name, rule)


def checked(name: str, rule: Rule) -> Rule:
    """The rule, with an error if its result is not a whole number."""

    def macs(eqn: Any) -> int:
        found = native(rule(eqn))
        if type(found) is not int or found < 0:
            message = f"the rule for {quote(name)} returns {quote(found, repr)}, which is not a whole number of MACs"
            raise ArgumentError(message, hint="return an int of at least 0; use `//` to divide")
        return found

    return macs
