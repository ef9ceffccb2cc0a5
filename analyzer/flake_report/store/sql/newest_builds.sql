-- One row an ingest whose word on its build counts: of each build the last committed one.
SELECT ingest
FROM (
  SELECT ingest, row_number() OVER (PARTITION BY org, pipeline, build ORDER BY commit_version DESC, ingest) AS age
  FROM stored_builds
) aged
WHERE age = 1
