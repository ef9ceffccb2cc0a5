"""How fast a history is counted, in how much memory, beside DuckDB, polars and pandas on the same files.

    .venv/bin/python tests/bench/make_store.py STORE --attempts 20e6
    .venv/bin/python tests/bench/bench_store.py STORE [--samples 3] [--only NAME,...] [--polars PATH]

`cold` counts everything behind `show`: runs, verdicts, streaks, of each variant. `joined` does it again with the
rollups of weeks that the first left, `warm` with its whole answer; `test` and `week` are `--test X` and `--since 1w`
after it; `folded` is `warm` with the histories made into Python's objects. The peers count less: of each variant its
runs, those that failed, and those that failed and passed. `duckdb` asks one query, `duckdb weekly` one a week and sums
up, polars streams, pandas goes week by week. `duckdb same` and `pandas same` answer nearly what `cold` does, week by
week and as one would write it: streaks, files, and the failed runs with what they say.

`show` is the whole command, from its arguments to the text in a pipe, without a page: it finds the histories of
`warm` and, where `cold` began the sample, no other answer. `show again` is the same command after it, in another
process, which finds the page that `show` left. `show test` is `show --test X` where nobody asked for X before, after
`show`; `show week` and `week again` are `show --since 1w`.

Each sample is a process of its own, samples are interleaved, medians are shown. The clock starts when all is imported
that the method always needs: for `show again` that is all, while `show` imports what counts and rates when it finds no
page. `process s` is the time of the whole process, with Python's start and all imports. Processor time stands beside
the time on the clock, as it suffers less from what else the machine does.
"""

from __future__ import annotations

import argparse
import json
import shutil
import statistics
import subprocess
import sys
import time
from pathlib import Path

HEAD = """
import json, resource, sys, time
store = sys.argv[1]
def done(rows):
    used = time.process_time() - processor
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    print(json.dumps([time.perf_counter() - started, used, peak, rows]))
"""
START = "started, processor = time.perf_counter(), time.process_time()\n"

OURS = f"""{HEAD}
import pyarrow
from datetime import timedelta
from flake_report.model.query import Query
from flake_report.store.store import Store, _since
from flake_report.store import histories
query = {{query}}
{START}
opened = Store.open(store)
with opened._counting() as counting:
    {{counted}}
    {{more}}
done(counts.files.num_rows)
"""

SHOW = f"""{HEAD}
from flake_report.cli import main, settle_threads
settle_threads()
import flake_report.cli.show, flake_report.store.pages
{START}
status = main(["show", "--store", store, *sys.argv[2:]])
sys.stdout.flush()
if status:
    sys.exit(status)
done(0)
"""

FILES = """
from deltalake import DeltaTable
table = DeltaTable(store)
uris = lambda kind: [uri for uri in table.file_uris() if f"kind={kind}/" in uri]
weeks = {}
for uri in uris("attempts"):
    weeks.setdefault(uri.split("week=")[1].split("/")[0], []).append(uri)
"""

RUNS = """
SELECT a.classname, a.name, a.apart, a.session_key, j.step, j.queue, a.build,
  count(*) FILTER (a.outcome IN ('failed', 'error', 'crashed')) AS bad,
  count(*) FILTER (a.outcome IN ('passed', 'xfailed', 'xpassed')) AS good
FROM read_parquet({attempts}) a JOIN jobs j ON j.ingest = a.ingest
GROUP BY ALL
"""
VARIANTS = """
SELECT classname, name, apart, session_key, step, queue, count(*) AS runs,
  count(*) FILTER (bad > 0) AS failed, count(*) FILTER (bad > 0 AND good > 0) AS flaky
FROM ({runs}) GROUP BY ALL
"""

DUCKDB = f"""{HEAD}
import duckdb, pyarrow
{START}{FILES}
con = duckdb.connect()
con.execute("SET preserve_insertion_order = false")
con.execute(f"CREATE TABLE jobs AS SELECT ingest, step, queue FROM read_parquet({{uris('jobs')}})")
if sys.argv[2] == "one":
    query = '''{VARIANTS.replace("{runs}", RUNS)}'''.replace("{{attempts}}", str(uris("attempts")))
    found = con.sql(query).to_arrow_table()
else:
    con.execute("CREATE TABLE weekly (classname TEXT, name TEXT, apart TEXT, session_key TEXT, step TEXT, queue TEXT,"
                " runs BIGINT, failed BIGINT, flaky BIGINT)")
    for files in weeks.values():
        con.execute('''INSERT INTO weekly {VARIANTS.replace("{runs}", RUNS)}'''.replace("{{attempts}}", str(files)))
    found = con.sql("SELECT classname, name, apart, session_key, step, queue, sum(runs), sum(failed), sum(flaky)"
                    " FROM weekly GROUP BY ALL").to_arrow_table()
done(found.num_rows)
"""  # noqa: S608 - names are our own

SAME_RUNS = """
CREATE OR REPLACE TABLE runs AS
WITH run AS (
  SELECT {names}, a.build, max(a.file) AS file,
    max(CASE WHEN a.outcome = 'skipped' THEN 0 WHEN a.outcome IN ('passed', 'xfailed', 'xpassed') THEN 1
      ELSE 2 END) AS state
  FROM read_parquet({files}) a JOIN jobs j ON j.ingest = a.ingest GROUP BY ALL
), seen AS (SELECT *, max(state) OVER (PARTITION BY {names}) AS ever FROM run)
SELECT *, 0 AS streak FROM seen WHERE ever < 2
UNION ALL
SELECT *, sum(CAST(state = 2 AS INT)) OVER (PARTITION BY {names} ORDER BY CAST(build AS BIGINT)) AS streak
FROM seen WHERE ever = 2
"""
SAME_TOLD = """
SELECT {names}, a.build, count(*) FILTER (a.outcome IN ('failed', 'error', 'crashed')) AS bad, count(*) AS attempts,
  min_by(a.fingerprint, a.attempt) FILTER (a.fingerprint <> '') AS fingerprint,
  min_by(a.signature, a.attempt) FILTER (a.signature <> '') AS signature,
  min_by(j.agent, a.attempt) AS agent, min_by(j.job, a.attempt) AS job
FROM read_parquet({files}) a JOIN jobs j ON j.ingest = a.ingest
SEMI JOIN (FROM runs WHERE state = 2) r USING ({names}, build)
GROUP BY ALL
"""

SAME = f"""{HEAD}
import duckdb, pyarrow
{START}{FILES}
con = duckdb.connect()
con.execute("SET preserve_insertion_order = false")
con.execute(f"CREATE TABLE jobs AS SELECT ingest, step, queue, agent, job FROM read_parquet({{uris('jobs')}})")
names = "classname, name, apart, session_key, step, queue"
for at, files in enumerate(weeks.values()):
    put = (lambda table: f"INSERT INTO {{table}}") if at else (lambda table: f"CREATE TABLE {{table}} AS")
    con.execute(sys.argv[2].format(names=names, files=files))
    con.execute(put("plain") + f" SELECT {{names}}, ever, state, streak, max(file) AS file, count(*) AS runs,"
        " min(CAST(build AS BIGINT)) AS first, max(CAST(build AS BIGINT)) AS last FROM runs GROUP BY ALL")
    con.execute(put("told") + sys.argv[3].format(names=names, files=files))
found = con.sql(f"SELECT {{names}}, max(file), sum(runs), min(first), max(last) FROM plain GROUP BY ALL")
found = found.to_arrow_table()
streaks, told = con.sql("FROM plain WHERE ever = 2").to_arrow_table(), con.sql("FROM told").to_arrow_table()
done(found.num_rows)
"""  # noqa: S608 - names are our own

POLARS = f"""{HEAD}
sys.path.insert(0, sys.argv[2])
import polars as pl
{START}{FILES}
jobs = pl.scan_parquet(uris("jobs"), hive_partitioning=False).select("ingest", "step", "queue")
names = ["classname", "name", "apart", "session_key"]
rows = pl.scan_parquet(uris("attempts"), hive_partitioning=False).select(*names, "ingest", "build", "outcome")
runs = rows.join(jobs, on="ingest").group_by(*names, "step", "queue", "build").agg(
    bad=pl.col("outcome").is_in(["failed", "error", "crashed"]).any(),
    good=pl.col("outcome").is_in(["passed", "xfailed", "xpassed"]).any(),
)
found = runs.group_by(*names, "step", "queue").agg(
    runs=pl.len(), failed=pl.col("bad").sum(), flaky=(pl.col("bad") & pl.col("good")).sum()
).collect(engine="streaming")
done(found.height)
"""

PANDAS = f"""{HEAD}
import pandas as pd
import pyarrow.parquet as pq
{START}{FILES}
read = lambda files, columns: pd.concat(
    [pq.read_table(file, columns=columns, partitioning=None).to_pandas() for file in files], ignore_index=True)
jobs = read(uris("jobs"), ["ingest", "step", "queue"])
names = ["classname", "name", "apart", "session_key"]
parts = []
for files in weeks.values():
    rows = read(files, [*names, "ingest", "build", "outcome"]).merge(jobs, on="ingest")
    rows["bad"] = rows.outcome.isin(["failed", "error", "crashed"])
    rows["good"] = rows.outcome.isin(["passed", "xfailed", "xpassed"])
    runs = rows.groupby([*names, "step", "queue", "build"], sort=False, as_index=False)[["bad", "good"]].max()
    runs["flaky"] = runs.bad & runs.good
    parts.append(runs.groupby([*names, "step", "queue"], sort=False, as_index=False).agg(
        runs=("bad", "size"), failed=("bad", "sum"), flaky=("flaky", "sum")))
found = pd.concat(parts).groupby([*names, "step", "queue"], sort=False).sum()
done(len(found))
"""


PANDAS_SAME = f"""{HEAD}
import pandas as pd
import pyarrow.parquet as pq
{START}{FILES}
read = lambda files, columns: pd.concat(
    [pq.read_table(file, columns=columns, partitioning=None).to_pandas() for file in files], ignore_index=True)
jobs = read(uris("jobs"), ["ingest", "step", "queue", "agent", "job"])
names = ["classname", "name", "apart", "session_key", "step", "queue"]
told_of = ["outcome", "attempt", "fingerprint", "signature", "file"]
plain, streaks, told = [], [], []
for files in weeks.values():
    rows = read(files, [*names[:4], "ingest", "build", *told_of]).merge(jobs, on="ingest")
    rows["bad"] = rows.outcome.isin(["failed", "error", "crashed"])
    rows["state"] = 2 - rows.outcome.isin(["passed", "xfailed", "xpassed"]) - 2 * (rows.outcome == "skipped")
    rows["build"] = rows.build.astype("int64")
    by_run = rows.groupby([*names, "build"], sort=False)
    runs = by_run.agg(state=("state", "max"), file=("file", "max")).reset_index()
    runs["ever"] = runs.groupby(names, sort=False).state.transform("max")
    quiet, loud = runs[runs.ever < 2], runs[runs.ever == 2].sort_values("build")
    summed = dict(runs=("build", "size"), first=("build", "min"), last=("build", "max"), file=("file", "max"))
    plain.append(quiet.groupby([*names, "state"], sort=False, as_index=False).agg(**summed))
    loud["streak"] = (loud.state == 2).groupby([loud[name] for name in names], sort=False).cumsum()
    streaks.append(loud.groupby([*names, "state", "streak"], sort=False, as_index=False).agg(**summed))
    failed = rows.merge(runs.loc[runs.state == 2, [*names, "build"]], on=[*names, "build"]).sort_values("attempt")
    failed[["fingerprint", "signature"]] = failed[["fingerprint", "signature"]].replace("", None)
    told.append(failed.groupby([*names, "build"], sort=False, as_index=False).agg(
        bad=("bad", "sum"), attempts=("bad", "size"), fingerprint=("fingerprint", "first"),
        signature=("signature", "first"), agent=("agent", "first"), job=("job", "first")))
both = pd.concat([*plain, *streaks])
found = both.groupby(names, sort=False).agg(
    file=("file", "max"), runs=("runs", "sum"), first=("first", "min"), last=("last", "max"))
streaks, told = pd.concat(streaks), pd.concat(told)
done(len(found))
"""


def ours(query: str, more: str = "pass", counted: str = "") -> str:
    asked = "counts = counting.counts(query, lambda: _since(counting, query))"
    return OURS.format(query=query, more=more, counted=counted or asked)


JOINED = "counting.select(query, _since(counting, query)); counts = counting.histories(query.test)"


TEST = "Query(test='test_fewer_blocks[4711-')"


def programs(polars: str) -> dict[str, tuple[str, ...]]:
    """Each method with its program and arguments. `cold` comes first: it leaves the rollups for those below."""
    return {
        "cold": (ours("Query()"),),
        "joined": (ours("Query()", counted=JOINED),),
        "warm": (ours("Query()"),),
        "folded": (ours("Query()", "histories.fold(counts)"),),
        "test": (ours(TEST, "histories.fold(counts)"),),
        "week": (ours("Query(since=timedelta(weeks=1))"),),
        "show": (SHOW,),
        "show again": (SHOW,),
        "show test": (SHOW, "--test", "test_fewer_blocks[4711-"),
        "show week": (SHOW, "--since", "1w"),
        "week again": (SHOW, "--since", "1w"),
        "duckdb": (DUCKDB, "one"),
        "duckdb weekly": (DUCKDB, "weekly"),
        "duckdb same": (SAME, SAME_RUNS, SAME_TOLD),
        "polars": (POLARS, polars),
        "pandas": (PANDAS,),
        "pandas same": (PANDAS_SAME,),
    }


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("store")
    parser.add_argument("--samples", type=int, default=3)
    parser.add_argument("--only", default="", help="some of the methods, with commas between")
    parser.add_argument("--polars", default="", help="folder in which polars is installed, where it is not importable")
    asked = parser.parse_args()
    chosen = {
        name: program
        for name, program in programs(asked.polars).items()
        if not asked.only or name in asked.only.split(",")
    }
    taken: dict[str, list[list[float]]] = {name: [] for name in chosen}
    for _ in range(asked.samples):
        for name, (program, *arguments) in chosen.items():
            if name == "cold":
                shutil.rmtree(Path(asked.store) / "_rollups", ignore_errors=True)
            if name in ("show", "show test", "show week"):
                for page in (Path(asked.store) / "_rollups").glob("page-*"):
                    page.unlink()
            command = [sys.executable, "-c", program, asked.store, *arguments]
            begun = time.perf_counter()
            ran = subprocess.run(command, capture_output=True, text=True, check=False)
            whole = time.perf_counter() - begun
            if ran.returncode:
                *_, said = [f"exit status {ran.returncode}", *ran.stderr.strip().splitlines()]
                print(f"{name}: {said}")
                continue
            taken[name].append([*json.loads(ran.stdout.splitlines()[-1]), whole])
            print(f"{name}: {taken[name][-1]}", file=sys.stderr, flush=True)
    print(f"{'':14}{'s':>8}{'cpu s':>8}{'peak MB':>9}{'variants':>10}{'process s':>11}{'cold is x':>10}")
    medians = {
        name: [statistics.median(row[at] for row in rows) for at in range(5)] for name, rows in taken.items() if rows
    }
    for name, (seconds, processor, peak, rows, whole) in medians.items():
        cold = f"{medians['cold'][0] / seconds:10.2f}" if "cold" in medians else f"{'-':>10}"
        print(f"{name:14}{seconds:8.2f}{processor:8.2f}{peak:9.0f}{rows:10,.0f}{whole:11.2f}{cold}", flush=True)
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
