-- One row an attempt of the runs that need telling, in order: by variant and build, then as the attempts came.
-- `plain`: it passed or was skipped in a job that did not die; a run that is all plain is left out.
WITH placed AS (
  SELECT a.classname, a.name, a.apart, a.session_key, j.step, j.queue, j.pool, j.place, j.job, j.agent, j.died,
    j.job_attempt, j.retry_type, j.started_at, a.session, a.attempt, a.ordinal,
    a.outcome, a.blame, a.signature, a.fingerprint, substr(a.message, 1, 400) AS message,
    a.outcome IN ('passed', 'xfailed', 'xpassed', 'skipped') AND NOT j.died AS plain
  FROM attempts a
  JOIN jobs j ON j.ingest = a.ingest
  WHERE {test} AND a.name <> ''
), judged AS (
  SELECT *, min(CASE WHEN plain THEN 1 ELSE 0 END) OVER (
    PARTITION BY classname, name, apart, session_key, pool, place
  ) AS all_plain
  FROM placed
)
SELECT classname, name, apart, session_key, step, queue, place, job, agent, died, job_attempt, retry_type,
  outcome, blame, signature, fingerprint, message
FROM judged
WHERE all_plain = 0
ORDER BY classname, name, apart, session_key, step, queue, place,
  job_attempt, started_at NULLS LAST, job, length(session), session, attempt, ordinal
