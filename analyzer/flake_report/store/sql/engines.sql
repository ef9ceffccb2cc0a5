-- One row a refused start of an engine in a test; of starts that were let in, one row for all alike, with their count.
-- Of a job one start of a test counts, for its reruns meet what the first one met: the refused one with least free
-- memory, else the one with the highest setting. Sizes are bytes, null where the log does not say. `total` is the size
-- of the card, from the job's samples where the engine is silent; `base` what the engine told of its need besides the
-- KV cache, `kv` the smallest KV cache. `newest` is when the newest build with such a start was created.
WITH cards AS (
  SELECT m.ingest, max(m.total) AS card
  FROM memory m
  WHERE m.device LIKE 'cuda%' OR m.device LIKE 'xpu%'
  GROUP BY m.ingest
), told AS (
  SELECT e.*, coalesce(e.total, c.card) AS size, e.outcome = 'free memory' AND e.free IS NOT NULL AS refused,
    CASE WHEN e.weight IS NULL AND e.activation IS NULL AND e.non_torch IS NULL THEN NULL
      ELSE coalesce(e.weight, 0) + coalesce(e.activation, 0) + coalesce(e.non_torch, 0)
    END AS base
  FROM engines e
  LEFT JOIN cards c ON c.ingest = e.ingest
  WHERE e.test <> '' AND e.utilization IS NOT NULL AND e.outcome <> ''
), ranked AS (
  SELECT t.*, row_number() OVER (
    PARTITION BY t.ingest, t.test
    ORDER BY CASE WHEN t.refused THEN 0 ELSE 1 END, CASE WHEN t.refused THEN t.free ELSE 0 END, t.utilization DESC
  ) AS nth
  FROM told t
), placed AS (
  SELECT r.test, j.step, j.queue, r.utilization, r.outcome, r.refused, r.size, r.free, r.requested, r.device, r.base,
    r.kv, b.created_at,
    CASE WHEN r.refused THEN j.job ELSE '' END AS job,
    CASE WHEN r.refused THEN b.build ELSE '' END AS build
  FROM ranked r
  JOIN jobs j ON j.ingest = r.ingest
  JOIN builds b ON b.place = j.place
  WHERE r.nth = 1
)
SELECT test, step, queue, utilization, outcome, refused, size AS total, free, requested, job, build,
  max(device) AS device, max(base) AS base, min(kv) AS kv, max(created_at) AS newest, count(*) AS starts
FROM placed
GROUP BY test, step, queue, utilization, outcome, refused, size, free, requested, job, build
ORDER BY test, step, queue, newest, job, utilization, outcome, free
