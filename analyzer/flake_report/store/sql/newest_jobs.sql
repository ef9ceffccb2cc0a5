-- One row an ingest that counts: of each job the last committed one.
SELECT ingest
FROM (
  SELECT ingest, row_number() OVER (PARTITION BY job ORDER BY commit_version DESC, ingest) AS age
  FROM stored_jobs
) aged
WHERE age = 1
