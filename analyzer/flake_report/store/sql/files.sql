-- One row a variant: the last by name of the files that its results name.
WITH last AS (
  SELECT test, pool, max(path) AS path FROM tried WHERE test IS NOT NULL GROUP BY test, pool
)
SELECT l.test, l.pool, coalesce(p.file, '') AS file
FROM last l
LEFT JOIN paths p ON p.path = l.path
