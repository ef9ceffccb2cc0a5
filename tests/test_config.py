"""`flake-report.toml`: what it may say, and how each mistake is named."""

from __future__ import annotations

import dataclasses
import re
from datetime import timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from flake_report.config import SETTINGS, parse_config, share, span
from flake_report.errors import FlakeReportError
from flake_report.model.config import Config, OwnersConfig, QueueConfig
from flake_report.model.evidence import LogMode

FULL = """
[collect]
archive = "s3://bucket/archive"
logs = "failed"
artifacts = ["**/*.xml", "reports/*.jsonl"]
branch = "main"
since = "36h"
budget = "50%"

[store]
path = "s3-less/store"

[rates]
branch = "release/*"
since = "4w"
budget = "0.2%"

[queues.gpu_4_queue]
gpus = 4
price_per_hour = 4.602
gpu_type = "H100"

[owners]
PATTERN = "@anybody"
codeowners = "docs/CODEOWNERS"
"v1.kv*" = "@kv"
"""


def said(text: str) -> str:
    with pytest.raises(FlakeReportError) as raised:
        parse_config(text, "flake-report.toml")
    return str(raised.value)


def test_an_empty_file_is_all_defaults() -> None:
    assert parse_config("", "flake-report.toml") == Config()


def test_every_setting_can_be_given() -> None:
    config = parse_config(FULL, "flake-report.toml")
    collect = config.collect
    assert (collect.archive, collect.logs, collect.artifacts) == (
        "s3://bucket/archive",
        LogMode.FAILED,
        ("**/*.xml", "reports/*.jsonl"),
    )
    assert (collect.branch, collect.since, collect.budget) == ("main", timedelta(hours=36), 0.5)
    assert config.store.path == "s3-less/store"
    assert (config.rates.branch, config.rates.since, config.rates.budget) == ("release/*", timedelta(weeks=4), 0.002)
    assert config.queues == {"gpu_4_queue": QueueConfig(4, 4.602, "H100")}
    assert config.owners == OwnersConfig({"PATTERN": "@anybody", "v1.kv*": "@kv"}, "docs/CODEOWNERS")
    given_keys = re.findall(r"^(\w+) =", FULL, re.MULTILINE)
    assert given_keys == [setting.key for setting in SETTINGS]


def test_the_table_of_settings_is_the_configuration() -> None:
    fields = {
        (section.name, field.name)
        for section in dataclasses.fields(Config)
        if section.name not in {"queues", "owners"}
        for field in dataclasses.fields(getattr(Config(), section.name))
    } | {("queues.NAME", field.name) for field in dataclasses.fields(QueueConfig)}
    fields |= {("owners", "PATTERN"), ("owners", "codeowners")}
    assert {(setting.section, setting.key) for setting in SETTINGS} == fields


def test_each_setting_says_what_it_is_for() -> None:
    for setting in SETTINGS:
        assert setting.meaning.endswith(".")
        assert setting.takes
        assert setting.default
        assert setting.name == f"[{setting.section}] {setting.key}"


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ('[store]\npaht = "x"', "[store] paht is unknown; the nearest is path"),
        ('[rates]\nbranches = "x"', "[rates] branches is unknown; the nearest is branch"),
        ("[rate]", "[rate] is unknown; the nearest is [rates]"),
        ('path = "x"', "path is unknown; the nearest is [store] path"),
        ("store = 3", "[store] must be a table, not 3"),
        ("[[store]]\npath = 'x'", "[store] must be a table, not [{'path': 'x'}]"),
        ("[store]\npath = 3", "[store] path takes text, not 3"),
        ('[store]\npath = " "', "[store] path takes text, not ' '"),
        ("[rates]\nbranch = ['main']", "[rates] branch takes text, not ['main']"),
        ('[rates]\nsince = "4 weeks"', '[rates] since takes a span such as "36h", "14d", "4w", not \'4 weeks\''),
        ('[collect]\nlogs = "some"', '[collect] logs takes "all" or "failed", not \'some\''),
        ("[collect]\nlogs = true", '[collect] logs takes "all" or "failed", not True'),
        ('[collect]\nartifacts = "*.xml"', "[collect] artifacts takes a list of patterns, not '*.xml'"),
        ("[collect]\nartifacts = [3]", "[collect] artifacts takes a list of patterns, not [3]"),
        ('[collect]\nbudget = "0%"', "[collect] budget takes a share such as \"80%\", not '0%'"),
        ("[collect]\nbudget = 0.8", '[collect] budget takes a share such as "80%", not 0.8'),
        ('[collect]\ntoken = "x"', "[collect] token is unknown; the nearest is logs"),
        ("owners = 3", "[owners] must be a table, not 3"),
        ("[owners]\na = 3", "[owners] 'a' takes the owner's name as text, not 3"),
        ("[owners]\ncodeowners = 3", "[owners] codeowners takes text, not 3"),
        ("[rates]\nsince = 4", '[rates] since takes a span such as "36h", "14d", "4w", not 4'),
    ],
)
def test_a_mistake_is_one_sentence_with_the_file_and_the_place(text: str, sentence: str) -> None:
    assert said(text) == f"flake-report.toml: {sentence}"


def test_all_mistakes_are_named_at_once() -> None:
    message = said('[store]\npaht = "x"\n[rates]\nbranch = 4\nsince = "soon"\n[queus]\n')
    for part in ("paht", "branch takes text, not 4", "'soon'", "[queus]"):
        assert part in message
    assert message.count("; ") >= 3


def test_text_that_is_no_toml_says_where() -> None:
    message = said("[store]\npath = \n")
    assert re.fullmatch(r"flake-report\.toml: is no TOML: .*at line 2, column \d+\); mend that place", message)


@pytest.mark.parametrize(
    ("text", "length"), [("36h", timedelta(hours=36)), ("14d", timedelta(days=14)), ("4w", timedelta(days=28))]
)
def test_a_span_is_a_number_and_a_unit(text: str, length: timedelta) -> None:
    assert span(text) == length


@pytest.mark.parametrize("text", ["", "4", "w", "-4w", "4W", "4w ", "4.5d", "4w2d", "999999d", None, 4])
def test_anything_else_is_no_span(text: object) -> None:
    with pytest.raises(ValueError, match=r"^$"):
        span(text)


@pytest.mark.parametrize(("text", "part"), [("1%", 0.01), ("80%", 0.8), ("100%", 1.0), ("8.5%", 0.085)])
def test_a_share_is_a_percentage(text: str, part: float) -> None:
    assert share(text) == part


@pytest.mark.parametrize("text", ["", "80", "0%", "101%", "-5%", "0.0%", ".5%", "5.%", "100.5%", "80 %", None, 80])
def test_anything_else_is_no_share(text: object) -> None:
    with pytest.raises(ValueError, match=r"^$"):
        share(text)


@given(st.text(max_size=60))
def test_any_text_gives_settings_or_the_one_expected_error(text: str) -> None:
    try:
        config = parse_config(text, "x")
    except FlakeReportError:
        config = Config()
    assert config == Config()


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("[queues.l4]\ngpu = 1", "[queues.l4] gpu is unknown; the nearest is gpus"),
        ("[queues.l4]\ngpus = -1", "[queues.l4] gpus takes a number, not -1"),
        ("[queues.l4]\ngpus = true", "[queues.l4] gpus takes a number, not True"),
        ("[queues.l4]\nprice_per_hour = inf", "[queues.l4] price_per_hour takes a number, not inf"),
        ("[queues]\nl4 = 3", "[queues.l4] must be a table, not 3"),
        ("queues = 3", "[queues.NAME] must be a table, not queues = 3"),
        ("[queue.l4]\ngpus = 1", "[queue] is unknown; the nearest is [queues.NAME]"),
    ],
)
def test_mistakes_in_queues_are_named(text: str, sentence: str) -> None:
    assert said(text) == f"flake-report.toml: {sentence}"


def test_a_queue_needs_no_price() -> None:
    assert parse_config('[queues."my queue"]', "x").queues == {"my queue": QueueConfig(gpus=1, price_per_hour=None)}
