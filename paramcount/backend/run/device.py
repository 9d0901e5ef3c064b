"""The device that JAX computes on."""

from __future__ import annotations

import os

import jax

from paramcount.errors import ParamcountError, quote


def check_device() -> None:
    """Raises ParamcountError if JAX has no device, as where `JAX_PLATFORMS` asks for one that is not there.

    >>> check_device()
    """
    try:
        jax.devices()
    except (RuntimeError, AssertionError) as error:  # JAX asserts that there is one of those asked for
        asked = os.environ.get("JAX_PLATFORMS")
        if not asked:
            raise
        reason = f": {error}".partition("\n")[0].removesuffix(": ")
        message = f"JAX has no device {quote(asked)}, which `JAX_PLATFORMS` asks for{reason}"
        raise ParamcountError(message, hint="set `JAX_PLATFORMS=cpu`, or install JAX for that device") from error
