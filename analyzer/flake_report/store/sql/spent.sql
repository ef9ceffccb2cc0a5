-- One row a job that failed, or that tried another job again: when it ran, null where it never said, and what its log
-- blames on the environment, if it does.
WITH blamed AS (
  SELECT m.ingest, min(m.signature) AS signature
  FROM matches m
  WHERE m.blame IN ('gpu-memory', 'gpu', 'infra', 'dependency', 'agent')
  GROUP BY m.ingest
), ran AS (
  SELECT j.ingest, j.job, j.place, j.step, j.queue, j.died, s.state, s.retry_of,
    s.state IN ('failed', 'timed_out', 'broken', 'expired') OR coalesce(s.exit_status, 0) <> 0 AS failed,
    s.started_at, s.finished_at
  FROM jobs j
  JOIN stored_jobs s ON s.ingest = j.ingest
)
SELECT r.job, r.place, r.step, r.queue, r.died, r.state, r.failed, r.retry_of, r.started_at, r.finished_at,
  coalesce(b.signature, '') AS signature
FROM ran r
LEFT JOIN blamed b ON b.ingest = r.ingest
WHERE r.failed OR r.retry_of IS NOT NULL
ORDER BY r.place, r.job
