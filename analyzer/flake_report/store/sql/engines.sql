-- One row a start of an engine in a test, come up or not, with where and when it ran. Sizes are bytes, null where the
-- log does not say. `card` is the size of the job's card as its processes see it: engines that came up seldom tell.
WITH cards AS (
  SELECT m.ingest, max(m.total) AS card
  FROM memory m
  WHERE m.device LIKE 'cuda%' OR m.device LIKE 'xpu%'
  GROUP BY m.ingest
)
SELECT j.job, j.place, b.build, b.created_at, j.step, j.queue, e.test, e.device, e.utilization, e.requested, e.free,
  coalesce(e.total, c.card) AS total, e.weight, e.activation, e.non_torch, e.kv, e.outcome
FROM engines e
JOIN jobs j ON j.ingest = e.ingest
JOIN builds b ON b.place = j.place
LEFT JOIN cards c ON c.ingest = e.ingest
WHERE e.test <> '' AND e.utilization IS NOT NULL AND e.outcome <> ''
ORDER BY e.test, j.step, j.queue, j.place, j.job, e.at
