-- One row a pool in which a test of this part ran, with its name: numbers are those of one question.
SELECT p.pool, p.step, p.queue
FROM pool_names p
WHERE EXISTS (SELECT 1 FROM part_files f WHERE f.pool = p.pool)
