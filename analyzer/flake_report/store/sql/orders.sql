-- One row a test in one process of a job, where some job of its step, queue and session met an incident of GPU memory.
-- `nth` orders the tests of a process by when they started: by the recorder's word, else as the job's record has them.
-- `victim`: an attempt of it failed for want of GPU memory; `passed`: an attempt of it passed. A job that died without
-- an incident is left out: nobody knows what it would have met.
WITH ran AS (
  SELECT a.ingest, a.session_key, a.session, a.worker, coalesce(a.pid, 0) AS pid, a.classname, a.name,
    min(coalesce(a.position, a.ordinal)) AS nth,
    max(CASE WHEN a.blame = 'gpu-memory' AND a.outcome IN ('failed', 'error', 'crashed') THEN 1 ELSE 0 END) AS victim,
    max(CASE WHEN a.outcome IN ('passed', 'xfailed', 'xpassed') THEN 1 ELSE 0 END) AS passed
  FROM attempts a
  WHERE a.outcome <> 'skipped' AND a.name <> ''
  GROUP BY a.ingest, a.session_key, a.session, a.worker, coalesce(a.pid, 0), a.classname, a.name
), placed AS (
  SELECT r.*, j.job, j.place, j.step, j.queue, j.died,
    max(r.victim) OVER (PARTITION BY j.pool, r.session_key) AS ever_struck,
    max(r.victim) OVER (PARTITION BY r.ingest) AS struck
  FROM ran r
  JOIN jobs j ON j.ingest = r.ingest
)
SELECT job, place, step, queue, session_key, session, worker, pid, classname, name, nth,
  victim = 1 AS victim, passed = 1 AS passed
FROM placed
WHERE ever_struck = 1 AND (struck = 1 OR NOT died)
ORDER BY step, queue, session_key, place, job, session, worker, pid, nth
