"""The only home of JAX: what builds a network, runs it, and counts what the traced program really does."""

from typing import Any

from paramcount.errors import MissingPackageError


def load_jax() -> Any:
    """The `jax` module; raises MissingPackageError, which says how to get it, where it is not installed."""
    try:
        import jax
    except ImportError as error:
        raise MissingPackageError("JAX is not installed", hint='pip install "paramcount[jax]"') from error
    return jax
