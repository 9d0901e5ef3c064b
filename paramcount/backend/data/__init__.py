"""Data sets from files, and arrays in batches: `pc.data`."""

from paramcount.backend.data.data import Batches, read_data
from paramcount.backend.data.loader import numpy_collate, torch_batches

__all__ = ["Batches", "numpy_collate", "read_data", "torch_batches"]
