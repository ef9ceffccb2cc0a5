"""Models whose layers look back over a window, but for every sixth: a real one, and one that is nothing but a config.

vLLM gives each kind of layer KV-cache groups of its own; that is what the hybrid KV cache manager is for.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

WINDOW = 512
"""Tokens that a sliding layer of Gemma 3 1B looks back."""
_LAYERS = 26
_EVERY = 6
_VOCABULARY = 512
_SPECIAL = ("<pad>", "<eos>", "<bos>", "<unk>")


@dataclass(frozen=True)
class Model:
    """A model as vLLM is given it: its name or folder, its window in tokens, and what else to tell the engine."""

    name: str
    window: int
    arguments: dict[str, Any] = field(default_factory=dict)


def real_model(name: str) -> Model:
    """A model of the hub, or of a folder, with its weights."""
    from transformers import AutoConfig

    return Model(name, AutoConfig.from_pretrained(name).get_text_config().sliding_window, {"dtype": "bfloat16"})


def tiny_model(folder: Path) -> Model:
    """Gemma 3 1B's layers at a hundredth of their width, written to `folder`; the weights are made up at loading."""
    folder.mkdir(parents=True)
    for name, content in _files().items():
        (folder / name).write_text(json.dumps(content, indent=1), encoding="utf-8")
    return Model(str(folder), WINDOW, {"dtype": "bfloat16", "load_format": "dummy"})


def _files() -> dict[str, Any]:
    kinds = ["full_attention" if layer % _EVERY == _EVERY - 1 else "sliding_attention" for layer in range(_LAYERS)]
    ids = {"pad_token_id": 0, "eos_token_id": 1, "bos_token_id": 2}
    named = {f"{name}_token": f"<{name}>" for name in ("pad", "eos", "bos", "unk")}
    config = {
        "architectures": ["Gemma3ForCausalLM"],
        "model_type": "gemma3_text",
        "torch_dtype": "bfloat16",
        "vocab_size": _VOCABULARY,
        "hidden_size": 128,
        "intermediate_size": 256,
        "num_hidden_layers": _LAYERS,
        "num_attention_heads": 4,
        "num_key_value_heads": 1,
        "head_dim": 256,
        "hidden_activation": "gelu_pytorch_tanh",
        "max_position_embeddings": 32768,
        "query_pre_attn_scalar": 256,
        "rms_norm_eps": 1e-6,
        "rope_theta": 1_000_000.0,
        "rope_local_base_freq": 10_000.0,
        "sliding_window": WINDOW,
        "sliding_window_pattern": _EVERY,
        "layer_types": kinds,
        "tie_word_embeddings": True,
        "attention_bias": False,
        **ids,
    }
    words = [*_SPECIAL, *(f"w{number}" for number in range(_VOCABULARY - len(_SPECIAL)))]
    tokenizer = {
        "version": "1.0",
        "truncation": None,
        "padding": None,
        "added_tokens": [
            {
                "id": number, "content": word, "single_word": False, "lstrip": False, "rstrip": False,
                "normalized": False, "special": True,
            }
            for number, word in enumerate(_SPECIAL)
        ],
        "normalizer": None,
        "pre_tokenizer": {"type": "Whitespace"},
        "post_processor": None,
        "decoder": None,
        "model": {"type": "WordLevel", "vocab": {word: at for at, word in enumerate(words)}, "unk_token": "<unk>"},
    }  # fmt: skip
    return {
        "config.json": config,
        "generation_config.json": ids,
        "tokenizer.json": tokenizer,
        "tokenizer_config.json": {"tokenizer_class": "PreTrainedTokenizerFast", "model_max_length": 2048, **named},
        "special_tokens_map.json": named,
    }
