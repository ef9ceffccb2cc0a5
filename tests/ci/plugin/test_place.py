"""Where a command runs and what reaches it there, told from the list of plugins that the agent hands to each hook."""

from __future__ import annotations

import json
import re
import textwrap

import pytest
import yaml

from ci.plugin.conftest import PLUGIN
from gpu_guard import options
from gpu_guard.hooks.place import place
from gpu_guard.hooks.prior import IDENTITY, RECORD
from gpu_guard.recorder import header
from gpu_guard.recorder import options as switches

HERE = "/builds/a-pipeline"
NAMES = ["PYTHONPATH", "GPU_GUARD_RECORD"]
DOCKER = "https://github.com/buildkite-plugins/docker-buildkite-plugin#v5.2.0"


def found(location: str, options: object, told: str | None = None):
    plugins = [{"./ci/gpu-guard-buildkite-plugin": {}}, {location: options}]
    return place({"BUILDKITE_PLUGINS": json.dumps(plugins)}, HERE, told)


def test_without_a_container_the_command_runs_here() -> None:
    assert place({}, HERE, None).checkout == HERE
    assert found("kubernetes#v1", {"podSpec": {}}).checkout == HERE
    assert place({}, HERE, None).lacks(NAMES, []) == []


@pytest.mark.parametrize(
    ("options", "checkout"),
    [
        ({"image": "x"}, "/workdir"),
        ({"image": "x", "workdir": "/app"}, "/app"),
        ({"image": "x", "mount-checkout": False}, None),
        ({"image": "x", "mount_checkout": "false"}, None),
        (None, "/workdir"),
    ],
    ids=["by default", "workdir", "not mounted", "not mounted, as text", "no options"],
)
def test_the_docker_plugin_says_where_it_mounts_the_checkout(options: object, checkout: str | None) -> None:
    assert found(DOCKER, options).checkout == checkout


def test_docker_compose_does_not_say_it_so_the_step_must() -> None:
    assert found("docker-compose#v5.3.0", {"run": "app"}).checkout is None
    assert found("docker-compose#v5.3.0", {"run": "app"}, "/app").checkout == "/app"
    assert found(DOCKER, {"image": "x", "mount-checkout": False}, "/mounted").checkout == "/mounted"


@pytest.mark.parametrize(
    ("options", "lacking"),
    [
        ({}, NAMES),
        ({"environment": ["PYTHONPATH", "GPU_GUARD_RECORD=/x"]}, []),
        ({"environment": "PYTHONPATH"}, ["GPU_GUARD_RECORD"]),
        ({"env-propagation-list": "GPU_GUARD_ENV"}, []),
        ({"env-propagation-list": "ANOTHER"}, NAMES),
        ({"propagate-environment": True}, ["PYTHONPATH"]),
        ({"propagate_environment": "true", "environment": ["PYTHONPATH", None, 3]}, []),
    ],
    ids=["nothing", "names", "one name", "the list", "another list", "the job's own", "the job's own and a name"],
)
def test_what_a_container_lacks_follows_from_the_docker_plugins_options(options: dict, lacking: list[str]) -> None:
    assert found(DOCKER, options).lacks(NAMES, ["GPU_GUARD_RECORD"]) == sorted(lacking)


def test_a_file_in_the_checkout_is_named_as_the_container_sees_it() -> None:
    docker = found(DOCKER, {"image": "x"})
    assert docker.path(f"{HERE}/ci/profiles.json", HERE) == "/workdir/ci/profiles.json"
    assert docker.path("/etc/profiles.json", HERE) == "/etc/profiles.json"
    assert found(DOCKER, {"mount-checkout": False}).path(f"{HERE}/a", HERE) == f"{HERE}/a"


def test_the_patch_in_the_readme_lets_everything_in() -> None:
    (patch,) = re.findall(r"```diff\n(.*?)```", (PLUGIN / "README.md").read_text(), re.DOTALL)
    patched = textwrap.dedent("".join(line[1:] + "\n" for line in patch.splitlines()))
    plugins = yaml.safe_load(patched)["plugins"]
    options.read(next(iter(plugins[0].values())))
    where = place({"BUILDKITE_PLUGINS": json.dumps(plugins)}, HERE, None)
    assert where.checkout == "/workdir"
    assert where.lacks([*NAMES, "GPU_GUARD_SET_UTILIZATION"], ["GPU_GUARD_RECORD", "GPU_GUARD_SET_UTILIZATION"]) == []
    unpatched = yaml.safe_load(
        textwrap.dedent("".join(f"{line[1:]}\n" for line in patch.splitlines() if line[0] == " "))
    )
    assert "PYTHONPATH" not in unpatched["plugins"][0]["docker#v5.2.0"]["environment"]


@pytest.mark.parametrize("text", ["", "null", "{}", "no JSON", '[3, null, {"docker#v1": 7}]', '"docker"'])
def test_whatever_stands_in_the_list_of_plugins_there_is_a_place(text: str) -> None:
    assert place({"BUILDKITE_PLUGINS": text}, HERE, None).checkout in (HERE, "/workdir")


def test_names_that_stand_in_hook_and_recorder_are_the_same() -> None:
    """The hook runs where pytest is not, so it cannot ask the recorder."""
    wanted = {name for name in header.ENVIRONMENT if name.startswith("BUILDKITE_")}
    assert set(IDENTITY) == wanted | {"BUILDKITE_JOB_ID"}
    assert RECORD == switches.RECORD
