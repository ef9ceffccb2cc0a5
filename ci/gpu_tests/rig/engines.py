"""Engines of vLLM that start on an emptied card and give their memory back in any case.

Nothing here asks for vLLM's version: what a version lacks is looked for and left out.
"""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from .models import Model

if TYPE_CHECKING:
    from vllm import LLM

PROMPT = 1401
"""Tokens: more than two windows, and no multiple of a block."""
_TOKEN = 7
_REMOTE_DECODE = {
    "do_remote_decode": True,
    "do_remote_prefill": False,
    "remote_engine_id": None,
    "remote_block_ids": None,
    "remote_host": None,
    "remote_port": None,
}


@contextmanager
def engine(model: Model, **arguments: Any) -> Iterator[LLM]:
    """An engine with the NIXL connector and the hybrid KV cache manager."""
    from vllm import LLM
    from vllm.config import KVTransferConfig

    empty()
    llm = None
    try:
        llm = LLM(
            model=model.name,
            # Left out, 0.19 turns the hybrid manager off beside a connector; 0.33 has it on anyway.
            disable_hybrid_kv_cache_manager=False,
            kv_transfer_config=KVTransferConfig(kv_connector="NixlConnector", kv_role="kv_both"),
            **model.arguments,
            **arguments,
        )
        yield llm
    finally:
        if llm is not None:
            # `del` is not enough where the engine lives in this process: vLLM's caches keep it.
            llm.llm_engine.engine_core.shutdown()
        _forget_distributed()
        empty()


def prefilled(llm: LLM, tokens: int = PROMPT) -> list[int]:
    """How many KV blocks each group hands over after a prompt whose decoding is somebody else's."""
    from vllm import SamplingParams

    asked = SamplingParams(
        temperature=0.0, max_tokens=1, ignore_eos=True, extra_args={"kv_transfer_params": dict(_REMOTE_DECODE)}
    )
    (answer,) = llm.generate([{"prompt_token_ids": [_TOKEN] * tokens}], asked)
    handed = answer.kv_transfer_params
    assert handed is not None, "the connector hands nothing over"
    return [len(group) for group in handed["remote_block_ids"]]


def managers(llm: LLM) -> list[Any] | None:
    """The scheduler's KV cache managers, one a group; None where the engine has a process of its own."""
    core = getattr(llm.llm_engine.engine_core, "engine_core", None)
    if core is None:
        return None
    return list(core.scheduler.kv_cache_manager.coordinator.single_type_managers)


def empty() -> None:
    """Garbage collected and torch's cache emptied, so that the engine finds all that this process can spare."""
    import torch

    gc.collect()
    if torch.cuda.is_initialized():
        torch.cuda.empty_cache()


def _forget_distributed() -> None:
    """Process groups, and its reading of the environment, stay with vLLM until it is told to drop them."""
    from vllm.distributed import parallel_state

    if forget := getattr(parallel_state, "cleanup_dist_env_and_memory", None):
        forget()
