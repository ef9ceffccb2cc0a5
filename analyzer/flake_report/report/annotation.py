"""A build's triage as a Buildkite annotation: what is new first, what is known in one line each, what to do.

What one may hold stands in <https://buildkite.com/docs/agent/v3/cli-annotate>: at most 1 MiB of UTF-8, GitHub's
Markdown and a few HTML elements, `artifact://` for images and links of the build.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from enum import StrEnum

from flake_report.model.evidence import Job
from flake_report.model.known import KnownFailures
from flake_report.model.rate import Variant
from flake_report.model.triage import BuildFailure, FailureKind, Recovered, Triage

from .explanation import memory_line
from .links import job_url
from .markdown import code, fitted, link, plain
from .words import plural

LIMIT = 1024 * 1024
"""Bytes of an annotation at most; Buildkite refuses a larger one whole."""

SHOWN = 50
"""Failures of one kind that are listed: with more of them nobody reads on."""

ARTIFACTS = 10
"""Artifacts that Buildkite shows or links in one annotation at most."""

_IMAGES = (".png", ".svg", ".jpg", ".jpeg", ".gif")
_UNSAFE = re.compile(r"[^A-Za-z0-9/._~-]")
"""What a path of an artifact may not hold as it is, where it stands in an attribute."""

_UUID = "0123456789abcdef-"

HEADS = {
    FailureKind.NEW: "New",
    FailureKind.REGRESSION: "Broken since an earlier build",
    FailureKind.UNCLEAR: "Unclear",
    FailureKind.GPU_MEMORY: "GPU memory",
    FailureKind.GPU: "GPU",
    FailureKind.INFRA: "Infrastructure",
    FailureKind.DEPENDENCY: "Dependencies",
    FailureKind.AGENT: "Agents",
    FailureKind.FLAKE: "Known flakes",
}
"""What stands above the failures of a kind."""


class Style(StrEnum):
    """How Buildkite colours an annotation."""

    ERROR = "error"
    WARNING = "warning"
    INFO = "info"
    SUCCESS = "success"


def style(found: Triage) -> Style:
    """By the worst that happened: red only where somebody must look."""
    kinds = {failure.kind for failure in found.failures}
    if kinds & {FailureKind.NEW, FailureKind.REGRESSION, FailureKind.UNCLEAR}:
        return Style.ERROR
    if kinds:
        return Style.WARNING
    return Style.INFO if found.recovered or not found.jobs else Style.SUCCESS


def to_json(found: Triage) -> dict[str, object]:
    """The stable keys of `annotate --format json` that tell of the build."""
    return {
        "jobs": found.jobs,
        "tests": found.tests,
        "compared_with_builds": found.known.builds if found.known else None,
        "failures": [
            {
                "kind": failure.kind.value,
                **_where(failure.variant, failure.job),
                "message": failure.message,
                "why": failure.why,
                "advice": failure.advice,
                "signature": failure.signature,
                "seen": failure.seen or None,
                "owner": failure.owner,
            }
            for failure in found.failures
        ],
        "recovered": [
            {**_where(one.variant, one.job), "message": one.message, "flake": one.flake} for one in found.recovered
        ],
    }


def _where(variant: Variant | None, job: Job) -> dict[str, object]:
    step = (variant.step if variant else "") or job.step
    return {"test": str(variant.test) if variant else None, "step": step, "queue": job.queue, "job": job.id}


def headline(found: Triage) -> str:
    """One line: how many failures there are, and of which kinds."""
    ran = f"{plural(found.tests, 'test')} in {plural(found.jobs, 'job')}"
    if not found.jobs:
        return "no test results were found in this build"
    if not found.failures:
        again = f" · {plural(len(found.recovered), 'test')} passed when tried again" if found.recovered else ""
        return f"no test failed in the end: {ran}{again}"
    counted = Counter(failure.kind for failure in found.failures)
    told = " · ".join(f"{counted[kind]:,} {kind.value}" for kind in FailureKind if counted[kind])
    return f"{plural(len(found.failures), 'failure')} of {ran}: {told}"


def annotation(found: Triage, artifacts: Sequence[str] = (), limit: int = LIMIT) -> str:
    """The annotation's text; `artifacts` are paths of files of this build: images are shown, others linked."""
    by_kind: dict[FailureKind, list[BuildFailure]] = defaultdict(list)
    for failure in found.failures:
        by_kind[failure.kind].append(failure)
    sections = [
        (f"#### {HEADS[kind]}: {len(by_kind[kind]):,}\n", _items(kind, by_kind[kind], found)) for kind in FailureKind
    ]
    sections.append(
        (
            f"#### Passed when tried again: {len(found.recovered):,}\n",
            [_recovered(one, found) for one in found.recovered],
        )
    )
    tail = "\n".join(shown_artifacts(artifacts))
    return fitted("\n".join(_head(found)), sections, tail, limit, SHOWN)


def shown_artifacts(paths: Sequence[str]) -> Iterator[str]:
    """A line for each artifact, blank lines around it: an image is a block of its own."""
    for path in paths[:ARTIFACTS]:
        place = _UNSAFE.sub(_quoted, path)
        if path.lower().endswith(_IMAGES):
            yield f'\n<img src="artifact://{place}" alt="{place}">'
        else:
            yield f'\n<a href="artifact://{place}">{code(path)}</a>'


def _quoted(found: re.Match[str]) -> str:
    return "".join(f"%{byte:02X}" for byte in found[0].encode("utf-8", "replace"))


def _head(found: Triage) -> Iterator[str]:
    line = headline(found)
    yield f"**{line[0].upper()}{line[1:]}**"
    yield ""
    yield _known(found.known)
    yield ""


def _known(known: KnownFailures | None) -> str:
    if known is None:
        return "There was no history to compare with: nothing can be called new, and nothing a flake."
    days = " to ".join(dict.fromkeys(f"{at:%Y-%m-%d}" for at in (known.oldest, known.newest) if at))
    what = " · ".join(
        part for part in (plural(known.builds, "build"), code(known.branch) if known.branch else "", days) if part
    )
    left = (
        f" {plural(known.left_out, 'known test')} had no room in that file and would look new."
        if known.left_out
        else ""
    )
    return f"Compared with {what}.{left}"


def _items(kind: FailureKind, failures: Sequence[BuildFailure], found: Triage) -> list[str]:
    """An item a failure; of the environment's, an item for all that one thing struck in one job."""
    groups: dict[object, list[BuildFailure]] = defaultdict(list)
    for place, failure in enumerate(failures):
        groups[(failure.job.id, failure.signature) if kind.environment else place].append(failure)
    return [_item(group, found) for group in groups.values()]


def _item(group: Sequence[BuildFailure], found: Triage) -> str:
    failure = group[0]
    name = code(str(failure.variant.test)) if failure.variant else "the job itself"
    more = f" and {plural(len(group) - 1, 'more test')}" if len(group) > 1 else ""
    owner = f" · owner {code(failure.owner)}" if failure.owner else ""
    lines = [f"- {name}{more} · {_place(failure.variant, failure.job, found)}{owner}"]
    if failure.message.strip():
        lines.append(f"  - {code(failure.message)}")
    numbers = memory_line(failure.cause.captures) if failure.cause else ""
    if numbers:
        lines.append(f"  - {plain(numbers)}")
    seen = f" ({link('last time', failure.seen)})" if failure.seen else ""
    lines.append(f"  - {plain(failure.why)}{seen}")
    if failure.advice:
        lines.append(f"  - **do** {plain(failure.advice)}")
    return "\n".join(lines)


def _recovered(one: Recovered, found: Triage) -> str:
    told = "a known flake" if one.flake else "it failed and passed at one commit: a flake, from now on"
    message = f": {code(one.message)}" if one.message.strip() else ""
    return f"- {code(str(one.variant.test))} · {_place(one.variant, one.job, found)} · {told}{message}"


def _place(variant: Variant | None, job: Job, found: Triage) -> str:
    """Where it ran, with a link to the job on the build's own page."""
    step = (variant.step if variant else "") or job.step or job.label
    named = code(step) if step and not _is_uuid(step) else ""
    queue = code(job.queue) if job.queue else ""
    address = f"#{job.id}" if _is_uuid(job.id) else (job_url(found.build, job.id) if found.build else None)
    jump = link("job", address) if address else ""
    return " · ".join(part for part in (named, queue, jump) if part) or "a job"


def _is_uuid(text: str) -> bool:
    return len(text) == 36 and set(text) <= set(_UUID)
