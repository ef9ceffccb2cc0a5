-- One row: what there is of the builds and jobs asked for, and what is missing.
SELECT count(DISTINCT j.place) AS builds, count(*) AS jobs,
  count(*) FILTER (WHERE r.ingest IS NULL) AS jobs_without_results,
  count(*) FILTER (WHERE j.died) AS jobs_lost,
  CAST(coalesce(sum(r.attempts), 0) AS BIGINT) AS attempts,
  CAST(coalesce(sum(r.unknown), 0) AS BIGINT) AS attempts_unknown,
  count(*) FILTER (WHERE j.mode = 'all') AS whole_jobs,
  count(*) FILTER (WHERE j.mode = 'failed') AS failed_jobs,
  CAST(coalesce(sum(j.warnings), 0) AS BIGINT) AS warnings,
  min(b.created_at) AS oldest,
  max(b.created_at) AS newest
FROM jobs j
JOIN builds b ON b.place = j.place
LEFT JOIN results r ON r.ingest = j.ingest
