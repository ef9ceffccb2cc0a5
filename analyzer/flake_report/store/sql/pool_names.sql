-- One row a step and queue that some job of the store has, numbered in order of names.
SELECT step, queue, CAST(row_number() OVER (ORDER BY step, queue) AS INT) AS pool
FROM (SELECT DISTINCT step, queue FROM stored_jobs) named
