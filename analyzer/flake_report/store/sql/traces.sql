-- One row a memory sample around a test, in a job that met an incident of GPU memory, in order of time on its device.
-- At one moment the end of a test comes before the beginning of the next.
-- `used` is what all processes hold on the device, in bytes; as the device's own free memory has it where that is known.
WITH struck AS (
  SELECT DISTINCT b.ingest
  FROM bad b
  WHERE b.blame = 'gpu-memory'
)
SELECT j.step, j.queue, j.job, m.device, m.at, m.test, m.when = 'before' AS before, m.total,
  coalesce(m.total - m.free, m.used) AS used
FROM memory m
JOIN jobs j ON j.ingest = m.ingest
JOIN struck s ON s.ingest = m.ingest
WHERE m.at IS NOT NULL AND m.test <> '' AND m.device <> '' AND m.when IN ('before', 'after')
  AND coalesce(m.total - m.free, m.used) IS NOT NULL
ORDER BY j.job, m.device, m.at, m.when
