-- One row a job that has results or was lost, and where it ran. `machine` is the host, else the agent. A job that
-- people cancelled, or that ran too long, is not lost: nothing is wrong with its machine.
-- Pools are numbered in order of steps and queues.
SELECT j.place, j.job, j.step, j.queue, CASE WHEN s.host <> '' THEN s.host ELSE j.agent END AS machine, s.command,
  j.job_attempt > 0 AS retry,
  j.died AND s.state NOT IN ('canceled', 'timed_out', 'expired') AND s.signal_reason <> 'cancel' AS lost
FROM jobs j
JOIN stored_jobs s ON s.ingest = j.ingest
WHERE s.sources <> '[]' OR j.died
ORDER BY j.pool, j.place, j.job
