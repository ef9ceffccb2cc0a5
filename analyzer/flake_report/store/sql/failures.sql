-- One row a variant that failed in a job that failed: with the signature and fingerprint of its last bad attempt there.
-- `victim`: the environment failed it, by what its message says.
WITH ranked AS (
  SELECT a.*, row_number() OVER (
    PARTITION BY a.ingest, a.classname, a.name, a.apart, a.session_key ORDER BY a.attempt DESC, a.ordinal DESC
  ) AS age
  FROM bad a
  WHERE a.name <> ''
)
SELECT j.job, j.place, j.step, j.queue, a.classname, a.name, a.apart, a.session_key, a.signature, a.fingerprint,
  a.blame IN ('gpu-memory', 'gpu', 'infra', 'dependency', 'agent') AS victim
FROM ranked a
JOIN jobs j ON j.ingest = a.ingest
WHERE a.age = 1
ORDER BY j.place, j.job, a.classname, a.name, a.apart, a.session_key
