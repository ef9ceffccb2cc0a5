"""Which build, job and step a URL names; the forms are those of the browser's address bar and of the REST API."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from flake_report.collect.buildurl import BuildPlace, is_url, read_build_url
from flake_report.collect.servers import Servers
from flake_report.errors import FlakeReportError

JOB = "0196a0f3-8a4f-4a3e-9d36-5f0c9d1e0c3b"
STEP = "0196a0f3-1111-4a3e-9d36-5f0c9d1e0c3b"
BUILD = "https://buildkite.com/vllm/ci/builds/61473"


@pytest.mark.parametrize(
    ("url", "job", "step"),
    [
        (BUILD, None, None),
        (f"{BUILD}/", None, None),
        (f"{BUILD}#{JOB}", JOB, None),
        (f"{BUILD}#{JOB.upper()}", JOB, None),
        (f"{BUILD}#{JOB}/120-140", JOB, None),
        (f"{BUILD}/steps/canvas?jid={JOB}&tab=output", JOB, None),
        (f"{BUILD}/list?sid={STEP}", None, STEP),
        (f"{BUILD}/steps/canvas?sid={STEP}", None, STEP),
        (f"{BUILD}#annotations", None, None),
        (f"https://buildkite.com/organizations/vllm/pipelines/ci/builds/61473/jobs/{JOB}/download", JOB, None),
        (f"https://api.buildkite.com/v2/organizations/vllm/pipelines/ci/builds/61473/jobs/{JOB}/log", JOB, None),
        ("https://api.buildkite.com/v2/organizations/vllm/pipelines/ci/builds/61473", None, None),
        (BUILD.replace("buildkite.com", "BuildKite.com"), None, None),
    ],
)
def test_every_form_names_the_same_build(url: str, job: str | None, step: str | None) -> None:
    assert read_build_url(url, Servers()) == BuildPlace("vllm", "ci", 61473, job, step)


def test_a_server_that_the_environment_names_counts_as_buildkite() -> None:
    env = {"BUILDKITE_WEB_URL": "http://127.0.0.1:8000/bk/", "BUILDKITE_API_URL": "https://proxy.example/kite"}
    servers = Servers.from_env(env)
    assert (servers.web, servers.api) == ("http://127.0.0.1:8000/bk", "https://proxy.example/kite/v2")
    named = BuildPlace("acme", "ci", 7)
    assert read_build_url("http://127.0.0.1:8000/bk/acme/ci/builds/7", servers) == named
    api = "https://proxy.example/kite/v2/organizations/acme/pipelines/ci/builds/7"
    assert read_build_url(api, servers) == named
    assert read_build_url("https://buildkite.com/acme/ci/builds/7", servers) == named


@pytest.mark.parametrize(
    ("url", "said"),
    [
        ("https://github.com/vllm-project/vllm/pull/1", "no Buildkite URL"),
        ("https://buildkite.com.evil.example/vllm/ci/builds/1", "no Buildkite URL"),
        ("https://buildkite.com@evil.example/vllm/ci/builds/1", "no Buildkite URL"),
        ("https://buildkite.com/vllm/ci", "names no build"),
        ("https://buildkite.com/vllm/ci/builds/latest", "names no build"),
        ("https://buildkite.com/vllm/../builds/1", "names no build"),
        ("https://[buildkite.com/vllm/ci/builds/1", "is no URL"),
    ],
)
def test_any_other_url_is_refused_in_a_sentence(url: str, said: str) -> None:
    with pytest.raises(FlakeReportError, match=said):
        read_build_url(url, Servers())


@given(st.text(max_size=80))
def test_any_text_names_a_build_or_raises_the_expected_error(text: str) -> None:
    try:
        place = read_build_url(f"https://buildkite.com/{text}", Servers())
    except FlakeReportError:
        return
    assert place.number >= 0
    assert "/" not in place.org + place.pipeline


@pytest.mark.parametrize(
    "url",
    [
        "ftp://host",
        "buildkite.com",
        "https://",
        "https://me:secret@host",
        "https://host?x=secret",
        "http://host:99999999",
    ],
)
def test_a_wrong_server_is_named_by_its_variable_and_not_repeated(url: str) -> None:
    with pytest.raises(FlakeReportError, match="BUILDKITE_WEB_URL is no base URL") as raised:
        Servers.from_env({"BUILDKITE_WEB_URL": url})
    assert "secret" not in str(raised.value)


def test_an_empty_variable_is_no_server() -> None:
    assert Servers.from_env({"BUILDKITE_API_URL": ""}) == Servers()


def test_what_begins_like_a_url_is_one_and_a_windows_path_is_not() -> None:
    assert is_url("HTTPS://buildkite.com/x")
    assert not is_url("C:/logs/build.log")
    assert not is_url("https.log")
