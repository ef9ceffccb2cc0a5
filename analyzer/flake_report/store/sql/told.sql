-- One row a run that is neither a plain pass nor skipped: its verdict, and what failed first.
-- `nth` orders the attempts of a run: by job retry, then as the job's record has them.
WITH placed AS (
  SELECT t.test, t.pool, t.place, j.job, j.agent, j.died, j.job_attempt, j.retry_type,
    a.outcome, a.blame, a.message, a.signature, a.fingerprint,
    a.outcome IN ('failed', 'error', 'crashed') AS bad,
    row_number() OVER (
      PARTITION BY t.test, t.pool, t.place
      ORDER BY j.job_attempt, j.started_at NULLS LAST, j.job, length(a.session), a.session, a.attempt, a.ordinal
    ) AS nth
  FROM telling t
  JOIN attempts a ON a.ingest = t.ingest AND a.ordinal = t.ordinal
  JOIN part_jobs j ON j.ingest = t.ingest
), struck AS (
  -- One row an attempt; `last_victim`: place of the last attempt in its job that failed by the environment.
  SELECT *, max(CASE WHEN bad AND blame IN ('gpu-memory', 'gpu', 'infra', 'dependency', 'agent') THEN nth ELSE 0 END)
    OVER (PARTITION BY test, pool, place, job) AS last_victim
  FROM placed
), judged AS (
  -- One row an attempt. A report keeps no message of a failure that was run again: such a one, before a victim in the
  -- same job, is a victim too.
  SELECT *, CASE
    WHEN outcome = 'skipped' THEN 'skipped'
    WHEN bad AND blame IN ('gpu-memory', 'gpu', 'infra', 'dependency', 'agent') THEN 'victim'
    WHEN bad AND message = '' AND signature = '' AND nth < last_victim THEN 'victim'
    WHEN died THEN 'lost'
    WHEN bad THEN 'failed'
    ELSE 'passed'
  END AS fate
  FROM struck
), summed AS (
  SELECT test, pool, place,
    count(*) FILTER (WHERE fate = 'passed') AS passed,
    count(*) FILTER (WHERE fate = 'failed') AS failed,
    count(*) FILTER (WHERE fate = 'victim') AS victims,
    count(*) FILTER (WHERE fate = 'lost') AS lost,
    coalesce(min(nth) FILTER (WHERE fate = 'failed') < min(nth) FILTER (WHERE fate = 'passed'), false) AS failed_early,
    min_by(retry_type, nth) FILTER (WHERE job_attempt > 0 AND retry_type IS NOT NULL) AS retry_type,
    min_by(fingerprint, nth) FILTER (WHERE fate = 'failed' AND fingerprint <> '') AS own_fingerprint,
    min_by(fingerprint, nth) FILTER (WHERE fate = 'victim' AND fingerprint <> '') AS victim_fingerprint,
    min_by(signature, nth) FILTER (WHERE fate = 'failed' AND signature <> '') AS own_signature,
    min_by(signature, nth) FILTER (WHERE fate = 'victim' AND signature <> '') AS victim_signature,
    min_by(agent, nth) FILTER (WHERE fate = 'failed') AS own_agent,
    min_by(agent, nth) FILTER (WHERE fate = 'victim') AS victim_agent,
    min_by(agent, nth) AS first_agent,
    min_by(job, nth) FILTER (WHERE fate = 'failed') AS own_job,
    min_by(job, nth) FILTER (WHERE fate = 'victim') AS victim_job,
    min_by(job, nth) AS first_job
  FROM judged
  GROUP BY test, pool, place
)
SELECT test, pool, place,
  CASE
    WHEN failed > 0 AND passed > 0 THEN 'flaky'
    WHEN failed > 0 THEN 'failed'
    WHEN passed > 0 THEN 'passed'
    WHEN victims > 0 THEN 'victim'
    ELSE 'lost'
  END AS verdict,
  failed > 0 AND (passed = 0 OR failed_early) AS first_failed,
  failed > 0 AND (passed = 0 OR failed_early) AND failed + passed > 1 AS retried,
  failed_early AS recovered,
  victims > 0 AS victim,
  coalesce(CASE WHEN failed > 0 THEN own_fingerprint ELSE victim_fingerprint END, '') AS fingerprint,
  coalesce(CASE WHEN failed > 0 THEN own_signature ELSE victim_signature END, '') AS signature,
  CASE WHEN failed > 0 THEN own_agent WHEN victims > 0 THEN victim_agent ELSE first_agent END AS agent,
  CASE WHEN failed > 0 THEN own_job WHEN victims > 0 THEN victim_job ELSE first_job END AS job,
  retry_type
FROM summed
