"""Losses inside the graph: `pc.losses`."""

from paramcount.backend.losses.ctc import ctc_loss
from paramcount.backend.losses.losses import softmax_cross_entropy

__all__ = ["ctc_loss", "softmax_cross_entropy"]
