"""The simulated history as an archive: what it claims to tell is what stands in it, counted by other means."""

from __future__ import annotations

import hashlib
import re
from collections import Counter
from datetime import UTC, datetime, timedelta
from itertools import pairwise
from pathlib import Path

import pytest
from junitparser import JUnitXml

from flake_report import demo
from flake_report.collect.files import open_blob
from flake_report.errors import FlakeReportError
from flake_report.model.evidence import Evidence, JobState, RetryType

HMA = "test_fewer_blocks_with_hma[google/gemma-3-1b-it-512]"
STAMP = re.compile(rb"\x1b_bk;t=(\d+)\x07")
ESCAPES = re.compile(r"\x1b_bk;t=\d+\x07|\x1b\[[0-9;]*[mK]")


def whole_log(one: Evidence) -> bytes:
    assert one.log is not None
    return b"".join(one.log.read())


def text(one: Evidence) -> str:
    return ESCAPES.sub("", whole_log(one).decode()).replace("\r", "")


def failures(one: Evidence) -> list[tuple[str, str]]:
    """Name and message of each failed case in the job's reports, as junitparser reads them."""
    return [
        (case.name, result.message)
        for blob in one.reports
        for suite in JUnitXml.fromstring(b"".join(blob.read()))
        for case in suite
        for result in case.result
        if type(result).__name__ == "Failure"
    ]


def with_failure(evidence: list[Evidence], name: str, step: str) -> list[Evidence]:
    return [one for one in evidence if one.job.step == step and any(failed[0] == name for failed in failures(one))]


def test_it_is_six_weeks_of_builds_mostly_on_main(evidence: list[Evidence]) -> None:
    builds = {one.build.number: one.build for one in evidence}
    times = [build.created_at for _, build in sorted(builds.items())]
    assert len(builds) == 42 + 30  # a build a night, one each weekday afternoon
    assert times == sorted(times)
    assert times[-1].date() - times[0].date() == timedelta(days=41)
    branches = Counter(build.branch for build in builds.values())
    assert branches["main"] == 60
    assert sum(branches.values()) - branches["main"] == 12


def test_each_step_runs_where_it_should(evidence: list[Evidence]) -> None:
    assert {(one.job.step, one.job.queue) for one in evidence} == {
        ("kv-connectors", "gpu_1_queue"),
        ("V1 KV Connectors (MI325)", "amd_mi325_1"),
        ("v1-core", "cpu_queue"),
    }


def refused(evidence: list[Evidence], sizes: str, asked: str) -> list[Evidence]:
    """The jobs whose HMA test failed with vLLM's sentence, word for word, with these numbers."""
    message = (
        f"ValueError: Free memory on device cuda:0 ({sizes} GiB) on startup is less than desired GPU memory "
        f"utilization ({asked} GiB). Decrease GPU memory utilization or reduce GPU memory used by other processes."
    )
    hit = [one for one in evidence if (HMA, message) in failures(one)]
    assert all(message in text(one) and one.job.exit_status == 1 for one in hit)
    return hit


def test_with_half_the_card_it_fails_as_in_public_and_torch_holds_the_rest(evidence: list[Evidence]) -> None:
    hit = refused(evidence, "10.93/22.05", "0.5, 11.02")
    assert len(hit) == 3
    assert all("torch_memory=10.86GiB, non_torch_memory=0.25GiB" in text(one) for one in hit)


def test_with_047_it_fails_as_in_public_and_nothing_tells_who_holds_the_rest(evidence: list[Evidence]) -> None:
    hit = refused(evidence, "4.51/22.05", "0.47, 10.36")
    assert len(hit) == 2
    assert not any("torch_memory=" in text(one) for one in hit)


def test_the_setting_goes_from_half_to_047_to_03(evidence: list[Evidence]) -> None:
    settings = []
    for one in evidence:
        if one.job.step == "kv-connectors" and HMA in (log := text(one)):
            start = log.index("'gpu_memory_utilization'", log.index(HMA))
            settings.append((one.build.created_at.date(), float(log[start:].split(": ")[1].split(",")[0])))
    changes = [settings[0], *(new for old, new in pairwise(settings) if old[1] != new[1])]
    assert [(str(day), setting) for day, setting in changes] == [
        ("2026-03-30", 0.5),
        ("2026-04-16", 0.47),
        ("2026-04-22", 0.3),
    ]


def test_after_the_last_change_the_test_never_fails(evidence: list[Evidence]) -> None:
    failed = [one.build.created_at for one in with_failure(evidence, HMA, "kv-connectors")]
    assert max(failed) < datetime(2026, 4, 22, tzinfo=UTC)


def test_the_flaky_test_fails_at_random_and_mostly_passes_on_the_retry(evidence: list[Evidence]) -> None:
    hit = with_failure(evidence, "test_read_finishes_before_deadline", "V1 KV Connectors (MI325)")
    first = [one for one in hit if one.job.attempt == 0]
    again = [one for one in hit if one.job.attempt == 1]
    assert (len(first), len(again)) == (7, 1)
    retries = [one.job for one in evidence if one.job.retry_of in {one.job.id for one in first}]
    assert len(retries) == 7
    assert {job.retry_type for job in retries} == {RetryType.AUTOMATIC}
    assert Counter(job.state for job in retries) == {JobState.PASSED: 6, JobState.FAILED: 1}
    assert len({message for one in hit for _, message in failures(one)}) == 8  # each took its own time


def test_the_regression_is_a_stretch_of_builds_without_a_pass_between(evidence: list[Evidence]) -> None:
    runs = [one for one in evidence if one.job.step == "v1-core" and one.build.branch == "main"]
    red = [bool(failures(one)) for one in runs]
    assert "".join("x" if failed else "." for failed in red).strip(".") == "xxxxxx"
    assert red[-1] is False


def test_one_agent_was_lost_and_its_log_stops(evidence: list[Evidence]) -> None:
    [lost] = [one for one in evidence if one.job.exit_status == -1]
    assert lost.reports == ()
    assert not whole_log(lost).endswith(b"\n")
    assert "exited with status" not in text(lost)
    [retry] = [one for one in evidence if one.job.retry_of == lost.job.id]
    assert (retry.job.attempt, retry.job.state) == (1, JobState.PASSED)
    assert lost.job.finished_at is not None
    assert retry.job.started_at is not None
    assert lost.job.finished_at < retry.job.started_at


def test_every_log_says_first_that_it_is_simulated(evidence: list[Evidence], root: Path) -> None:
    assert all("SIMULATED" in text(one).split("\n", 1)[0] for one in evidence)
    assert "simulated" in (root / "SIMULATED.txt").read_text()
    assert "simulated" in demo.NOTICE


def test_logs_have_stamps_that_never_go_back_and_the_line_ends_of_a_real_job(evidence: list[Evidence]) -> None:
    for one in evidence[:20]:
        log = whole_log(one)
        stamps = [int(stamp) for stamp in STAMP.findall(log)]
        assert stamps == sorted(stamps)
        lines = log.split(b"\n")[:-1]
        assert all(line.startswith(b"\x1b_bk;t=") and line.endswith(b"\r") for line in lines)
        assert any(line.endswith(b"\r\r") for line in lines)
        assert any(len(STAMP.findall(line)) > 3 for line in lines)
        assert one.job.started_at is not None
        assert one.job.finished_at is not None
        assert one.job.started_at.timestamp() * 1000 <= stamps[0]
        assert stamps[-1] <= one.job.finished_at.timestamp() * 1000 + 1


def test_the_summary_in_the_log_agrees_with_the_report(evidence: list[Evidence]) -> None:
    for one in evidence:
        counts: Counter[str] = Counter()
        for number, word in re.findall(
            r"(\d+) (failed|passed|skipped)", "\n".join(re.findall(r"=.* in .*s.*=", text(one)))
        ):
            counts[word] += int(number)
        suites = [suite for blob in one.reports for suite in JUnitXml.fromstring(b"".join(blob.read()))]
        tests, failed, skipped = (
            sum(getattr(suite, name) for suite in suites) for name in ("tests", "failures", "skipped")
        )
        assert counts == Counter(failed=failed, skipped=skipped, passed=tests - failed - skipped), one.job.id


def test_a_failing_command_ends_the_job(evidence: list[Evidence]) -> None:
    for one in evidence:
        if one.job.exit_status == 1:
            assert "🚨 Error: The command exited with status 1\n^^^ +++" in text(one)
            assert len(one.reports) == 1
        elif one.job.exit_status == 0:
            assert "exited with status" not in text(one)


@pytest.mark.parametrize(("place", "free"), [(0, "(10.93/22.05 GiB)"), (1, "(4.51/22.05 GiB)")])
def test_the_logs_to_explain_are_where_the_package_says(root: Path, place: int, free: str) -> None:
    log = b"".join(open_blob(str(root / demo.FAILED_JOB_LOGS[place])).read())
    assert free.encode() in log


def test_writing_it_twice_gives_the_same_evidence(root: Path, tmp_path: Path) -> None:
    def digests(folder: Path) -> dict[str, str]:
        files = [path for path in folder.rglob("*") if path.is_file()]
        return {str(path.relative_to(folder)): hashlib.sha256(path.read_bytes()).hexdigest() for path in files}

    demo.write_history(tmp_path / "again")
    assert digests(tmp_path / "again") == digests(root)


def test_a_folder_that_cannot_be_written_to_is_named(tmp_path: Path) -> None:
    (tmp_path / "SIMULATED.txt").mkdir()
    with pytest.raises(FlakeReportError, match=r"SIMULATED\.txt: cannot be written"):
        demo.write_history(tmp_path)


def test_it_is_small_in_the_package() -> None:
    package = Path(demo.__file__).parent
    files = [path for path in package.rglob("*") if path.is_file() and path.suffix != ".pyc"]
    assert sum(path.stat().st_size for path in files) < 150_000
    for path in files:
        path.read_text(encoding="utf-8")
