-- One row a kind of diagnosis and step and queue: how many events it explains, and in how many jobs.
SELECT m.diagnosis, j.step, j.queue, count(*) AS events, count(DISTINCT j.job) AS jobs
FROM matches m
JOIN jobs j ON j.ingest = m.ingest
WHERE m.diagnosis IS NOT NULL AND m.diagnosis <> ''
GROUP BY m.diagnosis, j.step, j.queue
ORDER BY m.diagnosis, j.step, j.queue
