"""Waiting, on a clock that a test moves: readings come one after the other, each a second later."""

from __future__ import annotations

from gpu_guard.budget import CONTEXT, Verdict, Want
from gpu_guard.memory import Device, DeviceReading, Holder, Reading
from gpu_guard.probe import Snapshot
from gpu_guard.wait import PROGRESS, STEADY, Time, until_free

GIB = 2**30
TOTAL = 20 * GIB
HALF = Want(0.5)
ENOUGH = 10 * GIB + CONTEXT


def snapshot(free: float) -> Snapshot:
    size = round(free)
    holders = (Holder(7, "VLLM::EngineCore", TOTAL - size),) if size < TOTAL else ()
    reading = DeviceReading(size, TOTAL, TOTAL - size, holders)
    return Snapshot("stub", (Device(0, "GPU-a", "L4", TOTAL),), Reading(0.0, (reading,)))


class World:
    """A card whose free memory follows a list, its last value for ever; the clock moves only by sleeping."""

    def __init__(self, *free: float | None) -> None:
        self.free = list(free)
        self.looks = 0
        self.now = 1000.0
        self.said: list[str] = []

    def look(self) -> Snapshot | None:
        size = self.free[min(self.looks, len(self.free) - 1)]
        self.looks += 1
        return None if size is None else snapshot(size)

    def sleep(self, seconds: float) -> None:
        assert seconds > 0
        self.now += seconds

    def wait(self, want: Want = HALF, limit: float = 60):
        return until_free(self.look, want, limit=limit, say=self.said.append, time=Time(lambda: self.now, self.sleep))


def test_what_fits_at_once_is_looked_at_once_and_nothing_is_said():
    world = World(ENOUGH)
    done = world.wait()
    assert (done.answer.verdict, done.seconds, world.looks, world.said) == (Verdict.USE, 0, 1, [])


def test_memory_that_comes_back_must_stay():
    world = World(GIB, GIB, ENOUGH, ENOUGH, GIB, ENOUGH)
    done = world.wait()
    assert done.answer.verdict is Verdict.USE
    assert world.looks == 5 + STEADY  # the two good readings before the bad one count no more


def test_memory_that_still_falls_is_not_steady():
    want = Want(0.5, 0.1)
    world = World(9 * GIB, 8 * GIB, 7 * GIB, 6 * GIB)
    done = world.wait(want)
    assert done.answer.verdict is Verdict.LOWER
    assert done.snapshot.cards()[0].free == 6 * GIB
    assert world.looks == 3 + STEADY


def test_memory_that_grows_is_steady_enough():
    assert World(GIB, ENOUGH, ENOUGH + GIB, ENOUGH + 2 * GIB).wait().seconds == STEADY


def test_the_limit_ends_it():
    world = World(GIB)
    done = world.wait(limit=10)
    assert done.answer.verdict is Verdict.WAIT
    assert done.seconds == 10
    assert world.looks == 11


def test_a_limit_that_is_no_whole_second_is_kept():
    assert World(GIB).wait(limit=2.5).seconds == 2.5


def test_at_the_limit_what_fits_is_taken_though_it_was_not_steady_for_long():
    done = World(GIB, GIB, ENOUGH).wait(limit=2)
    assert done.answer.verdict is Verdict.USE
    assert done.seconds == 2


def test_without_a_limit_the_first_reading_decides():
    assert World(GIB).wait(limit=0).answer.verdict is Verdict.WAIT
    assert World(8 * GIB).wait(Want(0.5, 0.1), limit=0).answer.verdict is Verdict.LOWER


def test_nobody_waits_for_more_than_the_card_has():
    world = World(GIB)
    done = world.wait(Want(min_free=30 * GIB))
    assert (done.answer.verdict, world.looks) == (Verdict.REFUSE, 1)


def test_progress_names_the_holders_now_and_then_and_changes_at_once():
    world = World(*[GIB] * 20, *[5 * GIB] * 3, ENOUGH)
    world.wait()
    waiting = [line for line in world.said if line.startswith("waiting")]
    assert [line.split()[1] for line in waiting] == ["0", f"{PROGRESS:.0f}", "20", "23"]
    assert waiting[0] == (
        "waiting 0 of 60 s: cuda:0 has 1.00 of 20.00 GiB free; 0.5 asks 10.00 GiB and 0.52 GiB for its context: "
        "short by 9.52 GiB"
    )
    assert world.said[1] == "  cuda:0 is held by pid 7 VLLM::EngineCore (19.00 GiB)"


def test_a_driver_without_a_reading_is_waited_for_and_may_stay_silent():
    world = World(None, None, ENOUGH)
    assert world.wait().answer.verdict is Verdict.USE
    assert world.said[0] == "waiting 0 of 60 s: the driver gives no reading"
    silent = World(None).wait(limit=3)
    assert (silent.answer, silent.snapshot, silent.seconds) == (None, None, 3)
