"""The options: one table, which plugin.yml, the README and the check agree with; every mistake is named at once."""

from __future__ import annotations

import json
import re

import jsonschema
import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from ci.plugin.conftest import PLUGIN
from gpu_guard import guard, options
from gpu_guard.options import OPTIONS, Options, OptionsError, from_environment, plugin_name, read

DEFINITION = yaml.safe_load((PLUGIN / "plugin.yml").read_text())
README = (PLUGIN / "README.md").read_text()
DEFAULTS = Options(
    profile=None, profiles_file=None, utilization=None, min_free=None, wait=60, on_contention="refuse",
    on_no_gpu="refuse", clean_own_leftovers=False, record=True, annotate=True, checkout_in_container=None,
)  # fmt: skip

SCALARS = st.none() | st.booleans() | st.integers(-10, 10**6) | st.floats() | st.text(max_size=8)
VALUES = (
    SCALARS | st.sampled_from(["refuse", "warn", "pass", "nixl-hma", 0.3, 60.0, True]) | st.lists(SCALARS, max_size=2)
)


def mistakes(found: object) -> list[str]:
    with pytest.raises(OptionsError) as caught:
        read(found)
    return caught.value.mistakes


def test_plugin_yml_says_of_the_options_what_the_table_says() -> None:
    assert DEFINITION["configuration"] == options.schema()
    assert list(DEFINITION["configuration"]["properties"]) == [option.name for option in OPTIONS]


def test_the_readme_has_a_row_for_each_option_and_no_other() -> None:
    def default(value: object) -> str:
        return "" if value is None else f"`{json.dumps(value)}`".replace('"', "")

    rows = re.findall(r"^\| `([a-z-]+)` \| ([a-z, |\\]+) \|(.*?)\| (.*) \|$", README, re.MULTILINE)
    takes = {option.name: ", ".join(option.choices) or option.kind for option in OPTIONS}
    assert [(name, kind, said.strip(), meaning) for name, kind, said, meaning in rows] == [
        (option.name, takes[option.name], default(option.default), option.meaning) for option in OPTIONS
    ]


def test_a_plugin_without_options_has_the_defaults() -> None:
    assert read(None) == read({}) == DEFAULTS


def test_every_mistake_is_named_in_one_go_with_what_would_be_right() -> None:
    wrong = {
        "utilisation": 0.3, "utilization": 1.5, "min-free": 0, "wait": -1, "on-contention": "wait", "record": "true",
        "profile": "", "on_no_gpu": "pass",
    }  # fmt: skip
    assert mistakes(wrong) == [
        "utilisation: there is no such option; utilization is meant?",
        "on_no_gpu: there is no such option; on-no-gpu is meant?",
        'profile: must not be empty, not ""',
        "utilization: must be above 0 and at most 1, not 1.5",
        "min-free: must be above 0 and at most 4096, not 0",
        "wait: must be 0 or more and at most 86400, not -1",
        'on-contention: must be refuse or warn, not "wait"',
        'record: must be true or false, without quotes, not "true"',
    ]


@given(st.dictionaries(st.sampled_from([option.name for option in OPTIONS]) | st.text(max_size=6), VALUES, max_size=6))
def test_the_check_refuses_exactly_what_the_schema_refuses(found: dict) -> None:
    schema = {**DEFINITION["configuration"], "type": "object"}
    finite = {key: value for key, value in found.items() if not isinstance(value, float) or abs(value) < 1e300}
    try:
        read(finite)
        passed = True
    except OptionsError:
        passed = False
    assert passed == jsonschema.Draft202012Validator(schema).is_valid(finite)


def test_numbers_beyond_all_measure_are_refused_like_others() -> None:
    assert mistakes({"wait": 10**400}) == [f"wait: must be 0 or more and at most 86400, not 1{'0' * 36}..."]
    assert mistakes({"utilization": float("nan")}) == ["utilization: must be a number, not NaN"]


@pytest.mark.parametrize("depth", [100, 800, 950, 990, 100_000])
def test_options_nested_beyond_all_measure_are_refused_like_others(depth: int) -> None:
    given = '{"wait":' + "[" * depth + "]" * depth + "}"
    with pytest.raises(OptionsError):
        from_environment({"BUILDKITE_PLUGIN_CONFIGURATION": given})
    assert len(options.plugins(f"[{given}]")) <= 1


@pytest.mark.parametrize("found", ["a text", [1], 3, True], ids=repr)
def test_options_that_are_no_names_and_values_are_refused(found: object) -> None:
    assert len(mistakes(found)) == 1


def test_options_come_from_the_agents_json() -> None:
    assert from_environment({"BUILDKITE_PLUGIN_CONFIGURATION": '{"wait": 5}'}).wait == 5
    assert from_environment({"BUILDKITE_PLUGIN_CONFIGURATION": "null"}) == DEFAULTS
    with pytest.raises(OptionsError, match="is no JSON"):
        from_environment({"BUILDKITE_PLUGIN_CONFIGURATION": "{"})


def test_without_them_the_list_of_all_plugins_is_read() -> None:
    listed = [
        {"docker#v5.2.0": {"image": "x"}},
        {"https://example.com/o/gpu-guard-buildkite-plugin.git#v1": {"wait": 7}},
    ]
    assert from_environment({"BUILDKITE_PLUGINS": json.dumps(listed)}).wait == 7
    assert from_environment({"BUILDKITE_PLUGINS": "no JSON"}) == DEFAULTS


@pytest.mark.parametrize(
    ("location", "name"),
    [
        ("docker#v5.2.0", "docker"),
        ("https://github.com/buildkite-plugins/docker-buildkite-plugin#v5.2.0", "docker"),
        ("ssh://git@example.com/o/docker-buildkite-plugin.git#v5.13.0", "docker"),
        ("./ci/gpu-guard-buildkite-plugin", "gpu-guard"),
        ("https://example.com/o/r.git/ci/gpu-guard-buildkite-plugin#v1", "gpu-guard"),
    ],
)
def test_a_plugin_is_named_by_the_last_part_of_its_location(location: str, name: str) -> None:
    assert plugin_name(location) == name


def test_the_exit_statuses_that_the_readme_tells_are_those_of_the_guard() -> None:
    assert f"exits {guard.CONTENTION}" in README
    assert f"exits {guard.WRONG}" in README
