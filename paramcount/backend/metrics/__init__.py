"""Metrics inside the graph: `pc.metrics`."""

from paramcount.backend.metrics.auc import auc
from paramcount.backend.metrics.metrics import accuracy, top_k_accuracy

__all__ = ["accuracy", "auc", "top_k_accuracy"]
