-- One row a job and session whose tests' order is told, where some job of its step, queue and session met an incident of
-- GPU memory: a process with a victim. Jobs without an incident are told only where there were three: of fewer nobody
-- can be named or suspected, whatever else ran. Of these the newest 500 of a step and queue are told, and none that
-- died: nobody knows what it would have met. Where incidents met more than twenty steps and queues, these share 10,000
-- such jobs and each has ten: memory holds them all. `pool_jobs` is how many jobs of the step and queue there are, those
-- that died without an incident left out. A table of its own, so that engines see how few these are.
WITH victims AS (
  SELECT DISTINCT j.pool, j.ingest, b.session_key, b.session, b.worker, coalesce(b.pid, 0) AS pid
  FROM bad b
  JOIN jobs j ON j.ingest = b.ingest
  WHERE b.blame = 'gpu-memory'
), sessions AS (
  SELECT pool, session_key, count(*) AS incidents FROM victims GROUP BY pool, session_key
), struck AS (
  SELECT DISTINCT pool, ingest FROM victims
), struck_pools AS (
  SELECT pool, max(incidents) AS incidents, greatest(10, least(500, 10000 / count(*) OVER ())) AS quiet
  FROM sessions
  GROUP BY pool
), whole AS (
  SELECT j.ingest, j.job, j.place, j.pool, v.ingest IS NOT NULL AS struck
  FROM jobs j
  JOIN struck_pools p ON p.pool = j.pool
  LEFT JOIN struck v ON v.ingest = j.ingest
  WHERE v.ingest IS NOT NULL OR NOT j.died
), counted AS (
  SELECT pool, count(*) AS pool_jobs FROM whole GROUP BY pool
), ranked AS (
  SELECT w.ingest, w.struck, row_number() OVER (PARTITION BY w.pool, w.struck ORDER BY w.place DESC, w.job) AS newest
  FROM whole w
  JOIN struck_pools p ON p.pool = w.pool
  WHERE w.struck OR p.incidents >= 3
)
SELECT j.ingest, j.job, j.place, j.step, j.queue, c.pool_jobs, s.session_key
FROM ranked r
JOIN jobs j ON j.ingest = r.ingest
JOIN struck_pools p ON p.pool = j.pool
JOIN counted c ON c.pool = j.pool
JOIN sessions s ON s.pool = j.pool
WHERE r.struck OR (s.incidents >= 3 AND r.newest <= p.quiet)
