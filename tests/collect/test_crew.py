"""Threads that share out tasks: all are done, the first failure stops the rest and is raised."""

from __future__ import annotations

import threading

import pytest

from flake_report.collect.crew import Crew
from flake_report.collect.transport import StoppedError


def test_every_task_is_done_also_those_that_tasks_hand_on() -> None:
    done: list[int] = []
    with Crew(4, 8, lambda: None) as crew:
        for number in range(50):

            def task(number: int = number) -> None:
                done.append(number)
                crew.add(lambda: done.append(number + 1000))

            crew.give(task)
    assert sorted(done) == [*range(50), *range(1000, 1050)]


def test_no_more_wait_than_allowed() -> None:
    running, most, gate = 0, 0, threading.Event()
    lock = threading.Lock()
    given: list[int] = []

    def task() -> None:
        nonlocal running, most
        gate.wait(5)
        with lock:
            running += 1
            most = max(most, running)

    def give() -> None:
        with Crew(2, 5, lambda: None) as crew:
            for number in range(20):
                crew.give(task)
                given.append(number)

    giver = threading.Thread(target=give)
    giver.start()
    threading.Event().wait(0.1)
    assert len(given) == 5
    gate.set()
    giver.join(5)
    assert len(given) == most == 20


class BrokenError(Exception):
    """Something that a task may raise."""


def test_the_first_failure_is_raised_and_stops_the_rest() -> None:
    stopped = threading.Event()
    done: list[int] = []

    def fail() -> None:
        raise BrokenError

    def wait() -> None:
        if stopped.wait(5):
            raise StoppedError
        done.append(1)

    def work() -> None:
        with Crew(2, 100, stopped.set) as crew:
            crew.give(wait)
            crew.give(fail)
            for _ in range(50):
                crew.add(wait)

    with pytest.raises(BrokenError):
        work()
    assert stopped.is_set()
    assert done == []


def test_a_failure_is_raised_to_whoever_hands_over_the_next_task() -> None:
    def fail() -> None:
        raise BrokenError

    given: list[int] = []

    def work() -> None:
        with Crew(1, 1, lambda: None) as crew:
            for number in range(1000):
                crew.give(fail)
                given.append(number)

    with pytest.raises(BrokenError):
        work()
    assert len(given) < 10


def test_an_error_of_the_block_itself_stops_the_tasks() -> None:
    stopped = threading.Event()

    def wait() -> None:
        stopped.wait(5)
        raise StoppedError

    def work() -> None:
        with Crew(1, 9, stopped.set) as crew:
            crew.give(wait)
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        work()
    assert stopped.is_set()
