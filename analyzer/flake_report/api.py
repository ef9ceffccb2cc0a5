"""The public Python API: the numbers of `show` as a frame."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from datetime import datetime, timedelta
from types import MappingProxyType

import pandas as pd

from . import flow
from .model.config import RatesConfig
from .model.query import Query
from .report.history import COLUMNS, row


def rates(
    store: str,
    *,
    since: datetime | timedelta | None = None,
    branch: str | None = None,
    step: str | None = None,
    queue: str | None = None,
    test: str | None = None,
    budget: float = RatesConfig().budget,
    owners: Mapping[str, str] = MappingProxyType({}),
    codeowners: tuple[str, str] | None = None,
) -> pd.DataFrame:
    """One row a test variant, worst first, columns as in `tests.csv`; shares are between 0 and 1, intervals 95 %.

        frame = flake_report.rates("flake-report-store", since=timedelta(weeks=4), branch="main")
        frame[frame.victim_runs > 0].groupby("signature").victim_runs.sum()

    Arguments mean what the options and settings of `show` mean; `owners` are the patterns of `[owners]` with their
    owner, `codeowners` is the name and the text of a CODEOWNERS file: without both the column `owner` is empty. What is
    not read of that file is a warning. Raises `FlakeReportError` where there is no store.
    """
    owned = flow.ownership(owners, codeowners, lambda message: warnings.warn(message, stacklevel=4))
    query = Query(since=since, branch=branch, step=step, queue=queue, test=test)
    report = flow.show(store, query, budget=budget, ownership=owned)
    return pd.DataFrame([row(one) for one in report.tests], columns=list(COLUMNS))
