-- One row a variant that the environment failed in a job, and signature, by what the message says: `ordinal` is the
-- place of its first such attempt in the job's record, `fingerprint` the first that one of them has.
SELECT j.place, j.job, j.step, j.queue, j.agent, s.host, a.signature, a.blame, a.classname, a.name, a.apart,
  a.session_key, min(a.ordinal) AS ordinal,
  coalesce(min_by(a.fingerprint, a.ordinal) FILTER (WHERE a.fingerprint <> ''), '') AS fingerprint
FROM bad a
JOIN jobs j ON j.ingest = a.ingest
JOIN stored_jobs s ON s.ingest = j.ingest
WHERE a.blame IN ('gpu-memory', 'gpu', 'infra', 'dependency', 'agent')
GROUP BY j.place, j.job, j.step, j.queue, j.agent, s.host, a.signature, a.blame, a.classname, a.name, a.apart,
  a.session_key
ORDER BY place, job, ordinal, signature
