-- One row a variant that ran in this part, with its file.
SELECT test, pool, file FROM part_files
