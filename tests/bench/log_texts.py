"""The lines that the made logs consist of: what green GPU jobs print, and one line of each kind of failure."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from random import Random

FILES = ("core.py", "gpu_model_runner.py", "kv_cache_utils.py", "parallel_state.py", "scheduler.py", "cuda.py")
MODULES = (
    "v1/core/test_scheduler.py",
    "models/test_registry.py",
    "kernels/attention/test_cache.py",
    "lora/test_add.py",
)
PACKAGES = ("torch", "numpy", "triton", "transformers", "xgrammar", "tokenizers", "aiohttp", "pydantic")


def _hex(rng: Random, digits: int) -> str:
    return f"{rng.getrandbits(digits * 4):0{digits}x}"


def _gib(rng: Random, top: float) -> float:
    return round(rng.uniform(0, top), 2)


def _start(rng: Random) -> str:
    """What an engine says once, at its start."""
    free = (
        f"Free memory on device ({_gib(rng, 80)}/79.14 GiB) on startup. Desired GPU memory utilization is (0.9, 71.22"
    )
    usage = f" GiB). Actual usage is {_gib(rng, 9)} GiB for weight, 1.31 GiB for peak activation."
    return rng.choice(
        (
            f"Model loading took {_gib(rng, 30)} GiB memory and {rng.uniform(0, 90):.6f} seconds",
            f"Available KV cache memory: {_gib(rng, 40)} GiB",
            free + usage,
        )
    )


def _work(rng: Random) -> str:
    rate = f"Avg prompt throughput: {rng.uniform(0, 9000):.1f} tokens/s, Running: {rng.randint(0, 256)} reqs, 0 errors"
    return rng.choice(
        (
            f"Resolved architecture: {rng.choice(('Gemma3', 'Qwen2', 'Llama', 'Mixtral'))}ForCausalLM",
            f"Using max model len {rng.choice((1024, 2048, 8192))}",
            f"GPU KV cache size: {rng.randint(1000, 2_000_000):,} tokens",
            rate,
            f"Request cmpl-{_hex(rng, 32)} finished, reason: length",
        )
    )


def _engine(rng: Random) -> str:
    message = _start(rng) if rng.random() < 0.01 else _work(rng)
    process = rng.choice(("", "(EngineCore pid=904) ", f"(Worker_TP{rng.randint(0, 7)} pid={rng.randint(200, 9999)}) "))
    clock = f"07-13 09:{rng.randint(10, 59)}:{rng.randint(10, 59)}"
    return f"{process}INFO {clock} [{rng.choice(FILES)}:{rng.randint(20, 1900)}] {message}"


def _test(rng: Random) -> str:
    name = f"{rng.choice(MODULES)}::test_{_hex(rng, 6)}[{rng.choice(('True', 'False'))}-{rng.randint(1, 512)}]"
    return f"{name} {rng.choices(('PASSED', 'SKIPPED (needs two devices)'), (9, 1))[0]}"


def _progress(rng: Random) -> str:
    steps = range(0, 101, rng.choice((5, 10, 20)))
    return "\r" + "\r".join(
        f"Loading safetensors checkpoint shards: {step:3}% Completed | {step // 5}/20" for step in steps
    )


def _install(rng: Random) -> str:
    name, version = rng.choice(PACKAGES), f"{rng.randint(0, 9)}.{rng.randint(0, 40)}"
    return rng.choice(
        (
            f"Requirement already satisfied: {name}>={version} in /usr/lib/python3",
            f"Downloading {name}-{version}-cp312-cp312-manylinux_2_28_x86_64.whl ({rng.randint(1, 900)} MB)",
            f"{_hex(rng, 12)}: Pull complete",
        )
    )


def _noise(rng: Random) -> str:
    return rng.choice(
        (
            "",
            f"  warnings.warn(f'retry {rng.randint(1, 5)} of 5 failed, error={_hex(rng, 8)}')",
            f"[rank0]:[W713 09:12:04.{rng.randint(10**8, 10**9)} ProcessGroupNCCL.cpp:1575] Warning: not destroyed",
            f"tests/{rng.choice(MODULES)}: {rng.randint(1, 40)} warnings",
            f"    raise ValueError('expected failure in {_hex(rng, 6)}')  # caught by the test",
            f"[{rng.randint(1, 4000)}/4012] Building CUDA object CMakeFiles/_C.dir/csrc/{_hex(rng, 8)}.cu.o",
            f"DEBUG 07-13 09:10:11 [shm_broadcast.py:{rng.randint(1, 900)}] Connecting to ipc:///tmp/{_hex(rng, 16)}",
        )
    )


_CHATTER: tuple[tuple[Callable[[Random], str], int], ...] = (
    (_engine, 50), (_test, 2), (_noise, 37), (_install, 10), (_progress, 1),
)  # fmt: skip


def chatter(rng: Random, lines: int) -> Iterator[str]:
    """Lines of a green job; words like "error" and "failed" are among them, as they are in life."""
    kinds = [kind for kind, _ in _CHATTER]
    for kind in rng.choices(kinds, [weight for _, weight in _CHATTER], k=lines):
        yield kind(rng)


def _free_memory(rng: Random) -> str:
    utilization = rng.choice((0.3, 0.47, 0.5, 0.9, 0.92))
    total = rng.choice((22.05, 79.14, 139.8))
    return (
        f"ValueError: Free memory on device cuda:{rng.randint(0, 3)} ({_gib(rng, total * utilization)}/{total} GiB)"
        f" on startup is less than desired GPU memory utilization ({utilization}, {round(total * utilization, 2)} GiB)."
        " Decrease GPU memory utilization or reduce GPU memory used by other processes."
    )


def _out_of_memory(rng: Random) -> str:
    return (
        f"torch.OutOfMemoryError: CUDA out of memory. Tried to allocate {_gib(rng, 20)} GiB. GPU 0 has a total"
        f" capacity of 22.05 GiB of which {_gib(rng, 3)} GiB is free. Process {rng.randint(100, 9999)} has 9.5 GiB"
        " memory in use. Of the allocated memory 10.10 GiB is allocated by PyTorch, and 64.20 MiB is reserved by"
        " PyTorch but unallocated."
    )


def _profiling(rng: Random) -> str:
    free = _gib(rng, 60)
    return (
        f"AssertionError: Error in memory profiling. Initial free memory {free} GiB, current free memory"
        f" {round(free + 4, 2)} GiB. This happens when other processes sharing the same container release GPU memory"
        " while vLLM is profiling during initialization."
    )


def _no_blocks(_rng: Random) -> str:
    return (
        "ValueError: No available memory for the cache blocks. Try increasing `gpu_memory_utilization` when"
        " initializing the engine."
    )


def _nccl(_rng: Random) -> str:
    return (
        "torch.distributed.DistBackendError: NCCL error in: /pytorch/torch/csrc/distributed/c10d/NCCLUtils.cpp:93,"
        " unhandled cuda error (run with NCCL_DEBUG=INFO for details), NCCL version 2.28.9"
    )


def _hub(rng: Random) -> str:
    return (
        "requests.exceptions.HTTPError: 429 Client Error: Too Many Requests for url:"
        f" https://huggingface.co/api/models/org/{_hex(rng, 6)}/tree/main?recursive=True"
    )


def _disk(rng: Random) -> str:
    return f"OSError: [Errno 28] No space left on device: '/data/cache/{_hex(rng, 12)}'"


def _illegal(_rng: Random) -> str:
    return "torch.AcceleratorError: CUDA error: an illegal memory access was encountered"


FAILURES: tuple[Callable[[Random], str], ...] = (
    _free_memory, _free_memory, _out_of_memory, _profiling, _no_blocks, _nccl, _hub, _disk, _illegal,
)  # fmt: skip
"""One line each, in the formats of the real tools."""
