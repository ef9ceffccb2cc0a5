-- One row a GPU-memory event of the jobs asked for, with how each retry of its job ended (no retry: null), in order of
-- builds. Those that were read before events were diagnosed have no diagnosis. `at_start`: bytes in use on the fullest
-- card as the job began, by nvidia-smi, or the least before any of its tests. `refused_again`: the retry's log tells of
-- the same signature.
WITH least AS (
  SELECT m.ingest, m.device, m.when, min(coalesce(m.total - m.free, m.used)) AS used
  FROM memory m
  WHERE m.when IN ('job start', 'before')
  GROUP BY m.ingest, m.device, m.when
), fullest AS (
  SELECT l.ingest, l.when, max(l.used) AS used
  FROM least l
  GROUP BY l.ingest, l.when
), starts AS (
  SELECT f.ingest, min(f.used) AS used
  FROM fullest f
  GROUP BY f.ingest
), tried AS (
  SELECT s.retry_of, s.ingest, s.state, s.agent
  FROM jobs j
  JOIN stored_jobs s ON s.ingest = j.ingest
  WHERE s.retry_of IS NOT NULL
), told AS (
  SELECT DISTINCT m.ingest, m.signature
  FROM matches m
)
SELECT b.build, b.created_at, j.place, j.job, j.step, j.queue, j.agent,
  m.signature, m.test, m.line, m.captures, coalesce(m.diagnosis, '') AS diagnosis, p.used AS at_start,
  t.state AS retry_state, t.agent AS retry_agent,
  a.ingest IS NOT NULL AS refused_again
FROM matches m
JOIN jobs j ON j.ingest = m.ingest
JOIN builds b ON b.place = j.place
LEFT JOIN starts p ON p.ingest = m.ingest
LEFT JOIN tried t ON t.retry_of = j.job
LEFT JOIN told a ON a.ingest = t.ingest AND a.signature = m.signature
WHERE m.diagnosis IS NOT NULL OR m.blame = 'gpu-memory'
ORDER BY j.place, j.job, m.line, m.signature, m.test NULLS LAST, t.agent NULLS LAST, t.state
