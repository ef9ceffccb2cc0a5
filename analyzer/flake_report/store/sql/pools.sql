-- One row a pool and build in which a job of it counts, in order.
SELECT DISTINCT pool, place
FROM jobs
ORDER BY pool, place
