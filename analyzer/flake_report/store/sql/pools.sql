-- One row a pool and build in which a job of it counts, in order.
SELECT DISTINCT pool, step, queue, place
FROM jobs
ORDER BY step, queue, place
