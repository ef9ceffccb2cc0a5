-- One row a start of an engine in a test, come up or not, with where and when it ran. Sizes are bytes, null where the
-- log does not say.
SELECT j.job, j.place, b.build, b.created_at, j.step, j.queue, e.test, e.device, e.utilization, e.requested, e.free,
  e.total, e.weight, e.activation, e.non_torch, e.kv, e.outcome
FROM engines e
JOIN jobs j ON j.ingest = e.ingest
JOIN builds b ON b.place = j.place
WHERE e.test <> ''
ORDER BY e.test, j.step, j.queue, j.place, j.job, e.at
