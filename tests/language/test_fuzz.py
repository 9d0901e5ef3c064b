"""Mutated specs and blocks: whatever stands in a spec, only a ParamcountError may come out.

The same 500 in every run; PARAMCOUNT_FUZZ and PARAMCOUNT_SEED choose more and others, and `-s` shows what was slowest:
PARAMCOUNT_FUZZ=30000 python -m pytest tests/language/test_fuzz.py -s
"""

import os
import random
import re
import time
from pathlib import Path

from paramcount.cost.count import count
from paramcount.errors import ParamcountError
from paramcount.language.load import load

ROOT = Path(__file__).resolve().parents[2]
INPUTS = int(os.environ.get("PARAMCOUNT_FUZZ", "500"))
SEED = int(os.environ.get("PARAMCOUNT_SEED", "1"))
TOKEN = re.compile(rb"\w+|\s+|[^\w\s]")
PIECES = [
    *(
        b"[",
        b"]",
        b"{",
        b"}",
        b"(",
        b")",
        b": ",
        b":",
        b", ",
        b"- ",
        b"\n",
        b"\n  ",
        b"  ",
        b"'",
        b'"',
        b"\t",
        b"#",
        b"|",
    ),
    *(
        b"&a ",
        b"*a",
        b"!",
        b"%",
        b"?",
        b"\xff",
        b"\0",
        b"---\n",
        b"<<: ",
        b"{{ w }}",
        b"${w}",
        b"\xe2\x80\xa8",
        b"@",
        b"->",
    ),
    *(b"0", b"-1", b"2.5", b"1e9", b"1e18", b"999999999999", b"9**9", b"1/3", b"none", b"true", b"false", b"i", b"cin"),
    *(
        b"prev",
        b"length",
        b"same",
        b"[]",
        b"{}",
        b"''",
        b"[1, 2]",
        b"max(1, 2)",
        b"{i}",
        b" if i else ",
        b" * ",
        b" / 0",
    ),
    *(b"for: [a, b]", b"in: 3", b"repeat: 50000", b"when: i", b"name: x", b"from: x", b"into: [a, b]", b"share: true"),
    *(b"share: k", b"push: s", b"pop: s", b"only: training", b"frozen: true", b"tied: k", b"let: {x: prev}", b"do: ["),
    *(
        b"residual: [",
        b"add: [prev, ",
        b"concat: [prev, x]",
        b"gate: x",
        b"moe: {experts: 4, top_k: 2, body: [",
        b"relu",
    ),
    *(
        b"each: {pattern: t d -> t | d, do: [",
        b"scan: {carry: {h: [4]}, do: [",
        b"next: {h: prev}",
        b"split: 2",
        b"outputs",
    ),
    # what YAML has besides mappings, lists and words
    *(b"&a {dense: 8}", b"&a [relu, *a]", b"*a : ", b"[*a, *a]", b"<<: *a\n", b"<<: [*a, {dense: 3}]", b"!!merge <<: "),
    *(b"!!int ", b"!!float ", b"!!str ", b"!!bool ", b"!!null ", b"!!binary ", b"!!set ", b"!!python/name:os"),
    *(b"!own ", b"! ", b"!<tag:x> ", b"%YAML 1.1\n---\n", b"%TAG ! x\n", b"...\n", b"? ", b"? [a]\n: ", b">-\n  "),
    *(b'"\\x1b[31m"', b'"\\u202e"', b"\xf0\x9f\xa6\x84", b"\xef\xbb\xbf", b"~", b"null", b"2024-01-01", b"1:30", b"="),
    # numbers of every size and spelling
    *(b"-7", b"-0", b"-0.0", b"-1e18", b"1e19", b"1e308", b"1e400", b"-1e400", b"1e-300", b".inf", b"-.inf", b".nan"),
    *(b"9223372036854775807", b"9223372036854775808", b"18446744073709551616", b"9" * 5000, b"0x1F", b"0b1", b"010"),
    *(b"1_000", b"1,000", b"3M", b"50%", b"2 ** 63", b"10 ** 400", b"-9 ** 9 ** 9", b"1e18 * 1e18", b"0.1 + 0.2"),
    *(b"dense: 8", b"conv: [8, 3]", b"image", b"tokens", b"features", b"sequence", b"volume", b"vars", b"defaults"),
]

NUMBERS = [
    b"0",
    b"1",
    b"2",
    b"3",
    b"7",
    b"16",
    b"999",
    b"100000",
    b"1e18",
    b"0.5",
    b"-1",
    b"1/3",
    b"i",
    b"cin",
    b"length",
]

# What the shipped specs do not use, so that its mutants are reached too.
FORMS = b"""
inputs: {a: {sequence: [6, 8]}, b: {tokens: [5]}}
vars: {d: 8, rows: [[8, 1], [16, 2]], act: gelu}
defaults: {dense: {activation: act}, twice: {out: d}}
blocks:
  twice: {args: {out: required, n: 2}, inputs: {memory: none}, layers: [{repeat: n, dense: out}]}
  pair: {inputs: [left], layers: [{split: 2, into: [x, y]}, let: {z: [from: left]}, gate: x], outputs: [x, z]}
layers:
  - {from: b, embedding: [100, d], name: table, share: words}
  - {from: a, twice: {memory: table}}
  - {for: [c, n], in: rows, repeat: n, name: last, dense: {out: "c + i", activation: none}}
  - {dense: d, name: "c{d}"}
  - each: {pattern: (n t) d -> n | t d, t: 2, with: {last: (n t) e -> n | t e}, do: [concat: [prev, last], dense: d]}
  - scan: {carry: {h: [4]}, do: [concat: [prev, h], dense: 4], next: {h: prev}}
  - {dense: d, push: s}
  - moe: {experts: 4, top_k: 2, body: [dense: 16, dense: d]}
  - add: [prev, [pop: s], c8]
  - residual: {if: d == cin, body: [rms_norm, {dense: d, when: d > 4}]}
  - {pair: {left: prev}, into: [one, two]}
  - subtract: [one, one]
  - {let: {aux: [dense: 3]}, only: training}
  - {repeat: 3, share: true, frozen: true, dense: cin}
  - rearrange: {pattern: t (h e) -> h t e, h: 2}
  - einsum: {pattern: "h t e, h s e -> h t s", paths: [prev, prev]}
outputs: {result: prev, aux: aux}
expect: {params: 12, macs: 3}
"""


def sources():
    """Every shipped spec; every shipped block as a spec that uses it; and the forms that those leave out."""
    for path in sorted((ROOT / "configs").glob("*.yaml")):
        yield path.read_bytes()
    for path in sorted((ROOT / "paramcount" / "language" / "blocks").glob("*.yaml")):
        use = f"input: {{image: [16, 16, 8]}}\nlayers:\n  - {path.stem}: {{}}\n  - {path.stem}: 8\n"
        yield use.encode() + path.read_bytes()
    yield FORMS


def mutant(source: bytes, chance: random.Random) -> bytes:
    """A spec with one to four changes: mostly one word or number for another, else of bytes, tokens, lines."""
    for _ in range(chance.choice([1, 1, 2, 4])):
        if chance.random() < 0.1:
            at, end = chance.randrange(len(source) + 1), chance.randint(0, 3)
            piece = chance.choice([chance.randbytes(1), chance.choice(PIECES)])
            source = source[:at] + piece + source[at + end :]
            continue
        apart = re.compile(rb".*\n?") if chance.random() < 0.2 else TOKEN
        tokens = apart.findall(source) or [b""]
        words = [index for index, token in enumerate(tokens) if token.isalnum()] or [0]
        at, other = chance.choice(words), chance.choice(words)
        match chance.randrange(8):
            case 0:
                del tokens[at]
            case 1:
                tokens.insert(at, tokens[other])
            case 2:
                tokens[chance.randrange(len(tokens))] = chance.choice(PIECES)
            case 3:
                tokens[at], tokens[other] = tokens[other], tokens[at]
            case 4:
                tokens[at] = chance.choice(PIECES)
            case 5:
                tokens[at] = chance.choice(NUMBERS)
            case _:
                tokens[at] = tokens[other]
        source = b"".join(tokens)
    return source


def read(path: Path, chance: random.Random) -> str:
    """Load and count a file, with a variant or a variable now and then; what came of it."""
    variant = chance.choice(["x0.5", "50", "", "no"]) if chance.random() < 0.05 else None
    variables = chance.choice([{"width": "0.3"}, {"d": "[1, "}, {"d": -1}]) if chance.random() < 0.05 else {}
    try:
        network = load(str(path), variant=variant, **variables)
        count(network)
        network.graph(training=True)
    except ParamcountError as error:
        text = str(error)
        assert text and text.replace("\n", "").isprintable()
        assert error.exit_code == 2
        return "refused"
    return "fine"


def test_mutants_bring_nothing_but_our_errors(tmp_path):
    path = tmp_path / "net.yaml"
    texts = list(sources())
    outcomes = {"fine": 0, "refused": 0}
    slowest = (0.0, SEED)
    for seed in range(SEED, SEED + INPUTS):
        chance = random.Random(seed)
        data = mutant(chance.choice(texts), chance)
        path.write_bytes(data)
        start = time.process_time()
        try:
            outcomes[read(path, chance)] += 1
        except BaseException as problem:
            raise AssertionError(f"input {seed}:\n{data.decode(errors='replace')}") from problem
        slowest = max(slowest, (time.process_time() - start, seed))
    print(f"\n{INPUTS:,} inputs: {outcomes}, the slowest, {slowest[1]}, in {slowest[0]:.3f} s")
    assert outcomes["refused"] and outcomes["fine"]


def test_the_specs_that_are_mutated_are_fine(tmp_path):
    path = tmp_path / "net.yaml"
    path.write_bytes(FORMS)
    assert count(load(str(path))).params > 0
