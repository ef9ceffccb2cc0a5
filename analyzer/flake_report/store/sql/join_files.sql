-- One row a variant of a kept part, with its file.
SELECT n.test, n.pool, f.file
FROM kept_files f
JOIN numbers n ON n.kept_test = f.test AND n.kept_pool = f.pool
