-- One row an attempt in a job whose order is told, skipped ones left out; `order.py` puts them in order, at less cost.
-- `nth` orders the tests of a process by when they started: by the recorder's word, else as the job's record has them;
-- `ordinal` tells apart what that does not.
-- `victim`: it failed for want of GPU memory. That an ingest is among those of `order_jobs` is said twice: the second
-- time DuckDB heeds it before it reads the names.
SELECT j.job, j.place, j.step, j.queue, a.session_key, a.session, a.worker, coalesce(a.pid, 0) AS pid,
  a.classname, a.name, j.pool_jobs, coalesce(a.position, a.ordinal) AS nth, a.ordinal,
  a.blame = 'gpu-memory' AND a.outcome IN ('failed', 'error', 'crashed') AS victim,
  a.outcome IN ('passed', 'xfailed', 'xpassed') AS passed
FROM attempts a
JOIN order_jobs j ON j.ingest = a.ingest AND j.session_key = a.session_key
WHERE a.ingest IN (SELECT ingest FROM order_jobs) AND a.outcome <> 'skipped' AND a.name <> ''
