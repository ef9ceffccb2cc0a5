"""Whose process is it: parents while they live, the mark in the environment after."""

from __future__ import annotations

import os
import subprocess
import sys

from gpu_guard.memory.process import Family, descends, name_of, parent_of

MARK = "GPU_GUARD_TEST_MARK"


def test_children_and_orphans_are_family_and_others_are_not():
    family = Family(MARK, "mine")
    marked = {**os.environ, MARK: "mine"}
    leave = ["sh", "-c", "sleep 30 >/dev/null & echo $!"]
    shell = subprocess.Popen(leave, stdout=subprocess.PIPE, text=True, env=marked)
    orphan = int(shell.stdout.readline())
    shell.communicate()
    child = subprocess.Popen(["sleep", "30"])
    try:
        assert parent_of(child.pid) == os.getpid()
        assert not descends(orphan, os.getpid())
        assert family.owns(child.pid)
        assert family.owns(orphan)
        assert not Family(MARK, "another's").owns(orphan)
        assert not family.owns(os.getpid())
        assert not family.owns(1)
        assert name_of(child.pid) == "sleep"
    finally:
        for pid in (child.pid, orphan):
            os.kill(pid, 9)
        child.wait()


def test_a_process_is_called_what_it_calls_itself():
    rename = "import ctypes; ctypes.CDLL(None).prctl(15, b'title'); print(flush=True); input()"
    child = subprocess.Popen([sys.executable, "-c", rename], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    try:
        child.stdout.readline()
        assert name_of(child.pid).startswith("python")
    finally:
        child.kill()
        child.communicate()
    assert name_of(child.pid) == ""
