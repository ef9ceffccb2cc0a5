-- One row an ingest that counts: of each job the last committed one. A table of its own: made together with the jobs
-- that it selects, it would hold their texts too.
SELECT ingest
FROM (
  SELECT ingest, row_number() OVER (PARTITION BY job ORDER BY commit_version DESC, ingest) AS age
  FROM stored_jobs
  WHERE {commits} AND {asked}
) aged
WHERE age = 1
