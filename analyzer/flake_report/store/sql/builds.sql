-- One row a build that is asked for, as its last committed ingest has it. `place` orders builds from 0: within a
-- pipeline by number (builds without one by time), and pipelines among each other by the time they had reached.
WITH aged AS (
  SELECT *, row_number() OVER (PARTITION BY org, pipeline, build ORDER BY commit_version DESC, ingest) AS age
  FROM stored_builds
), asked AS (
  SELECT * FROM aged WHERE age = 1 AND {branch} AND {since} AND {until}
), reached AS (
  SELECT *, max(created_at) OVER (
    PARTITION BY org, pipeline, number IS NULL
    ORDER BY number NULLS LAST, created_at, build
    ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW
  ) AS reached_at
  FROM asked
)
SELECT org, pipeline, build, number, "commit", branch, source, created_at, state, week,
  CAST(row_number() OVER (ORDER BY reached_at, org, pipeline, number NULLS LAST, created_at, build) - 1 AS INT) AS place
FROM reached
