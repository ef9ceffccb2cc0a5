-- One row a job that counts: of each job the last committed ingest, if its build is asked for.
-- `pool` numbers the step and queue: with a test it makes a variant. `died`: the job did not end by itself, so what
-- its tests did says nothing of them. `week` is where its rows lie, `counted_week` where its build counts now;
-- `week_number` is the latter as a number, 202648.
SELECT j.ingest, j.job, b.place, j.week, b.week AS counted_week,
  CAST(substr(b.week, 1, 4) AS INT) * 100 + CAST(substr(b.week, 7) AS INT) AS week_number,
  j.step, j.queue, j.agent, j.mode, j.warnings, j.retry_type, j.started_at,
  j.attempt AS job_attempt, p.pool,
  coalesce(j.exit_status, 0) = -1 OR j.signal_reason <> '' OR j.state IN ('canceled', 'timed_out', 'expired') AS died
FROM stored_jobs j
JOIN newest_jobs n ON n.ingest = j.ingest
JOIN pool_names p ON p.step = j.step AND p.queue = j.queue
JOIN builds b ON b.org = j.org AND b.pipeline = j.pipeline AND b.build = j.build
WHERE {step} AND {queue}
