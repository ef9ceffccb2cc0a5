"""The table of profiles: what ships, what users add, and what is said of mistakes."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gpu_guard import profiles
from gpu_guard.profiles import SCHEMA, Profile, ProfileError, load, pick, read

GIB = 2**30


def table(**rows) -> str:
    return json.dumps({"schema": SCHEMA, "profiles": rows})


def mistakes(text: str) -> list[str]:
    with pytest.raises(ProfileError) as caught:
        read(text, "mine.json")
    return caught.value.mistakes


def test_the_profile_of_the_hma_test_is_what_its_failures_ask_for():
    profile = pick("nixl-hma")
    assert profile.ceiling == 0.3
    assert profile.engine == {
        "max_num_seqs": 1, "max_num_batched_tokens": 2048, "block_size": 16, "max_model_len": 2048,
        "enforce_eager": True, "enable_prefix_caching": False,
    }  # fmt: skip
    assert profile.environment == {"VLLM_ENABLE_V1_MULTIPROCESSING": "0"}
    # The second failure seen on an L4 left 4.51 of 22.05 GiB: the profile must be able to go there.
    assert profile.floor <= 0.2
    assert profile.need_gib <= 0.2 * 22.05


def test_a_table_of_ones_own_adds_and_stands_before(tmp_path):
    file = tmp_path / "mine.json"
    file.write_text(table(**{"my-test": {"ceiling": 0.5}, "nixl-hma": {"ceiling": 0.2, "about": "smaller"}}))
    known = load(file)
    assert known["my-test"] == Profile("my-test", 0.5)
    assert known["nixl-hma"] == Profile("nixl-hma", 0.2, about="smaller")


def test_a_profile_is_asked_of_the_budget():
    profile = Profile("x", 0.3, 0.1, 3.5)
    assert profile.want() == (0.3, 0.1, round(3.5 * GIB), 0)
    assert profile.want(0.4, GIB) == (0.4, 0.1, round(3.5 * GIB), GIB)


def test_every_mistake_is_said_at_once_with_its_place():
    text = json.dumps(
        {
            "schema": "gpu-guard-profiles/2",
            "profile": {},
            "profiles": {
                "a": {"ceiling": 1.5, "floor": "low", "need_gib": -1, "celing": 1},
                "b": {"floor": 0.5, "engine": {"max-num-seqs": 1, "max_num_seqs": -1, "gpu_memory_utilization": 0.5,
                                               "block_size": [16]}},
                "c d": {"ceiling": 0.2, "floor": 0.3, "environment": {"A": 1, "1B": "x"}, "about": 3},
                "d": 0.3,
                "e": {"ceiling": True, "engine": [], "environment": []},
                "f": {"ceiling": 0.5, "need_gib": 80000},
            },
        }
    )  # fmt: skip
    assert mistakes(text) == [
        "mine.json: " + sentence
        for sentence in [
            "\"schema\" must be 'gpu-guard-profiles/1', not 'gpu-guard-profiles/2'",
            "\"profile\" is not known; 'profiles' is meant?",
            "profile 'a': \"celing\" is not known; 'ceiling' is meant?",
            "profile 'a': \"ceiling\" must be a number above 0 and at most 1, not 1.5",
            "profile 'a': \"floor\" must be a number above 0 and at most 1, not 'low'",
            "profile 'a': \"need_gib\" must be GiB of one card, a number above 0, not -1",
            "profile 'b': \"ceiling\" is missing: the utilization that the test would like",
            (
                "profile 'b': \"engine\": 'max-num-seqs' is no argument of vLLM: "
                "write it as Python does, such as max_num_seqs"
            ),
            "profile 'b': \"engine\": max_num_seqs must be above 0, not -1",
            'profile \'b\': "engine": gpu_memory_utilization is what "ceiling" and "floor" are for',
            "profile 'b': \"engine\": block_size must be a number, a text, true or false, not [16]",
            "profile 'c d': a name is made of letters, digits, '.', '_' and '-'",
            'profile \'c d\': "floor" 0.3 is above "ceiling" 0.2',
            "profile 'c d': \"about\" must be a text",
            "profile 'c d': \"environment\": A must be a text in quotes, not 1",
            "profile 'c d': \"environment\": '1B' is no name of a variable",
            "profile 'd': must be an object, such as {\"ceiling\": 0.3}",
            "profile 'e': \"ceiling\" must be a number above 0 and at most 1, not True",
            "profile 'e': \"engine\" must be an object: argument of vLLM -> value",
            "profile 'e': \"environment\" must be an object: variable -> text",
            "profile 'f': \"need_gib\" must be GiB of one card, a number above 0, not 80000",
        ]
    ]


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("{", "this is no JSON: Expecting property name enclosed in double quotes: line 1 column 2"),
        ("[]", 'this is no table of profiles: it starts with {"schema"'),
        (f'{{"schema": "{SCHEMA}"}}', '"profiles" must be an object'),
        (f'{{"schema": "{SCHEMA}", "profiles": {{"a": {{"ceiling": 1, "ceiling": 0.5}}}}}}', "'ceiling' stands twice"),
        (f'{{"schema": "{SCHEMA}", "profiles": {{"a": {{"ceiling": NaN}}}}}}', '"ceiling" must be a number'),
        ("[" * 100_000, "nested too deeply"),
        (table(a={"ceiling": 0.3, "environment": {"A": "x\0"}}), "must be a text in quotes"),
        (table(a={"ceiling": 0.3, "engine": {"seed": float("inf")}}), "seed must be above 0, not inf"),
    ],
)
def test_a_table_that_cannot_be_read_says_why(text, words):
    (sentence,) = mistakes(text)
    assert sentence.startswith("mine.json: ")
    assert words in sentence


def test_an_unknown_name_gets_the_nearest():
    with pytest.raises(
        ProfileError, match=r"no profile is named 'nixl_hma'; 'nixl-hma' is meant\?: there are nixl-hma; "
    ):
        pick("nixl_hma")


@pytest.mark.parametrize("content", [None, b"\xff\xfe"], ids=["absent", "another encoding"])
def test_a_file_that_cannot_be_read_is_named(tmp_path, content):
    file = tmp_path / "mine.json"
    if content is not None:
        file.write_bytes(content)
    with pytest.raises(ProfileError, match=f"{file}: the profiles cannot be read: "):
        load(file)


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3),
    max_leaves=8,
)
fields = st.dictionaries(
    st.sampled_from(["about", "ceiling", "floor", "need_gib", "engine", "environment", "x"]), json_values
)


@given(rows=st.dictionaries(st.text(max_size=5), fields | json_values, max_size=4))
def test_whatever_a_table_holds_it_is_read_or_its_mistakes_are_said(rows):
    try:
        found, said = read(table(**rows), "mine.json"), ["read"]
    except ProfileError as error:
        found, said = {}, error.mistakes
    assert said
    assert all("\n" not in sentence and len(sentence) < 300 for sentence in said)
    for profile in found.values():
        assert 0 < (profile.floor or profile.ceiling) <= profile.ceiling <= 1


@given(text=st.text())
def test_any_text_is_a_table_or_a_sentence(text):
    assert mistakes(text)


def test_the_table_in_the_readme_is_a_table():
    readme = (Path(profiles.__file__).parents[1] / "README.md").read_text(encoding="utf-8")
    (block,) = re.findall(r"```json\n(.*?)```", readme, re.DOTALL)
    assert list(read(block, "README.md")) == ["my-test"]
