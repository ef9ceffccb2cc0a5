-- One row a variant: the last by name of the files that its results name.
SELECT test, pool, max(file) AS file
FROM runs
GROUP BY test, pool
