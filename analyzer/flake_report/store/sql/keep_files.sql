-- One row a variant that ran in this part, with its file, in order.
SELECT test, pool, file FROM part_files ORDER BY test, pool
