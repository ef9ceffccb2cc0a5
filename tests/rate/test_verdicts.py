"""The verdict on histories that are spelled out, and the sentence that says why."""

from __future__ import annotations

from dataclasses import replace

import pytest

from flake_report.model.rate import FlakeRate, Fleet, Streak
from flake_report.model.verdict import TestVerdict
from flake_report.rate.rates import flake_rates


def judged(fleet: Fleet) -> FlakeRate:
    (rate,) = flake_rates(fleet, budget=0.005)
    return rate


def worded(fleet: Fleet, *fingerprints: str) -> Fleet:
    """The same history with these fingerprints on its told runs, in order."""
    (history,) = fleet.histories
    runs = [run._replace(fingerprint=said) for run, said in zip(history.runs, fingerprints, strict=True)]
    return replace(fleet, histories=(history._replace(runs=tuple(runs)),))


P = ["P"]

STORIES = {
    "fails on every attempt now": (
        [*P * 40, *["F"] * 6], TestVerdict.BROKEN,
        "failed in all 6 runs since build 40; it last passed in build 39",
    ),
    "has failed since it is there": (
        ["F"] * 5, TestVerdict.BROKEN, "failed in all 5 runs since build 0, where its history begins",
    ),
    "both failed and passed in one build": (
        [*P * 5, "F|P", *P * 5], TestVerdict.FLAKY, "build 5 both failed and passed at one commit",
    ),
    "passed first and failed when the job was run again": (
        [*P * 5, "P|F", *P * 5], TestVerdict.FLAKY, "build 5 both failed and passed at one commit",
    ),
    "flaked in several builds": (
        ["FP", "P", "FP", "P", "F|P", "P"], TestVerdict.FLAKY,
        "3 builds, from build 0 to build 4, each failed and passed at one commit",
    ),
    "failed alone twice, and said the same": (
        [*P * 9, "F", *P * 9, "F", *P * 9], TestVerdict.FLAKY,
        "build 9 and build 19 failed, each alone and all with one message",
    ),
    "fails in the newest build alone": (
        [*P * 9, "F"], TestVerdict.NEW_FAILURE, "failed in build 9, its newest result: too early to say why",
    ),
    "fails in the two newest builds": (
        [*P * 9, "F", "F"], TestVerdict.NEW_FAILURE,
        "its 2 newest results are failures, from build 9 to build 10: too early to say why",
    ),
    "failed in the newest build that tells anything": (
        [*P * 9, "F", "V", "S", "P!"], TestVerdict.NEW_FAILURE,
        "failed in build 9, its newest result: too early to say why",
    ),
    "fails on nearly every attempt now": (
        [*P * 40, *["F"] * 9, "P", *["F"] * 9], TestVerdict.BROKEN,
        "failed in 18 of 19 runs since build 40; before that it passed in build 39",
    ),
    "was broken, passes again, and failed once more": (
        [*P * 40, *["F"] * 10, *P * 40, "F", *P * 9], TestVerdict.RECOVERED,
        "failed in all 10 runs from build 40 to build 49; since then build 90 failed",
    ),
    "was broken, and failed in two builds in a row later": (
        [*P * 40, *["F"] * 10, *P * 40, "F", "F", *P * 40], TestVerdict.RECOVERED,
        "failed in 2 builds in a row, from build 90 to build 91; passes since",
    ),
    "failed in two builds in a row, and once more": (
        [*P * 20, "F", "F", *P * 10, "F", *P * 10], TestVerdict.RECOVERED,
        "failed in 2 builds in a row, from build 20 to build 21; since then build 32 failed",
    ),
    "was broken and passes again": (
        [*P * 40, *["F"] * 10, *P * 40], TestVerdict.RECOVERED,
        "failed in all 10 runs from build 40 to build 49; passes since build 50",
    ),
    "failed in two builds in a row": (
        [*P * 9, "F", "F", *P * 9], TestVerdict.RECOVERED,
        "failed in 2 builds in a row, from build 9 to build 10; passes since",
    ),
    "failed in one build alone": (
        [*P * 9, "F", *P * 9], TestVerdict.SUSPECT,
        "build 9 failed alone: a rare flake and a commit that was taken back at once look the same",
    ),
    "never failed in 20 runs": (
        P * 20, TestVerdict.HEALTHY, "no failure of its own in 20 runs: its rate is below 11.7 % (95 % sure)",
    ),
    "never failed in 19 runs": (
        P * 19, TestVerdict.UNKNOWN,
        "no failure of its own, but only 19 runs of the 20 that it takes to call a test healthy",
    ),
    "was only struck by the environment": (
        [*P * 10, "V", "wV", *P * 10], TestVerdict.HEALTHY,
        "no failure of its own in 20 runs: its rate is below 11.7 % (95 % sure)",
    ),
    "never ran to its end": (["P!", "S", "V"], TestVerdict.UNKNOWN, "never ran to its own end"),
}  # fmt: skip


@pytest.mark.parametrize(("builds", "verdict", "reason"), STORIES.values(), ids=STORIES.keys())
def test_a_test_that(builds, verdict, reason, fleet) -> None:
    rate = judged(fleet(*builds))
    assert (rate.verdict, rate.reason) == (verdict, reason)


def test_a_failure_seen_only_in_a_lost_job_makes_no_flake(fleet) -> None:
    assert judged(fleet(*P * 20, "F!|P")).verdict is TestVerdict.HEALTHY


def test_two_lone_failures_that_say_other_things_are_no_flake(fleet) -> None:
    rate = judged(worded(fleet(*P * 9, "F", *P * 9, "F", *P * 9), "one", "other"))
    assert rate.verdict is TestVerdict.SUSPECT
    assert (
        rate.reason == "build 9 and build 19 failed, each alone and none known to be like another: "
        "flake or bad commits, nothing tells"
    )


def test_failures_without_a_fingerprint_are_like_no_other(fleet) -> None:
    assert judged(worded(fleet(*P * 9, "F", *P * 9, "F", *P * 9), "", "")).verdict is TestVerdict.SUSPECT


def test_stretches_of_two_builds_are_no_flake_whatever_they_say(fleet) -> None:
    assert judged(fleet(*P * 9, "F", "F", *P * 9, "F", "F", *P * 9)).verdict is TestVerdict.RECOVERED


def test_flaky_comes_before_a_new_failure(fleet) -> None:
    assert judged(fleet(*P * 9, "FP", *P * 9, "F")).verdict is TestVerdict.FLAKY


def test_a_broken_test_that_was_flaky_before_says_so(fleet) -> None:
    broken = judged(fleet(*P * 20, "FP", *P * 40, *["F"] * 6))
    assert (broken.verdict, broken.also_flaky) == (TestVerdict.BROKEN, True)
    assert not judged(fleet(*P * 60, *["F"] * 6)).also_flaky


def test_a_pass_on_retry_within_a_breakage_does_not_make_a_regression_flaky(fleet) -> None:
    """Runs inside a breakage are judged with it: nine in ten and more of them failed whatever was tried."""
    rate = judged(fleet(*P * 60, *["F|F"] * 12, "F|P", *["F|F"] * 12, *P * 60))
    assert (rate.verdict, rate.flaky_runs) == (TestVerdict.RECOVERED, 0)


def test_a_victim_between_two_failures_does_not_part_them(fleet) -> None:
    assert judged(fleet(*P * 9, "F", "V", "F", *P * 9)).verdict is TestVerdict.RECOVERED


def test_a_breakage_is_told_with_the_commits_around_it(fleet) -> None:
    (broke,) = judged(fleet(*P * 200, *["F"] * 60, *P * 200)).breakages
    named = [broke.good, broke.first, broke.last, broke.mended, broke.earliest, broke.latest]
    assert [build.number for build in named if build] == [199, 200, 259, 260, 200, 200]
    assert (broke.job, broke.signature, broke.fingerprint) == ("200-0", "assertion", "print-F")
    assert broke.first.commit == "c200"


def test_a_breakage_at_both_ends_of_a_history_is_bounded_by_nothing(fleet) -> None:
    (broke,) = judged(fleet(*["F"] * 5)).breakages
    assert (broke.good, broke.mended) == (None, None)
    assert broke.earliest == broke.latest == broke.first


def moved(fleet: Fleet, builds: list[int], **changes: str) -> Fleet:
    """The same history with these builds on another branch, or of another commit."""
    return replace(
        fleet,
        builds=tuple(replace(build, **changes) if at in builds else build for at, build in enumerate(fleet.builds)),
    )


def test_a_branch_that_broke_the_test_makes_it_no_flake_while_others_pass(fleet) -> None:
    """Three builds of one branch fail alike, and builds of another pass between them: nothing flaked."""
    history = fleet(*P * 9, "F", "P", "P", "F", "P", "F", *P * 9)
    assert judged(history).verdict is TestVerdict.FLAKY  # all on one branch
    rate = judged(moved(history, [9, 12, 14], branch="pr-7"))
    assert (rate.verdict, rate.flakes) == (TestVerdict.SUSPECT, frozenset())
    assert rate.reason == (
        "3 builds, from build 9 to build 14, failed, and nothing passed on that branch since: "
        "a flake or what was changed there, nothing tells"
    )


def test_a_branch_that_broke_the_test_and_mended_it_recovered(fleet) -> None:
    rate = judged(moved(fleet(*P * 9, "F", "P", "F", *P * 9), [9, 11, 13], branch="pr-7"))
    assert rate.verdict is TestVerdict.RECOVERED
    assert rate.reason == "failed in 2 builds in a row, from build 9 to build 11; passes since"


def test_two_branches_that_fail_alike_may_hold_one_bad_commit(fleet) -> None:
    history = moved(fleet(*P * 9, "F", "P", "P", "F", *P * 9), [9, 10], branch="pr-7")
    rate = judged(moved(history, [12, 13], branch="pr-8"))
    assert rate.verdict is TestVerdict.SUSPECT
    assert rate.reason.startswith("build 9 and build 12 failed, on 2 branches: ")


def test_another_pipeline_that_passes_does_not_part_a_regression(fleet) -> None:
    history = fleet(*P * 6, *["F", "P"] * 6)
    rate = judged(moved(history, list(range(6, 18, 2)), org="beta"))
    assert rate.verdict is TestVerdict.SUSPECT
    apart = judged(moved(fleet(*P * 9, "F", "P", "F", "P", "P"), [11, 13], org="beta"))
    assert apart.reason == (
        "build 9 and build 11 failed, in 2 pipelines: flakes or what was changed there, nothing tells"
    )
    newest = judged(moved(fleet(*P * 9, "F", "P", "F"), [9, 11], org="beta"))
    assert newest.reason == (
        "its 2 newest results on that branch are failures, from build 9 to build 11: too early to say why"
    )
    both = judged(moved(moved(history, [6, 7], org="beta"), [8, 9], org="gamma"))
    assert both.flakes == {"print-F"}  # four lone failures of acme's own are left


def test_a_flake_on_one_branch_is_found_between_builds_of_others(fleet) -> None:
    history = moved(fleet(*P * 9, "F", *P * 9, "F", *P * 9), [2, 8, 10, 12, 18, 20], branch="pr-7")
    assert judged(history).verdict is TestVerdict.FLAKY


def test_a_commit_that_is_built_again_and_fails_again_is_no_flake(fleet) -> None:
    history = fleet(*P * 9, "F", *P * 9, "F", *P * 9)
    rate = judged(moved(history, [9, 19], commit="bad"))
    assert rate.verdict is TestVerdict.SUSPECT
    assert rate.reason == (
        "build 9 and build 19 failed, all at one commit: "
        "a bad commit that was built again and a rare flake look the same"
    )
    assert judged(moved(history, [9, 19], commit="")).verdict is TestVerdict.FLAKY  # commits are not told


def test_a_flaky_test_that_a_commit_broke_in_another_way_flakes_in_the_one_way_alone(fleet) -> None:
    history = worded(fleet(*P * 20, "FP", *P * 20, "F", "F", *P * 20, "F", *P * 20, "F", *P * 9),
                     "flake", "broke", "broke", "lone", "lone")  # fmt: skip
    rate = judged(history)
    assert (rate.verdict, rate.flakes) == (TestVerdict.FLAKY, {"flake", "lone"})


def test_a_build_whose_clock_is_a_week_ahead_moves_no_commit_of_a_breakage(fleet) -> None:
    """Its week is another one, so passes before the breakage are two streaks that interleave."""
    plain = fleet(*P * 40, *["F"] * 20, *P * 40)
    (history,) = plain.histories
    early = next(streak for streak in history.passes if streak.last_order == 39)
    odd = Streak(35, 35, 1)
    rest = early._replace(runs=early.runs - 1)
    passes = tuple(
        sorted((*(one for one in history.passes if one != early), rest, odd), key=lambda one: one.first_order)
    )
    skewed = replace(plain, histories=(history._replace(passes=passes),))
    assert judged(skewed).breakages == judged(plain).breakages
    assert judged(skewed).reason == judged(plain).reason
    assert [(part.earliest, part.latest) for part in judged(skewed).segments] == [
        (part.earliest, part.latest) for part in judged(plain).segments
    ]


def test_no_order_of_what_happened_raises_a_flaky_verdict_without_a_mixed_build_or_two_alike(fleet) -> None:
    for builds in (["F", *P * 5, *["F"] * 3], [*["F"] * 2, "P"] * 4, ["P", *["F"] * 9, *P * 3]):
        assert judged(fleet(*builds)).verdict is not TestVerdict.FLAKY
