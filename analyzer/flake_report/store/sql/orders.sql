-- One row a test in one process of a job, where some job of its step, queue and session met an incident of GPU memory.
-- `nth` orders the tests of a process by when they started: by the recorder's word, else as the job's record has them.
-- `victim`: an attempt of it failed for want of GPU memory; `passed`: an attempt of it passed. Of jobs without an
-- incident the newest 500 of a step and queue are told, and none that died: nobody knows what it would have met.
-- `pool_jobs` is how many jobs of the step and queue there are, those that died without an incident left out.
WITH victims AS (
  SELECT DISTINCT j.pool, j.ingest, a.session_key
  FROM attempts a
  JOIN jobs j ON j.ingest = a.ingest
  WHERE a.blame = 'gpu-memory' AND a.outcome IN ('failed', 'error', 'crashed')
), sessions AS (
  SELECT DISTINCT pool, session_key FROM victims
), struck AS (
  SELECT DISTINCT pool, ingest FROM victims
), struck_pools AS (
  SELECT DISTINCT pool FROM victims
), whole AS (
  SELECT j.pool, j.ingest, v.ingest IS NOT NULL AS struck,
    row_number() OVER (PARTITION BY j.pool, v.ingest IS NULL ORDER BY j.place DESC, j.job) AS newest,
    count(*) OVER (PARTITION BY j.pool) AS pool_jobs
  FROM jobs j
  JOIN struck_pools p ON p.pool = j.pool
  LEFT JOIN struck v ON v.ingest = j.ingest
  WHERE v.ingest IS NOT NULL OR NOT j.died
)
SELECT j.job, j.place, j.step, j.queue, a.session_key, a.session, a.worker, coalesce(a.pid, 0) AS pid,
  a.classname, a.name, w.pool_jobs,
  min(coalesce(a.position, a.ordinal)) AS nth,
  max(CASE WHEN a.blame = 'gpu-memory' AND a.outcome IN ('failed', 'error', 'crashed') THEN 1 ELSE 0 END) = 1 AS victim,
  max(CASE WHEN a.outcome IN ('passed', 'xfailed', 'xpassed') THEN 1 ELSE 0 END) = 1 AS passed
FROM attempts a
JOIN jobs j ON j.ingest = a.ingest
JOIN whole w ON w.ingest = j.ingest
JOIN sessions s ON s.pool = j.pool AND s.session_key = a.session_key
WHERE a.outcome <> 'skipped' AND a.name <> '' AND (w.struck OR w.newest <= 500)
GROUP BY j.job, j.place, j.step, j.queue, a.session_key, a.session, a.worker, coalesce(a.pid, 0), a.classname, a.name,
  w.pool_jobs
ORDER BY step, queue, session_key, place, job, session, worker, pid, nth
