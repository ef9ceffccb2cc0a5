"""A store in a bucket is a store as any other: on a real S3 server, with writers in processes of their own."""

from __future__ import annotations

import pickle
import re
import subprocess
import sys
from collections import Counter
from pathlib import Path

import obstore
import obstore.store
import pytest
import requests

from flake_report.cli import main
from flake_report.errors import FlakeReportError
from flake_report.model.query import Query
from flake_report.model.results import Outcome
from flake_report.store import Store
from flake_report.store.layout import TABLES
from flake_report.store.root import located

WRITERS, ROUNDS = 4, 5

PROGRAM = """
import pickle, sys
from flake_report.store import Store
for record in pickle.load(sys.stdin.buffer):
    Store.create_or_open(sys.argv[1]).ingest([record])
"""


def refusal(action, *arguments) -> str:
    with pytest.raises(FlakeReportError) as caught:
        action(*arguments)
    assert "\n" not in str(caught.value)
    return str(caught.value)


@pytest.fixture
def history(make):
    """Two weeks; a test that fails on Mondays, a job that comes again, a failure of the surroundings."""
    records = [
        make.record(
            make.build(number),
            make.job(f"job-{number}"),
            make.attempt("steady"),
            make.attempt("monday", Outcome.FAILED if number % 7 == 1 else Outcome.PASSED, message="E boom"),
        )
        for number in range(1, 12)
    ]
    again = make.record(make.build(3), make.job("job-3"), make.attempt("steady", Outcome.FAILED))
    return [*records, again]


@pytest.fixture
def both(bucket: str, tmp_path: Path, history) -> list[Store]:
    """The same history in a folder and in a bucket, each in several commits."""
    stores = [Store.create_or_open(path) for path in (str(tmp_path / "store"), bucket)]
    for store in stores:
        for record in history:
            store.ingest([record])
    return [Store.open(path) for path in (str(tmp_path / "store"), bucket)]


def test_a_bucket_answers_as_a_folder_does(both) -> None:
    folder, bucket = both
    assert len(folder.histories(Query())) == 2
    assert bucket.histories(Query()) == folder.histories(Query())
    assert bucket.health(Query()) == folder.health(Query())
    for kind in TABLES:
        columns = [column for column in folder.table(kind).columns if column != "ingest"]
        seen = [sorted(store.table(kind).project(*columns).fetchall(), key=repr) for store in both]
        assert seen[0] == seen[1]


def test_upkeep_works_in_a_bucket(both) -> None:
    _, bucket = both
    before = bucket.histories(Query())
    compacted = bucket.compact()
    assert compacted.files_after < compacted.files_before
    assert compacted.rows_dropped > 0
    assert [check for check in bucket.verify() if check.broken] == []
    assert bucket.info().unnamed >= compacted.files_before
    assert bucket.vacuum(hours=0).files >= compacted.files_before
    assert bucket.info().unnamed == 0
    assert bucket.histories(Query()) == before


def test_several_writers_lose_nothing_and_nothing_counts_twice(bucket: str, make, s3_server) -> None:
    def record(writer: int, turn: int):
        """In the first round all writers bring the same job, each with its own number of attempts."""
        name = "shared" if turn == 0 else f"{writer}-{turn}"
        return make.record(make.build(turn + 1), make.job(name), *(make.attempt(f"t{at}") for at in range(20 + writer)))

    turns = [pickle.dumps([record(writer, turn) for turn in range(ROUNDS)]) for writer in range(WRITERS)]
    writers = [subprocess.Popen([sys.executable, "-c", PROGRAM, bucket], stdin=subprocess.PIPE) for _ in turns]
    for process, given in zip(writers, turns, strict=True):
        assert process.stdin is not None
        process.stdin.write(given)
        process.stdin.close()
    assert [process.wait(120) for process in writers] == [0] * WRITERS

    store = Store.open(bucket)
    per_job = dict(store.table("attempts").aggregate("job, count(*)").fetchall())
    assert per_job.pop("shared") in {20 + writer for writer in range(WRITERS)}
    assert per_job == {f"{writer}-{turn}": 20 + writer for writer in range(WRITERS) for turn in range(1, ROUNDS)}
    assert [check for check in store.verify() if check.broken] == []

    folder = bucket.removeprefix("s3:/")
    commit = re.compile(rf"(\d+) (\S+) ({folder}/_delta_log/\d+\.json)")
    told = [found.groups() for line in s3_server.told() if (found := commit.fullmatch(line))]
    assert {condition for _, condition, _ in told} == {"*"}
    stored = Counter(path for status, _, path in told if status == "200")
    assert set(stored.values()) == {1}
    assert len(stored) > WRITERS * ROUNDS  # one made the table


def test_a_commit_whose_answer_is_lost_counts_once(bucket: str, make, s3_server) -> None:
    store = Store.create_or_open(bucket)
    requests.post(f"{s3_server.address}/lose", timeout=10).raise_for_status()
    store.ingest([make.record(make.build(), make.job(), make.attempt("a"))])
    assert [line.split()[0] for line in s3_server.told()[-2:]] == ["200", "412"]
    assert Store.open(bucket).table("attempts").project("name").fetchall() == [("a",)]
    assert store.info().tables["jobs"].rows == 1


def test_a_folder_in_a_bucket_that_holds_something_else_is_refused(bucket: str) -> None:
    inside = obstore.store.from_url(bucket)
    obstore.put(inside, "notes.txt", b"mine")
    assert "this folder is no store; name the folder" in refusal(Store.open, bucket)
    assert "this folder is no store and not empty" in refusal(Store.create_or_open, bucket)
    assert bytes(obstore.get(inside, "notes.txt").bytes()) == b"mine"


@pytest.mark.parametrize("action", [Store.open, Store.create_or_open], ids=["open", "create or open"])
def test_a_bucket_that_is_not_there_is_one_sentence(action, bucket: str) -> None:
    said = refusal(action, bucket.replace("s3://bucket/", "s3://bukket/"))
    assert said.endswith("(NoSuchBucket: The specified bucket does not exist); check the address and the credentials")


def test_refused_credentials_are_one_sentence(bucket: str, s3_server) -> None:
    Store.create_or_open(bucket)
    requests.post(f"{s3_server.address}/moto-api/reset-auth", data="0", timeout=10).raise_for_status()
    try:
        said = refusal(Store.open, bucket)
    finally:
        requests.post(f"{s3_server.address}/moto-api/reset-auth", data="inf", timeout=10).raise_for_status()
    assert "cannot be read (InvalidAccessKeyId: " in said
    assert Store.open(bucket).histories(Query()) == ()


def test_a_server_that_is_not_there_is_one_sentence(bucket: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AWS_ENDPOINT_URL", "http://127.0.0.1:9")
    assert "Connection refused" in refusal(Store.open, bucket)


def test_a_data_file_that_is_gone_is_named_in_one_sentence(bucket: str, make) -> None:
    store = Store.create_or_open(bucket)
    store.ingest([make.record(make.build(), make.job(), make.attempt("a"))])
    inside = obstore.store.from_url(bucket)
    [[file]] = obstore.list(inside, "kind=attempts")
    obstore.delete(inside, file["path"])
    said = refusal(store.histories, Query())
    assert said.startswith(f"store {bucket}: cannot be read (")
    assert ".parquet" in said


def test_the_commands_take_an_address(bucket: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "results" / "1").mkdir(parents=True)
    report = '<testsuite tests="1"><testcase classname="a" name="b"><failure message="E boom"/></testcase></testsuite>'
    (tmp_path / "results" / "1" / "junit.xml").write_text(report)
    assert main(["ingest", str(tmp_path / "results"), "--store", bucket]) == 0
    assert main(["show", "--store", bucket, "--all"]) == 0
    assert "a::b" in capsys.readouterr().out
    assert main(["show", "--store", f"{bucket}/nothing"]) == 2
    assert "this folder is no store" in capsys.readouterr().err


@pytest.mark.parametrize(
    "address", ["s3://bucket", "gs://my.bucket/a/b", "az://container/a b/c=1", "s3://bucket/store/"]
)
def test_an_address_may_be_of_any_of_three_clouds(address: str) -> None:
    assert located(address).address == address.rstrip("/")
