-- One row a test in a step and queue: the most torch memory, in bytes, that one attempt still held on a device when it
-- ended and had not found there. The true need is no less, and may be far more: nobody measures inside a test.
WITH around AS (
  SELECT m.ingest, m.test, m.device,
    max(CASE WHEN m.when = 'after' THEN m.torch_reserved END) AS after_it,
    min(CASE WHEN m.when = 'before' THEN m.torch_reserved END) AS before_it
  FROM memory m
  WHERE m.test <> ''
  GROUP BY m.ingest, m.test, m.device
)
SELECT j.step, j.queue, a.test, max(a.after_it - coalesce(a.before_it, 0)) AS held
FROM around a
JOIN jobs j ON j.ingest = a.ingest
WHERE a.after_it IS NOT NULL
GROUP BY j.step, j.queue, a.test
