"""Real runs of Surefire, Playwright and gotestsum of one script: the attempts read back equal it.

Each tool comes from its registry by its ordinary client; without tool or registry the test is skipped.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from collections import defaultdict
from pathlib import Path

import pytest

from flake_report.model.results import Attempt, ReportSummary
from flake_report.parse.reports import read_report

POM = """<project xmlns="http://maven.apache.org/POM/4.0.0"><modelVersion>4.0.0</modelVersion>
<groupId>script</groupId><artifactId>script</artifactId><version>1</version>
<properties><maven.compiler.source>17</maven.compiler.source><maven.compiler.target>17</maven.compiler.target>
<project.build.sourceEncoding>UTF-8</project.build.sourceEncoding></properties>
<dependencies><dependency><groupId>org.junit.jupiter</groupId><artifactId>junit-jupiter</artifactId>
<version>5.11.4</version><scope>test</scope></dependency></dependencies>
<build><plugins><plugin><artifactId>maven-surefire-plugin</artifactId><version>3.5.2</version>
<configuration><rerunFailingTestsCount>2</rerunFailingTestsCount></configuration></plugin></plugins></build></project>
"""
JAVA = """package script;
import org.junit.jupiter.api.*;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
class ScriptTest {
  static int tried, thrown;
  @Test void pass() {}
  @Test void failFailPass() { tried++; System.out.println("attempt " + tried); Assertions.assertEquals(3, tried); }
  @Test void errorPass() { if (thrown++ == 0) throw new IllegalStateException("not <yet>"); }
  @Test void failFailFail() { Assertions.fail("never"); }
  @Test @Disabled("no GPU") void skip() {}
  @ParameterizedTest @ValueSource(ints = {1, 2}) void rows(int row) {}
}
"""
PLAYWRIGHT_CONFIG = """module.exports = { retries: 2, workers: 1, reporter: [['junit', { outputFile: 'out.xml' }]],
  projects: [{ name: 'one' }, { name: 'two' }] };
"""
PLAYWRIGHT = """const { test, expect } = require('@playwright/test');
test('pass', () => {});
test('fail fail pass', ({}, info) => { expect(info.retry).toBe(2); });
test('fail fail fail', () => { expect(1).toBe(2); });
test.skip('skip', () => {});
"""
GO = """package script
import ("os"; "testing")
func nth(name string) int {
	path := os.Getenv("SCRIPT_STATE") + "/" + name
	seen, _ := os.ReadFile(path)
	os.WriteFile(path, append(seen, 'x'), 0o644)
	return len(seen)
}
func TestPass(t *testing.T) {}
func TestFailFailPass(t *testing.T) { if nth("ffp") < 2 { t.Fatal("not yet") } }
func TestFailFailFail(t *testing.T) { t.Fatal("never") }
func TestSkip(t *testing.T) { t.Skip("no GPU") }
func TestGroup(t *testing.T) { t.Run("sub", func(t *testing.T) { if nth("sub") < 1 { t.Fatal("not yet") } }) }
"""
GOTESTSUM = "gotest.tools/gotestsum@v1.13.0"
# What the clients say when their registry cannot be reached.
UNREACHABLE = re.compile(
    "Could not (?:transfer|resolve)|Unknown host|Non-resolvable|ENOTFOUND|ECONNREFUSED|ETIMEDOUT|EAI_AGAIN|E40[34]"
    "|dial tcp|no such host|i/o timeout|Forbidden"
)


def call(folder: Path, *command: str, **environment: str) -> str:
    """Runs a tool of the field; skips where the tool or its registry is absent."""
    if shutil.which(command[0]) is None:
        pytest.skip(f"{command[0]} is not installed")
    done = subprocess.run(
        command, cwd=folder, env={**os.environ, **environment}, capture_output=True, text=True, check=False, timeout=600
    )
    said = done.stdout + done.stderr
    if done.returncode != 0 and UNREACHABLE.search(said):
        pytest.skip(f"the registry of {command[0]} cannot be reached")
    return said


def attempts_in(path: Path, said: str) -> tuple[ReportSummary, list[Attempt], dict[str, str]]:
    assert path.is_file(), said[-3000:]
    attempts: list[Attempt] = []
    summary = read_report(path.name, [path.read_bytes()], attempts.append)
    tests: dict[str, list[str]] = defaultdict(list)
    for one in attempts:
        apart = f" ({one.test.apart})" if one.test.apart else ""
        tests[one.test.name + apart].append(one.outcome.value)
    assert (summary.kind, summary.complete, summary.warnings) == ("junit", True, ())
    assert all(one.known for one in attempts)
    return summary, attempts, {name: " ".join(outcomes) for name, outcomes in tests.items()}


def test_surefire(tmp_path: Path) -> None:
    source = tmp_path / "src" / "test" / "java" / "script"
    source.mkdir(parents=True)
    (tmp_path / "pom.xml").write_text(POM)
    (source / "ScriptTest.java").write_text(JAVA)
    said = call(tmp_path, "mvn", "-q", "-B", "test")
    report = tmp_path / "target" / "surefire-reports" / "TEST-script.ScriptTest.xml"
    summary, attempts, tests = attempts_in(report, said)
    assert tests == {
        "pass": "passed",
        "failFailPass": "failed failed passed",
        "errorPass": "error passed",
        "failFailFail": "failed failed failed",
        "skip": "skipped",
        "rows(int)[1]": "passed",
        "rows(int)[2]": "passed",
    }
    assert (summary.tests, summary.reruns, summary.flaky) == (7, 5, 2)
    first = next(one for one in attempts if one.test.name == "failFailPass")
    assert "expected: <3> but was: <1>" in first.message
    assert "attempt 1" in first.text
    assert next(one for one in attempts if one.test.name == "errorPass").message == "not <yet>"


@pytest.mark.parametrize("retries_in_report", ["", "1"], ids=["attempts in the text", "attempts as elements"])
def test_playwright(tmp_path: Path, retries_in_report: str) -> None:
    (tmp_path / "package.json").write_text('{"name": "script", "private": true}')
    (tmp_path / "playwright.config.js").write_text(PLAYWRIGHT_CONFIG)
    (tmp_path / "script.spec.js").write_text(PLAYWRIGHT)
    install = ("npm", "install", "--no-audit", "--no-fund", "--prefer-offline", "@playwright/test@1.64.1")
    said = call(tmp_path, *install, PLAYWRIGHT_SKIP_BROWSER_DOWNLOAD="1")
    said += call(tmp_path, "npx", "playwright", "test", PLAYWRIGHT_JUNIT_INCLUDE_RETRIES=retries_in_report)
    summary, _attempts, tests = attempts_in(tmp_path / "out.xml", said)
    for project in ("one", "two"):
        assert tests[f"pass ({project})"] == "passed"
        assert tests[f"fail fail pass ({project})"] == "failed failed passed"
        assert tests[f"fail fail fail ({project})"] == "failed failed failed"
        assert tests[f"skip ({project})"] == "skipped"
    assert (summary.tests, summary.reruns, summary.flaky) == (8, 8, 2)


def test_gotestsum(tmp_path: Path) -> None:
    (tmp_path / "state").mkdir()
    (tmp_path / "go.mod").write_text("module example.com/script\ngo 1.21\n")
    (tmp_path / "script_test.go").write_text(GO)
    command = ("go", "run", GOTESTSUM, "--rerun-fails=2", "--packages=./...", "--junitfile=out.xml")
    said = call(tmp_path, *command, SCRIPT_STATE=str(tmp_path / "state"), GOFLAGS="-buildvcs=false")
    summary, attempts, tests = attempts_in(tmp_path / "out.xml", said)
    assert tests == {
        "TestPass": "passed",
        "TestFailFailPass": "failed failed passed",
        "TestFailFailFail": "failed failed failed",
        "TestSkip": "skipped",
        "TestGroup": "failed passed",
        "TestGroup/sub": "failed passed",
    }
    assert (summary.tests, summary.reruns, summary.flaky) == (6, 6, 3)
    assert next(one for one in attempts if one.test.name == "TestFailFailPass").message == "script_test.go:10: not yet"
