-- One row a job whose attempts lie in the weeks that are counted now: a join with these alone is the smaller one.
SELECT ingest, job, place, week_number, agent, retry_type, started_at, job_attempt, pool, died
FROM jobs
WHERE {weeks}
