"""The image of a job, from commands as people write them."""

from __future__ import annotations

import pytest

from flake_report.rate.images import image_of

IMAGES = {
    "a tag": ("docker run acme/ci:build-7 pytest", "acme/ci"),
    "a registry with a port, after switches": ("sudo docker run --rm -it acme.io:5000/a/b:1.2 sh", "acme.io:5000/a/b"),
    "a digest": (f"podman run acme/ci@sha256:{'0f' * 32} x", "acme/ci"),
    "mounts and ports are no images": ("docker run -v /a:/a -p 80:8080 --gpus all -e A=b:c acme/ci:1 a:b", "acme/ci"),
    "an option with its value": ("docker run --name=x:y acme/ci:1", "acme/ci"),
    "no tag": ("docker run acme/ci pytest", ""),
    "no container": ("pytest tests/a.py::b", ""),
    "another command after it": ("docker run acme && echo a:b", ""),
    "nothing": ("", ""),
}  # fmt: skip


@pytest.mark.parametrize(("command", "image"), IMAGES.values(), ids=IMAGES.keys())
def test_the_image_is_the_one_that_the_command_names(command, image) -> None:
    assert image_of(command) == image
