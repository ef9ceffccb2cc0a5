"""What was counted before and is joined, against counting all of it: the same, whatever happened in between."""

from __future__ import annotations

import random
from datetime import timedelta
from pathlib import Path

import pytest

from flake_report.model.query import Query
from flake_report.model.rate import Streak
from flake_report.model.results import Outcome
from flake_report.rate import runs
from flake_report.store import Store, bad, counting, rollups
from flake_report.store.counting import Counting
from flake_report.store.duck import Duck
from flake_report.store.order import orders
from flake_report.store.parts import Part
from flake_report.store.rollups import ANSWER, FOLDER
from flake_report.store.selection import Selection

OUTCOMES = [Outcome.PASSED] * 5 + [Outcome.FAILED, Outcome.FAILED, Outcome.SKIPPED, Outcome.ERROR]
FAILURES = [("", ""), ("assertion", "test"), ("free-memory", "gpu-memory")]


@pytest.fixture(autouse=True)
def every_week_is_kept(monkeypatch):
    monkeypatch.setattr(counting, "KEPT_ROWS", 1)
    monkeypatch.setattr(bad, "KEPT_ROWS", 1)


def asked(store: Store, query: Query) -> tuple[object, ...]:
    """What is counted week by week, and what comes of the attempts that failed."""
    failed = (store.answer(name, ("attempts",), query).to_pylist() for name in FAILED)
    return store.fleet(query), store.health(query), orders(store, query), *failed


FAILED = ("struck", "failures", "elsewhere")


@pytest.fixture
def counted(monkeypatch) -> list[list[str]]:
    """The weeks of each part whose attempts are counted from now on."""
    return watched(monkeypatch, "_count")


@pytest.fixture
def joined(monkeypatch) -> list[list[str]]:
    """The weeks of each part that is joined with others from now on."""
    return watched(monkeypatch, "_join")


def watched(monkeypatch, method: str) -> list[list[str]]:
    """The weeks of each part that this method is given."""
    parts: list[list[str]] = []
    real = getattr(Counting, method)

    def watching(self: Counting, part: Part, test: str | None) -> None:
        parts.append(part.weeks)
        real(self, part, test)

    monkeypatch.setattr(Counting, method, watching)
    return parts


def anew(store: Store, query: Query, monkeypatch) -> tuple[object, ...]:
    """The same questions, all counted."""
    with monkeypatch.context() as patched:
        patched.setattr(counting, "KEPT_ROWS", 10**9)
        patched.setattr(bad, "KEPT_ROWS", 10**9)
        patched.setattr(Counting, "_remembered", lambda *_: {})
        return asked(Store.open(store.address), query)


def draw_records(make, rng: random.Random):
    """Some jobs of builds in up to five weeks; builds and jobs come again, with other results, in other weeks."""
    found = []
    for _ in range(rng.randint(1, 6)):
        key = rng.randint(1, 8)
        moved = rng.choice([0, 0, 0, 0, 9, -12])
        build = make.build(
            rng.choice([key, key, None]),
            key=f"b{key}",
            branch=rng.choice(["main", "main", "topic"]),
            created_at=make.monday + timedelta(days=key * 4 + moved, hours=rng.randint(0, 9)),
        )
        job = make.job(
            f"{key}{rng.choice('xyz')}",
            step=rng.choice(["unit", "kernels"]),
            queue=rng.choice(["L4", "L4", "H100"]),
            agent=rng.choice(["agent-1", "agent-2"]),
            attempt=rng.choice([0, 0, 1]),
            exit_status=rng.choice([0, 1, 1, 1, -1]),
        )
        attempts = []
        for name in rng.choices(["a", "b[x-1]", "c", ""], k=rng.randint(0, 6)):
            outcome = rng.choice(OUTCOMES)
            signature, blame = rng.choice(FAILURES) if outcome.bad else ("", "")
            attempts.append(
                make.attempt(
                    name,
                    outcome,
                    signature=signature,
                    blame=blame,
                    number=rng.randint(0, 1),
                    message="boom" if outcome.bad else "",
                    session_key=rng.choice(["", "pytest v1"]),
                    file=rng.choice(["", "tests/a.py", "tests/b.py"]),
                )
            )
        found.append(make.record(build, job, *attempts))
    return found


QUERIES = [
    Query(),
    Query(branch="main"),
    Query(since=timedelta(days=10)),
    Query(test="b[x", step="unit"),
    Query(queue="L?"),
]


@pytest.mark.parametrize("seed", range(5))
def test_what_is_joined_equals_what_is_counted(seed, store, make, monkeypatch) -> None:
    rng = random.Random(seed)
    told = []
    for _ in range(4):
        records = draw_records(make, rng)
        store.ingest(records)
        told += records
        if rng.random() < 0.3:
            store.compact()
        query = rng.choice(QUERIES)
        expected = anew(store, query, monkeypatch)
        assert asked(store, query) == expected
        assert asked(Store.open(store.address), query) == expected
        assert expected[0] == runs.fleet(told, query)


@pytest.fixture
def three_weeks(store, make):
    """A build in each of three weeks; one test fails in the second."""
    for at in (1, 8, 15):
        outcome = Outcome.FAILED if at == 8 else Outcome.PASSED
        store.ingest([make.record(make.build(at), make.job(f"j{at}"), make.attempt("a", outcome), make.attempt("b"))])
    return store


def test_a_week_is_counted_once(three_weeks, counted) -> None:
    three_weeks.fleet(Query())
    assert counted == [["2026-W45"], ["2026-W46"], ["2026-W47"]]
    counted.clear()
    three_weeks.fleet(Query())
    assert counted == []


def test_compaction_and_other_windows_count_nothing_again(three_weeks, counted) -> None:
    three_weeks.fleet(Query())
    counted.clear()
    three_weeks.compact()
    three_weeks.fleet(Query())
    three_weeks.fleet(Query(since=timedelta(days=8)))
    three_weeks.fleet(Query(test="a"))
    three_weeks.fleet(Query(branch="main"))
    assert counted == []


def test_only_the_week_of_a_new_job_is_counted_again(three_weeks, counted, make) -> None:
    three_weeks.fleet(Query())
    counted.clear()
    three_weeks.ingest([make.record(make.build(16), make.job("new"), make.attempt("a"))])
    three_weeks.fleet(Query())
    assert counted == [["2026-W47"]]


def test_a_late_build_in_an_old_week_moves_all_later_ones_and_only_it_is_counted(three_weeks, counted, make) -> None:
    three_weeks.fleet(Query())
    counted.clear()
    three_weeks.ingest([make.record(make.build(2), make.job("late"), make.attempt("a"))])
    fleet = three_weeks.fleet(Query())
    assert counted == [["2026-W45"]]
    assert [run.order for run in fleet.histories[0].runs] == [2]


def test_a_job_that_comes_again_in_another_week_changes_both(three_weeks, counted, make) -> None:
    three_weeks.fleet(Query())
    counted.clear()
    three_weeks.ingest([make.record(make.build(15), make.job("j1"), make.attempt("a"))])
    three_weeks.fleet(Query())
    assert counted == [["2026-W47"]], "of the first week no job is left to count"


def test_a_question_for_some_tests_leaves_no_rollup(three_weeks, counted, tmp_path) -> None:
    three_weeks.fleet(Query(test="a"))
    assert not (tmp_path / "store" / FOLDER).exists()
    three_weeks.fleet(Query())
    assert len(counted) == 6


def turned(path: Path, place: int) -> None:
    held = bytearray(path.read_bytes())
    held[place] ^= 1
    path.write_bytes(held)


@pytest.mark.parametrize("harm", [Path.unlink, lambda path: turned(path, -40)], ids=["gone", "turned"])
def test_a_rollup_that_is_damaged_is_counted_again(harm, three_weeks, counted, tmp_path) -> None:
    expected = three_weeks.fleet(Query())
    counted.clear()
    folder = tmp_path / "store" / FOLDER
    (answer,) = folder.glob(f"{ANSWER}*.streaks.sealed")
    week = next(path for path in folder.glob("*.streaks.sealed") if path != answer)
    for path in (answer, week):
        harm(path)
    assert three_weeks.fleet(Query()) == expected
    assert len(counted) == 1
    counted.clear()
    assert three_weeks.fleet(Query()) == expected
    assert counted == []


def test_no_bit_of_what_is_kept_can_turn_unseen(three_weeks, tmp_path) -> None:
    """Nor where some tests are asked for of all: the answer is read in part then."""
    expected = three_weeks.fleet(Query()), three_weeks.fleet(Query(test="::b"))
    rng = random.Random(5)
    for _ in range(40):
        path = rng.choice(sorted((tmp_path / "store" / FOLDER).iterdir()))
        turned(path, rng.randrange(path.stat().st_size))
        opened = Store.open(three_weeks.address)
        assert (opened.fleet(Query()), opened.fleet(Query(test="::b"))) == expected


def held(folder: Path) -> dict[Path, bytes]:
    """Every file that was kept, taken away from there."""
    found = {path: path.read_bytes() for path in folder.iterdir()}
    for path in found:
        path.unlink()
    return found


def test_files_that_two_processes_wrote_at_once_are_not_read_as_one_rollup(store, make, tmp_path) -> None:
    """Each numbers tests in all weeks of its own question: in the second week `a` is 2 to the one, 1 to the other."""
    folder = tmp_path / "store" / FOLDER
    for at, names in ((1, "z"), (15, "az")):
        attempts = [make.attempt(name, Outcome.FAILED if name == "a" else Outcome.PASSED) for name in names]
        store.ingest([make.record(make.build(at), make.job(f"j{at}"), *attempts)])
    expected = store.fleet(Query())
    of_all = held(folder)
    store.fleet(Query(since=timedelta(days=8)))
    for path, content in of_all.items():
        if not path.name.startswith(ANSWER) and not path.name.endswith(".tests.sealed"):
            path.write_bytes(content)
    assert store.fleet(Query()) == expected


@pytest.mark.parametrize("table", ["tests", "streaks", "pools"])
def test_no_part_is_taken_from_an_answer_that_two_processes_wrote_at_once(
    table, three_weeks, counted, tmp_path
) -> None:
    folder = tmp_path / "store" / FOLDER
    three_weeks.fleet(Query())
    first = held(folder)
    three_weeks.fleet(Query())
    held_then = held(folder)
    for path, content in first.items():
        if path.name.startswith(ANSWER):
            path.write_bytes(held_then[path] if path.name.endswith(f".{table}.sealed") else content)
    counted.clear()
    three_weeks.fleet(Query(test="a"))
    assert len(counted) == 3


def test_where_none_can_be_written_all_is_counted(three_weeks, counted, tmp_path) -> None:
    (tmp_path / "store" / FOLDER).write_text("in the way")
    assert three_weeks.fleet(Query()) == three_weeks.fleet(Query())
    assert len(counted) == 6


def test_small_weeks_are_counted_together_and_not_kept(three_weeks, counted, monkeypatch, tmp_path) -> None:
    monkeypatch.setattr(counting, "KEPT_ROWS", 3)
    three_weeks.fleet(Query())
    assert counted == [["2026-W45", "2026-W46", "2026-W47"]]
    assert {path.name.startswith(ANSWER) for path in (tmp_path / "store" / FOLDER).iterdir()} == {True}


def test_the_same_question_is_not_even_joined_again(three_weeks, monkeypatch) -> None:
    query = Query(since=timedelta(days=10))
    expected = three_weeks.fleet(query), three_weeks.health(query)
    with monkeypatch.context() as patched:
        patched.setattr(Counting, "select", None)  # nobody may call it
        assert (three_weeks.fleet(query), three_weeks.health(query)) == expected
    of_test = three_weeks.fleet(Query(since=timedelta(days=10), test="::b"))
    assert [history.variant.test.name for history in of_test.histories] == ["b"]
    assert of_test.histories[0] in expected[0].histories


def test_what_a_statement_said_is_kept_until_the_store_changes(three_weeks, monkeypatch, make) -> None:
    expected = three_weeks.answer("failures", ("attempts",), Query())
    assert expected["name"].to_pylist() == ["a"]
    with monkeypatch.context() as patched:
        patched.setattr(Counting, "select", None)  # nobody may call it
        assert three_weeks.answer("failures", ("attempts",), Query()) == expected
        assert three_weeks.answer("failures", ("attempts",), Query(test="b")) == expected, "it asks for no test"
    three_weeks.ingest([make.record(make.build(16), make.job("new"), make.attempt("c", Outcome.FAILED))])
    assert three_weeks.answer("failures", ("attempts",), Query())["name"].to_pylist() == ["a", "c"]


def test_what_a_statement_says_of_some_tests_is_not_taken_for_all(three_weeks) -> None:
    assert three_weeks.answer("evidence", ("attempts",), Query(test="b")).num_rows == 0
    assert three_weeks.answer("evidence", ("attempts",), Query())["name"].to_pylist() == ["a"]
    assert three_weeks.answer("evidence", ("attempts",), Query(test="b")).num_rows == 0


def test_one_look_serves_all_questions_until_the_store_changes(three_weeks, make, monkeypatch) -> None:
    made: list[Duck] = []
    real = Duck.__init__

    def watched(self) -> None:
        made.append(self)
        real(self)

    monkeypatch.setattr(Duck, "__init__", watched)
    store = Store.open(three_weeks.address)
    for query in (Query(), Query(branch="main"), Query(since=timedelta(days=8)), Query()):
        store.health(query)
        store.answer("spent", ("matches",), query)
    assert len(made) == 1
    assert len(store.answer("pools", (), Query(since=timedelta(days=8)))) == 2
    assert len(store.answer("pools", (), Query())) == 3
    store.ingest([make.record(make.build(16), make.job("new"), make.attempt("a"))])
    assert len(store.answer("pools", (), Query())) == 4
    assert len(made) == 2


def test_answers_that_nobody_asked_for_lately_go(three_weeks, tmp_path, monkeypatch) -> None:
    monkeypatch.setattr(rollups, "_ANSWERS", 2)
    for days in range(1, 6):
        three_weeks.fleet(Query(since=timedelta(days=days)))
    names = {path.name.partition(".")[0] for path in (tmp_path / "store" / FOLDER).glob(f"{ANSWER}*")}
    assert len(names) == 2


def test_one_kept_week_is_taken_over_as_it_is(store, make, counted, joined, monkeypatch) -> None:
    """The week before has steps and tests before these, so numbers of tests, pools and builds differ."""
    skipped = make.attempt("s", Outcome.SKIPPED)
    failed = make.attempt("z", Outcome.FAILED)
    store.ingest(
        [
            make.record(make.build(1), make.job("j0", step="alpha"), make.attempt("z")),
            make.record(make.build(1), make.job("j1", step="unit"), make.attempt("z"), skipped),
            make.record(make.build(8), make.job("j8", step="unit"), failed, make.attempt("y")),
            make.record(make.build(9), make.job("j9", step="kernels"), make.attempt("a", file="tests/a.py"), skipped),
            make.record(make.build(10), make.job("k10", step="unit"), make.attempt("z"), make.attempt("y")),
        ]
    )
    store.fleet(Query())
    counted.clear()
    joined.clear()
    found = Store.open(store.address).fleet(Query(since=timedelta(days=3)))
    assert (counted, joined) == ([], [])
    assert [(pool.step, pool.orders) for pool in found.pools] == [("kernels", (1,)), ("unit", (0, 2))]
    assert [
        (one.variant.test.name, one.variant.step, [run.order for run in one.runs], one.passes, one.skips, one.file)
        for one in found.histories
    ] == [
        ("a", "kernels", [], (Streak(1, 1, 1),), (), "tests/a.py"),
        ("s", "kernels", [], (), (Streak(1, 1, 1),), ""),
        ("y", "unit", [], (Streak(0, 2, 2),), (), ""),
        ("z", "unit", [0], (Streak(2, 2, 1),), (), ""),
    ]
    assert found == anew(store, Query(since=timedelta(days=3)), monkeypatch)[0]
    with monkeypatch.context() as kept:
        kept.setattr(Selection, "make", lambda *_: pytest.fail("the answer was kept: no jobs need be selected"))
        assert Store.open(store.address).fleet(Query(since=timedelta(days=3))) == found


def test_a_kept_part_of_weeks_that_interleave_is_joined(store, make, joined) -> None:
    """The second of three builds was created a week before the others: all three are one part."""
    builds = [make.build(8), make.build(9, created_at=make.monday), make.build(10)]
    store.ingest([make.record(build, make.job(build.key), make.attempt("a")) for build in builds])
    for query in (Query(), Query(since=timedelta(days=30))):
        (history,) = Store.open(store.address).histories(query)
        assert history.passes == (Streak(0, 2, 3),)
    assert [sorted(weeks) for weeks in joined] == [["2026-W45", "2026-W46"]]


def test_vacuum_takes_rollups_that_nobody_uses(three_weeks, tmp_path) -> None:
    three_weeks.fleet(Query())
    kept = len(list((tmp_path / "store" / FOLDER).iterdir()))
    assert kept == 3 * 5 + 7, "five tables a week, seven of the whole answer"
    assert three_weeks.vacuum(hours=24).files == 0
    assert three_weeks.vacuum(hours=0).files >= kept
    assert list((tmp_path / "store" / FOLDER).iterdir()) == []
