"""A report as JSON: raw integers only, schema 1."""

from __future__ import annotations

from typing import Any

from paramcount.cost.count import Report

SCHEMA = 1


def to_dict(report: Report) -> dict[str, Any]:
    """The report as plain values; shapes are lists without the batch, rows the tree in pre-order."""
    totals = report.totals._asdict()
    if report.training and report.step:
        totals |= report.training._asdict() | {"loss_elementwise": report.step.loss_elementwise}
    if report.kv_cache is not None:
        totals["kv_cache_bytes"] = report.kv_cache_bytes
    return {
        "schema": SCHEMA,
        "name": report.name,
        "variant": report.variant,
        "vars": report.vars,
        "convention": report.convention,
        "totals": totals,
        "rows": [
            {
                "path": row.path,
                "kind": row.kind,
                "output_shape": None if row.output_shape is None else list(row.output_shape.sizes),
                "repeat": row.repeat,
                "depth": row.depth,
                "leaf": row.leaf,
                "setting": row.setting,
                "note": row.note,
                **row.figures._asdict(),
                **(row.training._asdict() if row.training else {}),
            }
            for row in report.rows
        ],
    }


def render(report: Report) -> str:
    """The JSON text, in ASCII, so that every output can take it."""
    from json import dumps

    return dumps(to_dict(report), indent=1)
