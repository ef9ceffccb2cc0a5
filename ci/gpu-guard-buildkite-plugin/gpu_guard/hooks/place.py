"""Where a job's command runs, seen from the agent: on this machine, or in a container that other plugins start.

The docker plugin mounts the checkout and starts the container with the variables that its options name; which ones
reach it depends on those options, which the agent lists in BUILDKITE_PLUGINS.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Optional

from gpu_guard.options import plugins

LIST = "GPU_GUARD_ENV"
"""The variable that holds the names of all that a container needs: what `env-propagation-list` takes."""

_CONTAINERS = ("docker", "docker-compose")
_DOCKER_WORKDIR = "/workdir"
_ON = (True, "true", "on", "1", 1)


@dataclass(frozen=True)
class Place:
    """`plugin` is empty where the command runs here; `checkout` is its path there, None where it cannot be seen.

    `all_named` says that every name in GPU_GUARD_ENV gets in, `env_file` that every name in BUILDKITE_ENV_FILE does;
    `names` get in on their own.
    """

    plugin: str
    checkout: Optional[str]
    all_named: bool = False
    env_file: bool = False
    names: frozenset[str] = frozenset()

    def path(self, text: str, checkout: str) -> str:
        """A path below the checkout as the command sees it; any other text is left as it is."""
        inside = text.startswith(f"{checkout}/") and self.checkout is not None
        return f"{self.checkout}{text[len(checkout) :]}" if inside else text

    def lacks(self, names: Iterable[str], in_file: Iterable[str]) -> list[str]:
        """Those of `names` that will not get in; `in_file` are the ones that the guard puts into the agent's file."""
        if not self.plugin or self.all_named:
            return []
        arriving = self.names | (frozenset(in_file) if self.env_file else frozenset())
        return sorted(set(names) - arriving)


def place(environ: Mapping[str, str], checkout: str, told: Optional[str]) -> Place:
    """Find out. `told` is where the pipeline says that the container sees the checkout."""
    for name, options in plugins(environ.get("BUILDKITE_PLUGINS", "")):
        if name in _CONTAINERS:
            return _container(name, options if isinstance(options, dict) else {}, told)
    return Place("", told or checkout)


def _container(plugin: str, options: Mapping[str, Any], told: Optional[str]) -> Place:
    inside = told
    if plugin == "docker" and inside is None and _first(options, "mount-checkout", default=True) in _ON:
        inside = str(options.get("workdir") or _DOCKER_WORKDIR)
    listed = [entry for entry in _entries(options) if isinstance(entry, str)]
    return Place(
        plugin,
        inside,
        all_named=_first(options, "env-propagation-list") == LIST,
        env_file=_first(options, "propagate-environment") in _ON,
        names=frozenset(entry.partition("=")[0] for entry in listed),
    )


def _entries(options: Mapping[str, Any]) -> list[Any]:
    found = [options.get("environment"), options.get("env")]
    return [entry for value in found for entry in (value if isinstance(value, list) else [value])]


def _first(options: Mapping[str, Any], name: str, *, default: object = None) -> Any:
    """The agent makes one variable of `a-b` and `a_b`, so people write either."""
    return options.get(name, options.get(name.replace("-", "_"), default))
