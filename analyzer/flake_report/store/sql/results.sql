-- One row a job that has results: how many attempts it tells of, and of how many the order is not known.
SELECT a.ingest, count(*) AS attempts, count(*) FILTER (WHERE NOT a.attempts_known) AS unknown
FROM attempts a
JOIN jobs j ON j.ingest = a.ingest
GROUP BY a.ingest
