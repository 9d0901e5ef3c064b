"""Worked specs of hard families count to the figures that stand in them: a proof of the language."""

import pytest
import yaml

from paramcount.cost.count import count
from paramcount.language.load import load

SPECS = (
    "bahdanau",
    "densenet121",
    "detector",
    "efficientnet_v2_s",
    "fcn_resnet50",
    "frames",
    "googlenet",
    "inception_v3",
    "lora",
    "maxvit_t",
    "mamba",
    "mobilenet_v3",
    "regnet_y",
    "retinanet",
    "seq2seq",
    "shufflenet_v2",
    "siamese",
    "swin_t",
    "swin_v2_t",
    "t5_small",
    "whisper_tiny",
)


@pytest.mark.parametrize("name", SPECS)
def test_a_worked_spec_counts_to_its_expect(shared, name):
    path = shared / "specs" / f"{name}.yaml"
    expect = yaml.load(path.read_text(), yaml.BaseLoader)["expect"]
    variants = expect.pop("variants", {})
    for variant, figures in {None: expect, **variants}.items():
        report = count(load(str(path), variant=variant))
        assert {figure: str(getattr(report, figure)) for figure in figures} == figures, variant


def counted(tmp_path, text):
    path = tmp_path / "spec.yaml"
    path.write_text(text)
    return count(load(str(path)))


def test_scan_counts_weights_once_and_work_at_each_step(tmp_path):
    """A recurrent cell of dense layers, 7 steps of 10 features, 16 carried."""
    report = counted(
        tmp_path,
        """
        input: {sequence: [7, 10]}
        layers:
          - scan:
              carry: {h: [16]}
              do:
                - add: [[dense: 16], [from: h, dense: {out: 16, bias: false}]]
                - tanh
              next: {h: prev}
          - dense: 3
        """,
    )
    assert report.params == (10 * 16 + 16) + 16 * 16 + (16 * 3 + 3)
    assert report.macs == 7 * (10 * 16 + 16 * 16) + 7 * 16 * 3


def test_moe_counts_all_experts_and_works_the_chosen(tmp_path):
    """5 tokens of 8 features; 6 experts of 8 → 32 → 8, of which each token takes 2."""
    report = counted(
        tmp_path,
        """
        input: {sequence: [5, 8]}
        layers:
          - moe: {experts: 6, top_k: 2, body: [dense: {out: 32, bias: false}, relu, dense: {out: 8, bias: false}]}
        """,
    )
    router, expert = 8 * 6, 8 * 32 + 32 * 8
    assert report.params == router + 6 * expert
    assert report.active_params == router + 2 * expert
    assert report.macs == 5 * (router + 2 * expert)
