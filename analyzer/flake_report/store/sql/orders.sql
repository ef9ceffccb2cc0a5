-- One row a test in one process of a job, where some job of its step, queue and session met an incident of GPU memory.
-- `nth` orders the tests of a process by when they started: by the recorder's word, else as the job's record has them.
-- `victim`: an attempt of it failed for want of GPU memory; `passed`: an attempt of it passed. A job that died without
-- an incident is left out: nobody knows what it would have met.
WITH victims AS (
  SELECT DISTINCT j.pool, j.ingest, a.session_key
  FROM attempts a
  JOIN jobs j ON j.ingest = a.ingest
  WHERE a.blame = 'gpu-memory' AND a.outcome IN ('failed', 'error', 'crashed')
), sessions AS (
  SELECT DISTINCT pool, session_key FROM victims
), struck AS (
  SELECT DISTINCT ingest FROM victims
)
SELECT j.job, j.place, j.step, j.queue, a.session_key, a.session, a.worker, coalesce(a.pid, 0) AS pid,
  a.classname, a.name,
  min(coalesce(a.position, a.ordinal)) AS nth,
  max(CASE WHEN a.blame = 'gpu-memory' AND a.outcome IN ('failed', 'error', 'crashed') THEN 1 ELSE 0 END) = 1 AS victim,
  max(CASE WHEN a.outcome IN ('passed', 'xfailed', 'xpassed') THEN 1 ELSE 0 END) = 1 AS passed
FROM attempts a
JOIN jobs j ON j.ingest = a.ingest
JOIN sessions s ON s.pool = j.pool AND s.session_key = a.session_key
LEFT JOIN struck v ON v.ingest = a.ingest
WHERE a.outcome <> 'skipped' AND a.name <> '' AND (v.ingest IS NOT NULL OR NOT j.died)
GROUP BY j.job, j.place, j.step, j.queue, a.session_key, a.session, a.worker, coalesce(a.pid, 0), a.classname, a.name
ORDER BY step, queue, session_key, place, job, session, worker, pid, nth
