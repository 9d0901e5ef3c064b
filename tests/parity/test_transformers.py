"""The shipped specs compute what the models of transformers compute: the same weights give the same outputs.

Run by hand, in an environment of its own, which is large:

    pip install torch==2.13.0 transformers==5.24.0 -e .[test]
    python -m pytest tests/parity/test_transformers.py

Each family is built small, with random weights, and both sides compute in float64 (our scores of attention in
float32). Below, a family's modules stand in the order in which our layers come; `name@function` says how a fused
tensor falls apart.
"""

from typing import Any, NamedTuple

import numpy as np
import pytest

torch = pytest.importorskip("torch", reason="needs torch")
transformers = pytest.importorskip("transformers", reason="transformers is not installed")

import jax  # noqa: E402

from paramcount.backend.run.evaluate import evaluate  # noqa: E402
from paramcount.backend.run.initialize import tensors  # noqa: E402
from paramcount.language.load import load  # noqa: E402

TOLERANCE = 1e-4
T = 12


class Case(NamedTuple):
    """A spec with variables, a model with its configuration, and the model's modules in our order."""

    spec: str
    variables: dict[str, Any]
    model: str
    config: dict[str, Any]
    before: str
    block: str
    after: str
    blocks: str = "model.layers"
    vocab: int = 1000


SMALL = {"d": 64, "depth": 2, "heads": 4, "vocab": 1000}
SIZES = {"vocab_size": 1000, "hidden_size": 64, "num_hidden_layers": 2, "num_attention_heads": 4}
GQA = SIZES | {"num_key_value_heads": 2, "intermediate_size": 192, "head_dim": 16, "pad_token_id": None}
BERT = """attention.self.query attention.self.key attention.self.value attention.output.dense attention.output.LayerNorm
    intermediate.dense output.dense output.LayerNorm"""
LLAMA = """input_layernorm self_attn.q_proj self_attn.k_proj self_attn.v_proj self_attn.o_proj
    post_attention_layernorm mlp.gate_proj mlp.up_proj mlp.down_proj"""
NORMED = LLAMA.replace("q_proj", "q_proj self_attn.q_norm").replace("k_proj", "k_proj self_attn.k_norm")
EXPERTS = "mlp.gate mlp.experts.gate_up_proj@gate mlp.experts.gate_up_proj@up mlp.experts.down_proj@down"
MIXTRAL = LLAMA.replace("mlp.gate_proj mlp.up_proj mlp.down_proj", EXPERTS)
SANDWICH = """input_layernorm self_attn.q_proj self_attn.k_proj self_attn.v_proj self_attn.o_proj
    post_attention_layernorm pre_feedforward_layernorm mlp.gate_proj mlp.up_proj mlp.down_proj
    post_feedforward_layernorm"""
EMBEDDED = """embeddings.word_embeddings embeddings.position_embeddings embeddings.token_type_embeddings
    embeddings.LayerNorm"""
MLA = """input_layernorm self_attn.q_a_proj self_attn.q_a_layernorm self_attn.q_b_proj@turned_q
    self_attn.kv_a_proj_with_mqa@turned self_attn.kv_a_layernorm self_attn.kv_b_proj self_attn.o_proj
    post_attention_layernorm mlp.gate_proj mlp.up_proj mlp.gate mlp.experts.gate_up_proj@gate
    mlp.experts.gate_up_proj@up mlp.experts.down_proj@down mlp.shared_experts.gate_proj mlp.shared_experts.up_proj
    mlp.shared_experts.down_proj mlp.down_proj"""
LATENT = SIZES | {
    "num_key_value_heads": 4,
    "q_lora_rank": 32,
    "kv_lora_rank": 24,
    "qk_nope_head_dim": 16,
    "qk_rope_head_dim": 8,
    "v_head_dim": 16,
    "intermediate_size": 192,
    "moe_intermediate_size": 16,
}
T5_ATTENTION = """layer.0.layer_norm layer.0.SelfAttention.q layer.0.SelfAttention.k layer.0.SelfAttention.v
    layer.0.SelfAttention.o """
T5_DECODER = T5_ATTENTION + T5_ATTENTION.replace("layer.0", "layer.1").replace("Self", "EncDec") + "layer.2.layer_norm "
HEARD = "self_attn_layer_norm self_attn.q_proj self_attn.k_proj self_attn.v_proj self_attn.out_proj "


def within(prefix: str, names: str) -> str:
    """Modules' names with that of the module around them."""
    return " ".join(f"{prefix}.{name}" for name in names.split())


def t5_encoder(*inward: str) -> str:
    """An encoder of two layers, with the tables of distances of both sides around it."""
    dense = " ".join(f"layer.1.DenseReluDense.{name}" for name in (*inward, "wo"))
    layers = [within(f"encoder.block.{layer}", f"{T5_ATTENTION} layer.1.layer_norm {dense}") for layer in (0, 1)]
    tables = [f"{side}.block.0.layer.0.SelfAttention.relative_attention_bias" for side in ("encoder", "decoder")]
    return " ".join(["shared", tables[0], *layers, "encoder.final_layer_norm", tables[1]])


ENDS = ("model.embed_tokens", "model.norm", "model.norm lm_head")

CASES = [
    Case(
        "bert",
        SMALL,
        "Bert Model",
        SIZES | {"intermediate_size": 256},
        EMBEDDED,
        BERT,
        "pooler.dense",
        "encoder.layer",
    ),
    Case(
        "roberta",
        SMALL,
        "Roberta Model",
        SIZES
        | {
            "intermediate_size": 256,
            "max_position_embeddings": 514,
            "type_vocab_size": 1,
            "pad_token_id": 1,
            "layer_norm_eps": 1e-5,
        },
        EMBEDDED,
        BERT,
        "pooler.dense",
        "encoder.layer",
    ),
    Case(
        "distilbert:base-uncased-mlm",
        SMALL,
        "DistilBert ForMaskedLM",
        {"vocab_size": 1000, "dim": 64, "n_layers": 2, "n_heads": 4, "hidden_dim": 256},
        within("distilbert.embeddings", "word_embeddings position_embeddings LayerNorm"),
        "attention.q_lin attention.k_lin attention.v_lin attention.out_lin sa_layer_norm ffn.lin1 ffn.lin2 "
        "output_layer_norm",
        "vocab_transform vocab_layer_norm vocab_projector@bias",
        "distilbert.transformer.layer",
    ),
    Case(
        "gpt2",
        SMALL,
        "GPT2 LMHeadModel",
        {"vocab_size": 1000, "n_embd": 64, "n_layer": 2, "n_head": 4},
        "transformer.wte transformer.wpe",
        "ln_1 attn.c_attn@third0 attn.c_attn@third1 attn.c_attn@third2 attn.c_proj ln_2 mlp.c_fc mlp.c_proj",
        "transformer.ln_f",
        "transformer.h",
    ),
    Case(
        "opt",
        SMALL,
        "OPT ForCausalLM",
        SIZES | {"ffn_dim": 256, "word_embed_proj_dim": 64},
        "model.decoder.embed_tokens model.decoder.embed_positions",
        "self_attn_layer_norm self_attn.q_proj self_attn.k_proj self_attn.v_proj self_attn.out_proj final_layer_norm "
        "fc1 fc2",
        "model.decoder.final_layer_norm",
        "model.decoder.layers",
    ),
    Case(
        "gpt_neox",
        SMALL,
        "GPTNeoX ForCausalLM",
        SIZES | {"intermediate_size": 256},
        "gpt_neox.embed_in",
        "input_layernorm attention.query_key_value@inner0 attention.query_key_value@inner1 "
        "attention.query_key_value@inner2 attention.dense post_attention_layernorm mlp.dense_h_to_4h "
        "mlp.dense_4h_to_h",
        "gpt_neox.final_layer_norm lm_head",
        "gpt_neox.layers",
    ),
    Case(
        "llama:tiny",
        {},
        "Llama ForCausalLM",
        GQA
        | {
            "rms_norm_eps": 1e-5,
            "tie_word_embeddings": True,
            "rope_parameters": {"rope_type": "default", "rope_theta": 500000.0},
        },
        ENDS[0],
        LLAMA,
        ENDS[1],
    ),
    Case(
        "mistral:tiny",
        {"window": 5},
        "Mistral ForCausalLM",
        GQA | {"rms_norm_eps": 1e-5, "sliding_window": 5},
        ENDS[0],
        LLAMA,
        ENDS[2],
    ),
    Case(
        "mixtral:tiny",
        {},
        "Mixtral ForCausalLM",
        GQA | {"rms_norm_eps": 1e-5, "rope_parameters": {"rope_type": "default", "rope_theta": 1000000.0}},
        ENDS[0],
        MIXTRAL,
        ENDS[2],
    ),
    Case(
        "qwen2",
        SMALL | {"kv_heads": 2, "hidden": 192},
        "Qwen2 ForCausalLM",
        GQA | {"tie_word_embeddings": True, "rope_parameters": {"rope_type": "default", "rope_theta": 1000000.0}},
        ENDS[0],
        LLAMA,
        ENDS[1],
    ),
    Case(
        "qwen3:tiny",
        {},
        "Qwen3 ForCausalLM",
        GQA
        | {
            "head_dim": 32,
            "tie_word_embeddings": True,
            "rope_parameters": {"rope_type": "default", "rope_theta": 1000000.0},
        },
        ENDS[0],
        NORMED,
        ENDS[1],
    ),
    Case(
        "qwen3:tiny",
        {"experts": 16, "hidden": 48, "tied": False},
        "Qwen3Moe ForCausalLM",
        GQA
        | {
            "head_dim": 32,
            "moe_intermediate_size": 48,
            "num_experts": 16,
            "num_local_experts": 16,
            "num_experts_per_tok": 8,
            "norm_topk_prob": True,
            "rope_parameters": {"rope_type": "default", "rope_theta": 1000000.0},
        },
        ENDS[0],
        NORMED.replace("mlp.gate_proj mlp.up_proj mlp.down_proj", EXPERTS),
        ENDS[2],
    ),
    Case("gemma:tiny", {"kv_heads": 2}, "Gemma ForCausalLM", GQA | {"head_dim": 32}, ENDS[0], LLAMA, ENDS[1]),
    Case(
        "gemma2:tiny",
        {"window": 5},
        "Gemma2 ForCausalLM",
        GQA | {"head_dim": 32, "query_pre_attn_scalar": 16, "sliding_window": 5},
        ENDS[0],
        SANDWICH,
        ENDS[1],
    ),
    Case(
        "gemma3",
        SMALL | {"depth": 7, "kv_heads": 2, "head_dim": 32, "query": 24, "hidden": 192, "window": 5},
        "Gemma3 ForCausalLM",
        GQA | {"num_hidden_layers": 7, "head_dim": 32, "query_pre_attn_scalar": 24, "sliding_window": 5},
        ENDS[0],
        SANDWICH.replace("q_proj", "q_proj self_attn.q_norm").replace("k_proj", "k_proj self_attn.k_norm"),
        ENDS[1],
    ),
    Case(
        "phi:tiny",
        {},
        "Phi ForCausalLM",
        SIZES
        | {
            "intermediate_size": 256,
            "rope_parameters": {"rope_type": "default", "rope_theta": 10000.0, "partial_rotary_factor": 0.5},
        },
        ENDS[0],
        "input_layernorm self_attn.q_proj self_attn.k_proj self_attn.v_proj self_attn.dense mlp.fc1 mlp.fc2",
        "model.final_layernorm lm_head",
    ),
    Case(
        "phi3:tiny",
        {"window": 5},
        "Phi3 ForCausalLM",
        GQA | {"rms_norm_eps": 1e-5, "sliding_window": 5},
        ENDS[0],
        "input_layernorm self_attn.qkv_proj@query self_attn.qkv_proj@key self_attn.qkv_proj@value self_attn.o_proj "
        "post_attention_layernorm mlp.gate_up_proj@half0 mlp.gate_up_proj@half1 mlp.down_proj",
        ENDS[2],
    ),
    Case(
        "falcon:tiny",
        {},
        "Falcon ForCausalLM",
        SIZES | {"hidden_size": 80, "num_attention_heads": 5},
        "transformer.word_embeddings",
        "input_layernorm self_attention.query_key_value@most self_attention.query_key_value@last_but_one "
        "self_attention.query_key_value@last self_attention.dense mlp.dense_h_to_4h mlp.dense_4h_to_h",
        "transformer.ln_f",
        "transformer.h",
    ),
    Case(
        "mamba",
        {"d": 64, "depth": 2, "vocab": 1000},
        "Mamba ForCausalLM",
        {"vocab_size": 1000, "hidden_size": 64, "num_hidden_layers": 2, "use_mambapy": False},
        "backbone.embeddings",
        "norm mixer.in_proj mixer.conv1d mixer.x_proj mixer.dt_proj mixer.A_log@plain mixer.D@plain mixer.out_proj",
        "backbone.norm_f",
        "backbone.layers",
    ),
    Case(
        "albert",
        {"d": 64, "depth": 2, "heads": 4},
        "Albert Model",
        SIZES | {"vocab_size": 30000, "embedding_size": 128, "intermediate_size": 256},
        EMBEDDED
        + " encoder.embedding_hidden_mapping_in "
        + within(
            "encoder.albert_layer_groups.0.albert_layers.0",
            """
             attention.query attention.key attention.value attention.dense attention.LayerNorm ffn ffn_output
             full_layer_layer_norm""",
        ),
        "",
        "pooler",
    ),
    Case(
        "deepseek_v2:tiny",
        {},
        "DeepseekV2 ForCausalLM",
        LATENT
        | {
            "first_k_dense_replace": 1,
            "n_routed_experts": 160,
            "num_experts_per_tok": 6,
            "n_shared_experts": 2,
            "n_group": 8,
            "topk_group": 3,
            "topk_method": "group_limited_greedy",
            "routed_scaling_factor": 16.0,
        },
        ENDS[0],
        MLA,
        ENDS[2],
    ),
    Case(
        "deepseek_v3:tiny", {}, "DeepseekV3 ForCausalLM", LATENT | {"first_k_dense_replace": 1}, ENDS[0], MLA, ENDS[2]
    ),
    Case(
        "t5",
        SMALL | {"head_dim": 16, "S": T},
        "T5 ForConditionalGeneration",
        {
            "vocab_size": 1000,
            "d_model": 64,
            "d_kv": 16,
            "d_ff": 256,
            "num_layers": 2,
            "num_heads": 4,
            "decoder_start_token_id": 0,
        },
        t5_encoder("wi"),
        T5_DECODER + "layer.2.DenseReluDense.wi layer.2.DenseReluDense.wo",
        "decoder.final_layer_norm",
        "decoder.block",
    ),
    Case(
        "flan_t5",
        SMALL | {"hidden": 192, "S": T},
        "T5 ForConditionalGeneration",
        {
            "vocab_size": 1000,
            "d_model": 64,
            "d_kv": 64,
            "d_ff": 192,
            "num_layers": 2,
            "num_heads": 4,
            "decoder_start_token_id": 0,
            "feed_forward_proj": "gated-gelu",
            "tie_word_embeddings": False,
        },
        t5_encoder("wi_0", "wi_1"),
        T5_DECODER + "layer.2.DenseReluDense.wi_0 layer.2.DenseReluDense.wi_1 layer.2.DenseReluDense.wo",
        "decoder.final_layer_norm lm_head",
        "decoder.block",
    ),
    Case(
        "mt5",
        SMALL | {"hidden": 192, "S": T},
        "MT5 ForConditionalGeneration",
        {
            "vocab_size": 1000,
            "d_model": 64,
            "d_kv": 64,
            "d_ff": 192,
            "num_layers": 2,
            "num_heads": 4,
            "decoder_start_token_id": 0,
            "tie_word_embeddings": False,
        },
        t5_encoder("wi_0", "wi_1"),
        T5_DECODER + "layer.2.DenseReluDense.wi_0 layer.2.DenseReluDense.wi_1 layer.2.DenseReluDense.wo",
        "decoder.final_layer_norm lm_head",
        "decoder.block",
    ),
    Case(
        "whisper",
        SMALL,
        "Whisper ForConditionalGeneration",
        {
            "vocab_size": 1000,
            "d_model": 64,
            "encoder_layers": 2,
            "decoder_layers": 2,
            "encoder_attention_heads": 4,
            "decoder_attention_heads": 4,
            "encoder_ffn_dim": 256,
            "decoder_ffn_dim": 256,
            "pad_token_id": 0,
            "decoder_start_token_id": 1,
            "bos_token_id": 1,
            "eos_token_id": 1,
            "suppress_tokens": None,
        },
        "model.encoder.conv1 model.encoder.conv2 model.encoder.embed_positions "
        + " ".join(within(f"model.encoder.layers.{layer}", HEARD + "final_layer_norm fc1 fc2") for layer in (0, 1))
        + " model.encoder.layer_norm model.decoder.embed_tokens model.decoder.embed_positions",
        HEARD + HEARD.replace("self_attn", "encoder_attn") + "final_layer_norm fc1 fc2",
        "model.decoder.layer_norm",
        "model.decoder.layers",
    ),
]

# Its widths and sizes of inputs are the spec's own: they are no variables.
COMPARED = (
    "layer_norm1 self_attn.q_proj self_attn.k_proj self_attn.v_proj self_attn.out_proj layer_norm2 mlp.fc1 mlp.fc2"
)
CLIP = Case(
    "clip",
    {"depth": 2, "out": 32},
    "CLIP Model",
    {
        "projection_dim": 32,
        "text_config": {"num_hidden_layers": 2, "projection_dim": 32},
        "vision_config": {"num_hidden_layers": 2, "projection_dim": 32},
    },
    "text_model.embeddings.token_embedding text_model.embeddings.position_embedding "
    + " ".join(within(f"text_model.encoder.layers.{layer}", COMPARED) for layer in (0, 1))
    + " text_model.final_layer_norm text_projection vision_model.embeddings.patch_embedding "
    "vision_model.embeddings.class_embedding@plain vision_model.embeddings.position_embedding "
    "vision_model.pre_layrnorm",
    COMPARED,
    "vision_model.post_layernorm visual_projection logit_scale@plain",
    "vision_model.encoder.layers",
    49408,
)


def turned(weight: np.ndarray) -> np.ndarray:
    """The last 8 columns, pairs of neighbours, as a half of firsts and a half of seconds."""
    return np.concatenate([weight[..., :-8], weight[..., -8::2], weight[..., -7::2]], -1)


PIECES = {
    "third0": lambda w: np.split(w, 3, -1)[0],
    "third1": lambda w: np.split(w, 3, -1)[1],
    "third2": lambda w: np.split(w, 3, -1)[2],
    "inner0": lambda w: w.reshape(*w.shape[:-1], 4, 3, 16)[..., 0, :].reshape(*w.shape[:-1], 64),
    "inner1": lambda w: w.reshape(*w.shape[:-1], 4, 3, 16)[..., 1, :].reshape(*w.shape[:-1], 64),
    "inner2": lambda w: w.reshape(*w.shape[:-1], 4, 3, 16)[..., 2, :].reshape(*w.shape[:-1], 64),
    "half0": lambda w: np.split(w, 2, -1)[0],
    "half1": lambda w: np.split(w, 2, -1)[1],
    "query": lambda w: w[..., :64],
    "key": lambda w: w[..., 64:96],
    "value": lambda w: w[..., 96:],
    "most": lambda w: w[..., :-32],
    "last_but_one": lambda w: w[..., -32:-16],
    "last": lambda w: w[..., -16:],
    "gate": lambda w: np.split(w, 2, -1)[0],
    "up": lambda w: np.split(w, 2, -1)[1],
    "down": lambda w: w,
    "plain": lambda w: w,
    "turned_q": lambda w: turned(w.reshape(*w.shape[:-1], 4, 24)).reshape(w.shape),
    "turned": lambda w: turned(w),
}


def theirs(case: Case, model: Any) -> list[np.ndarray]:
    """The model's tensors in our order and with our axes."""
    state = {name: tensor.detach().numpy() for name, tensor in model.state_dict().items()}
    modules = dict(model.named_modules())
    layers = range(
        sum(name.startswith(f"{case.blocks}.") and name.count(".") == case.blocks.count(".") + 1 for name in modules)
    )
    names = case.before.split()
    names += [f"{case.blocks}.{layer}.{name}" for layer in layers for name in case.block.split()]
    names += case.after.split()
    found = []
    for entry in names:
        name, _, piece = entry.partition("@")
        if piece == "bias":
            found.append(state[f"{name}.bias"])
        elif name not in modules and name not in state:
            continue  # layers differ
        elif name in state:
            found.append(PIECES[piece](state[name] if piece == "plain" else state[name].swapaxes(1, 2)))
        else:
            module = modules[name]
            kind = type(module).__name__
            weight = state[f"{name}.weight"]
            if weight.ndim == 4:
                weight = weight.transpose(2, 3, 1, 0)
            elif weight.ndim == 3:
                weight = weight.transpose(2, 1, 0)
            elif weight.ndim == 2 and kind not in ("Conv1D",) and "Embedding" not in kind:
                weight = weight.T
            if kind.startswith("Gemma") and kind.endswith("RMSNorm"):
                weight = 1 + weight
            take = PIECES.get(piece, lambda w: w)
            found.append(take(weight))
            if f"{name}.bias" in state:
                found.append(take(state[f"{name}.bias"]))
            if f"{name}.e_score_correction_bias" in state:
                found.append(state[f"{name}.e_score_correction_bias"])
    return found


def built(case: Case, suffix: str = "Config", **more: Any) -> Any:
    """The model of transformers with random weights, norms' scales around where they start."""
    family, head = case.model.split()
    torch.manual_seed(0)
    config = getattr(transformers, family + suffix)(**case.config, attn_implementation="eager", **more)
    model = getattr(transformers, family + head)(config).double().eval()
    with torch.no_grad():
        for name, tensor in model.named_parameters():
            if not name.endswith(("A_log", ".D")):
                centre = tensor.ndim == 1 and "norm" in name.lower() and name.endswith("weight") and tensor.mean() > 0.5
                tensor.normal_(float(centre), 0.15)
        for name, buffer in model.named_buffers():
            if name.endswith("e_score_correction_bias"):
                buffer.normal_(0, 0.1)
    return model


def ours(case: Case, graph: Any, model: Any, inputs: dict[str, np.ndarray]) -> dict[str, np.ndarray]:
    """The spec's outputs, with the model's weights."""
    declared = [(path, name, tensor) for path, layer in tensors(graph).items() for name, tensor in layer.items()]
    params: dict[str, dict[str, Any]] = {}
    buffers: dict[str, dict[str, Any]] = {}
    with jax.enable_x64(True):
        for (path, name, tensor), array in zip(declared, theirs(case, model), strict=True):
            assert array.size == tensor.param.size * int(np.prod(tensor.experts)), (path, name)
            (buffers if tensor.is_buffer else params).setdefault(path, {})[name] = jax.numpy.asarray(
                array.reshape(tensor.shape)
            )
        given = {name: jax.numpy.asarray(array) for name, array in inputs.items()}
        outputs, _ = jax.jit(lambda params, inputs: evaluate(graph, params, buffers, inputs))(params, given)
    return {name: np.asarray(value) for name, value in outputs.items()}


@pytest.mark.parametrize("case", CASES, ids=lambda case: f"{case.spec}-{case.model.split()[0]}")
def test_same_outputs(case):
    family = case.model.split()[0]
    more = {"experts_implementation": "eager"} if "experts" in case.block else {}
    model = built(case, "TextConfig" if family == "Gemma3" else "Config", **more)
    tokens = torch.randint(2, case.vocab, (1, T))
    given = {"input_ids": tokens}
    if model.config.is_encoder_decoder:
        given["decoder_input_ids"] = tokens
    if family == "Whisper":
        del given["input_ids"]
        given["input_features"] = torch.randn(1, 80, 3000, dtype=torch.float64)
    with torch.no_grad():
        expected = model(**given)[0][0].numpy()

    graph = load(case.spec, T=T, **case.variables).expand(False, fold=False)
    inputs = {name: tokens[0].numpy() for name in graph.inputs}
    if "types" in inputs:
        inputs["types"] = inputs["types"] * 0
    if "mel" in inputs:
        inputs["mel"] = given["input_features"][0].T.numpy()
    output = next(iter(ours(case, graph, model, inputs).values()))
    spread = np.abs(expected - expected.mean(0)).max()
    assert np.abs(output - expected).max() < TOLERANCE * spread


def test_same_outputs_of_clip():
    model = built(CLIP)
    tokens = torch.randint(2, CLIP.vocab - 2, (1, 77))
    tokens[0, -1] = CLIP.vocab - 1  # the text's end, which transformers looks for and the spec has last
    picture = torch.randn(1, 3, 224, 224, dtype=torch.float64)
    with torch.no_grad():
        found = model(input_ids=tokens, pixel_values=picture)
    expected = {"words": found.text_embeds[0], "seen": found.image_embeds[0], "match": found.logits_per_text[0, 0]}

    graph = load(CLIP.spec, **CLIP.variables).expand(False, fold=False)
    inputs = {"text": tokens[0].numpy(), "picture": picture[0].permute(1, 2, 0).numpy()}
    outputs = ours(CLIP, graph, model, inputs)
    assert outputs.keys() == expected.keys()
    for name, value in expected.items():
        assert np.abs(outputs[name] - value.numpy()).max() < TOLERANCE * np.abs(value.numpy()).max(), name
