-- One row a job that counts: of each job the last committed ingest, if its build is asked for.
-- `pool` numbers the step and queue: with a test it makes a variant. `died`: the job did not end by itself, so what
-- its tests did says nothing of them. `week` is where its rows lie, `counted_week` where its build counts now;
-- `week_number` is the latter as a number, 202648.
WITH aged AS (
  SELECT *, row_number() OVER (PARTITION BY job ORDER BY commit_version DESC, ingest) AS age
  FROM stored_jobs
)
SELECT j.ingest, j.job, b.place, j.week, b.week AS counted_week,
  CAST(substr(b.week, 1, 4) AS INT) * 100 + CAST(substr(b.week, 7) AS INT) AS week_number,
  j.step, j.queue, j.agent, j.mode, j.warnings, j.retry_type, j.started_at,
  j.attempt AS job_attempt,
  dense_rank() OVER (ORDER BY j.step, j.queue) AS pool,
  coalesce(j.exit_status, 0) = -1 OR j.signal_reason <> '' OR j.state IN ('canceled', 'timed_out', 'expired') AS died
FROM aged j
JOIN builds b ON b.org = j.org AND b.pipeline = j.pipeline AND b.build = j.build
WHERE j.age = 1 AND {step} AND {queue}
