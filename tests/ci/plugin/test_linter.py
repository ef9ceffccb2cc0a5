"""What Buildkite's plugin linter checks, with jsonschema: the linter itself is published as a container image only."""

from __future__ import annotations

import re
from typing import Any

import jsonschema
import pytest
import yaml

from ci.plugin.conftest import PLUGIN, ROOT

DEFINITION = yaml.safe_load((PLUGIN / "plugin.yml").read_text())
README = (PLUGIN / "README.md").read_text()
NAME = "gpu-guard"

DEFINITION_SCHEMA = {
    "type": "object",
    "required": ["name", "description", "author", "requirements", "configuration"],
    "additionalProperties": False,
    "properties": {
        "name": {"type": "string"},
        "description": {"type": "string"},
        "author": {"type": "string"},
        "requirements": {"type": "array", "items": {"type": "string"}},
        "configuration": {
            "type": "object",
            "required": ["properties"],
            "properties": {
                "properties": {"type": "object"},
                "required": {"type": "array"},
                "additionalProperties": {"type": "boolean"},
            },
        },
    },
}


def examples() -> list[tuple[str, Any]]:
    """Location and options of this plugin in each step of each YAML block of the README."""
    found = []
    for block in re.findall(r"```ya?ml\n(.*?)```", README, re.DOTALL):
        document = yaml.safe_load(block)
        steps = document.get("steps", []) if isinstance(document, dict) else []
        steps = [inner for step in steps for inner in step.get("steps", [step])]
        for plugin in [plugin for step in steps for plugin in step.get("plugins", [])]:
            pairs = plugin.items() if isinstance(plugin, dict) else [(plugin, None)]
            found += [pair for pair in pairs if re.search(rf"(^|/){NAME}(-buildkite-plugin)?(\.git)?(#.+)?$", pair[0])]
    return found


def test_the_definition_has_what_the_linter_demands() -> None:
    jsonschema.validate(DEFINITION, DEFINITION_SCHEMA)


def test_the_configuration_is_itself_a_schema() -> None:
    jsonschema.Draft202012Validator.check_schema(DEFINITION["configuration"])
    assert DEFINITION["configuration"]["additionalProperties"] is False


def test_the_readme_has_examples() -> None:
    assert len(examples()) >= 2


@pytest.mark.parametrize(("location", "options"), examples(), ids=[location for location, _ in examples()])
def test_an_example_in_the_readme_is_valid(location: str, options: Any) -> None:
    jsonschema.validate({} if options is None else options, {**DEFINITION["configuration"], "type": "object"})
    assert location.startswith("./") or "#v" in location, "a plugin from elsewhere is pinned"


def test_a_pinned_example_names_the_release_that_this_is() -> None:
    release = re.search(r'__version__ = "(.+)"', (PLUGIN / "gpu_guard" / "__init__.py").read_text())
    assert release is not None
    pinned = {location.partition("#v")[2] for location, _ in examples()} - {""}
    assert pinned == {release[1]}


def test_there_is_no_command_hook_and_hooks_are_short_bash() -> None:
    hooks = sorted((PLUGIN / "hooks").iterdir())
    assert [hook.name for hook in hooks] == ["pre-command", "pre-exit"]
    for hook in hooks:
        lines = hook.read_text().splitlines()
        assert lines[0] == "#!/usr/bin/env bash"
        assert len(lines) <= 15
        assert hook.stat().st_mode & 0o111


def test_the_steps_of_our_own_pipeline_use_the_plugin_rightly() -> None:
    steps = yaml.safe_load((ROOT / "pipeline.yml").read_text())["steps"]
    used = [plugin for step in steps for plugin in step.get("plugins", [])]
    (options,) = [next(iter(plugin.values())) for plugin in used if f"./ci/{NAME}-buildkite-plugin" in plugin]
    jsonschema.validate(options, {**DEFINITION["configuration"], "type": "object"})
