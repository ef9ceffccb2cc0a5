-- One row a week in which rows of jobs lie whose build is asked for, whichever ingest they are of: how many these are,
-- and the first commit that brought one.
SELECT j.week, count(*) AS jobs, min(j.commit_version) AS oldest
FROM stored_jobs j
JOIN builds b ON b.org = j.org AND b.pipeline = j.pipeline AND b.build = j.build
GROUP BY j.week
ORDER BY j.week
