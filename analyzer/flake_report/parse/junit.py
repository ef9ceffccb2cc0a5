"""JUnit XML, of every tool that writes it, to attempts."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from flake_report.model.results import Attempt, ReportSummary

from . import limits
from .decode import blocks, text_blocks
from .junit_build import JunitBuilder
from .junit_groups import Names
from .junit_held import Held
from .junit_quick import Quick, read_quick
from .junit_resolve import Resolver
from .problems import Problems
from .xmlkinds import JUNIT_ROOTS, kind_of
from .xmlscan import XmlScanner


def read_small_xml(data: bytes, emit: Callable[[Attempt], None] | None) -> ReportSummary | None:
    """A small document in the plainest form; None where it is not in that form, to be read by `read_xml`."""
    if emit is None:
        names = Names()
        found = read_quick(data, names.add, texts=False)
        if found is None:
            return None
        if names.differ(found.cases):
            passed, failed, errors, skipped = found.counts.values()
            return ReportSummary("junit", found.suites, found.cases, passed, failed, errors, skipped, found.cases)
    held = Held()
    found = read_quick(data, held.add, texts=True)
    if found is None:
        return None
    problems = Problems()
    resolver = Resolver(emit, problems)
    resolver.give_out(held, cases=found.cases, compare=True, suites=found.filled)
    return _summary("junit", found, resolver, problems)


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
    if emit is None and not compare and not overflowed:
        resolver.tests, resolver.reruns, resolver.flaky = builder.cases, builder.inner_reruns, builder.inner_flaky
    else:
        resolver.give_out(held, cases=builder.cases, compare=compare, suites=builder.filled, sure=not overflowed)
    return _summary(kind, builder, resolver, problems)


def _summary(kind: str, read: Quick | JunitBuilder, resolver: Resolver, problems: Problems) -> ReportSummary:
    counts = read.counts
    return ReportSummary(
        kind,
        read.suites,
        sum(counts.values()),
        counts["p"],
        counts["f"],
        counts["e"],
        counts["s"],
        resolver.tests,
        resolver.reruns,
        resolver.flaky,
        not problems.damaged,
        problems.warnings(),
    )
