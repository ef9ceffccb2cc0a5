"""JUnit XML, of every tool that writes it, to attempts."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from flake_report.model.results import Attempt, ReportSummary

from . import limits
from .decode import blocks, text_blocks
from .junit_build import JunitBuilder
from .junit_held import Held
from .junit_resolve import Resolver
from .problems import Problems
from .xmlkinds import JUNIT_ROOTS, kind_of
from .xmlscan import XmlScanner


def read_xml(chunks: Iterable[bytes], emit: Callable[[Attempt], None] | None) -> ReportSummary:
    """An XML document: the attempts in it when it is JUnit, else the name of what it seems to be."""
    problems = Problems()
    held = Held()
    builder = JunitBuilder(held, problems, texts=emit is not None)
    scanner = XmlScanner(builder, problems)
    resolver = Resolver(emit, problems)
    overflowed = False
    for text in text_blocks(blocks(chunks), problems):
        scanner.feed(text)
        if held.full:
            overflowed = True
            problems.note("too large to tell which of its cases are reruns: attempts are marked as unknown")
            resolver.give_out(held, cases=builder.cases, compare=False, suites=builder.filled, sure=False)
            held.clear()
    scanner.close()
    builder.finish(cut=scanner.cut)
    kind = "junit" if builder.suites or builder.cases else kind_of(scanner.root, scanner.root_attributes)
    if kind != "junit":
        name = scanner.root[:80]
        problems.damage(f"no test report: {kind}" + (f" with the root <{name}>" if name else ""))
    elif scanner.root.rpartition(":")[2] not in (*JUNIT_ROOTS, "testcase"):
        problems.damage(f"test suites inside <{scanner.root[:80]}>, which is no JUnit root")
    # A large pytest suite that holds just what it counts is taken at its word.
    compare = not overflowed and (builder.uncertain or builder.cases <= limits.EXACT_CASES)
    resolver.give_out(held, cases=builder.cases, compare=compare, suites=builder.filled, sure=not overflowed)
    return ReportSummary(
        kind=kind,
        suites=builder.suites,
        cases=builder.cases,
        passed=builder.counts["p"],
        failed=builder.counts["f"],
        errors=builder.counts["e"],
        skipped=builder.counts["s"],
        tests=resolver.tests,
        reruns=resolver.reruns,
        flaky=resolver.flaky,
        complete=not problems.damaged,
        warnings=problems.warnings(),
    )
