"""What a report's name tells; the right answers are a reader's."""

from __future__ import annotations

import pytest

from flake_report.model.joblog import Session
from flake_report.parse.reportnames import lasting_names, names, of_recorder, session_of_report


def session(command: str) -> Session:
    return Session("pytest", 1, 2, command=command)


def test_a_report_is_of_the_session_whose_command_names_it() -> None:
    one = session("pytest --junitxml=out/junit-a.xml a")
    two = session("pytest --junitxml=out/junit-b.xml b")
    assert session_of_report("artifacts/junit-b.xml", (one, two)) is two
    assert session_of_report("artifacts/other.xml", (one, two)) is None


def test_a_lone_session_wrote_the_report_unless_it_names_another() -> None:
    naming, silent = session("pytest --junitxml=out/junit-a.xml a"), session("pytest a")
    assert session_of_report("other.xml", (silent,)) is silent
    assert session_of_report("other.xml", (naming,)) is None
    assert session_of_report("other.xml", ()) is None


@pytest.mark.parametrize(
    "command",
    [
        "pytest --junitxml=gpu.xml",
        "pytest --junitxml=out/gpu.xml a",
        "pytest --junit-xml=out/gpu.xml a",
        "pytest --junitxml out/gpu.xml a",
        "pytest --junit-xml 'out dir/gpu.xml' a",
        "pytest --junitxml=$OUT/gpu.xml",
        "pytest --junitxml=$NAME.xml",
        "pytest --junitxml=g${PART}.xml",
        "pytest --junitxml=g$(date +%s).xml",
        "pytest a --junitxml=gpu.xml; true",
        "pytest --junitxml=gpu.xml 2>&1 | tee x",
        "pytest -k 'cut --junitxml=gpu.xml",
    ],
)
def test_the_report_option_names_the_file(command: str) -> None:
    assert names(command, "job/artifacts/gpu.xml")


@pytest.mark.parametrize(
    "command",
    [
        "pytest --junitxml=multi-gpu.xml",
        "pytest --junitxml=gpu.xml.bak",
        "pytest gpu.xml",
        "pytest --html=gpu.xml",
        "pytest --junitxml",
        "pytest --junitxml=gpu.xml$X.html",
        "pytest --junitxml=gpu$A.$B.xml",
        "pytest | tee --junitxml=gpu.xml",
        "",
    ],
)
def test_a_word_that_only_looks_like_it_names_nothing(command: str) -> None:
    assert not names(command, "gpu.xml")


def test_the_recorders_report_ends_with_the_whole_id_of_its_session() -> None:
    assert of_recorder("out/junit-job-20261130T100000.000000Z-77.xml", "20261130T100000.000000Z-77")
    assert not of_recorder("out/junit-job-20261130T100000.000000Z-77.xml", "20261130T100000.000000Z-7")
    assert not of_recorder("out/junit-.xml", "")


@pytest.mark.parametrize(
    ("name", "lasting"),
    [
        ("out/gpu.xml", "out/gpu.xml"),
        ("h100-shard-2.xml", "h100-shard-2.xml"),
        ("TEST-com.acme.CacheTest.xml", "TEST-com.acme.CacheTest.xml"),
        ("deadbeef.xml", "deadbeef.xml"),
        ("junit-61473.xml", "junit-*.xml"),
        ("junit-0193f2a6-7c1e-4b8e-9d55-0a1b2c3d4e5f.xml", "junit-*.xml"),
        ("r-2026-11-30T09-25-37Z.xml", "r-*.xml"),
        ("r-2026-11-30.xml", "r-*.xml"),
        ("r-20261130T092537.123456Z-738.xml", "r-*.xml"),
        ("r-8b1dbaf0.xml", "r-*.xml"),
    ],
)
def test_what_is_new_in_every_build_is_no_part_of_a_lasting_name(name: str, lasting: str) -> None:
    assert lasting_names([(name, "")]) == {(name, ""): lasting}


def test_equal_lasting_names_are_told_apart_by_order() -> None:
    reports = [("r-2026-11-30.xml", ""), ("r-2026-11-29.xml", ""), ("a.xml", "2"), ("a.xml", "1"), ("a.xml", "10")]
    assert lasting_names(reports) == {
        ("a.xml", "1"): "a.xml",
        ("a.xml", "2"): "a.xml #2",
        ("a.xml", "10"): "a.xml #3",
        ("r-2026-11-29.xml", ""): "r-*.xml",
        ("r-2026-11-30.xml", ""): "r-*.xml #2",
    }
