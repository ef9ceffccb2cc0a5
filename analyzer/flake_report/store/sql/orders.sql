-- One row a test in one process of a job whose order is told.
-- `nth` orders the tests of a process by when they started: by the recorder's word, else as the job's record has them.
-- `victim`: an attempt of it failed for want of GPU memory; `passed`: an attempt of it passed. That an ingest is among
-- those of `order_jobs` is said twice: the second time DuckDB heeds it before it reads the names.
SELECT j.job, j.place, j.step, j.queue, a.session_key, a.session, a.worker, coalesce(a.pid, 0) AS pid,
  a.classname, a.name, j.pool_jobs,
  min(coalesce(a.position, a.ordinal)) AS nth,
  max(CASE WHEN a.blame = 'gpu-memory' AND a.outcome IN ('failed', 'error', 'crashed') THEN 1 ELSE 0 END) = 1 AS victim,
  max(CASE WHEN a.outcome IN ('passed', 'xfailed', 'xpassed') THEN 1 ELSE 0 END) = 1 AS passed
FROM attempts a
JOIN order_jobs j ON j.ingest = a.ingest AND j.session_key = a.session_key
WHERE a.ingest IN (SELECT ingest FROM order_jobs) AND a.outcome <> 'skipped' AND a.name <> ''
GROUP BY j.job, j.place, j.step, j.queue, a.session_key, a.session, a.worker, coalesce(a.pid, 0), a.classname, a.name,
  j.pool_jobs
ORDER BY step, queue, session_key, place, job, session, worker, pid, nth
