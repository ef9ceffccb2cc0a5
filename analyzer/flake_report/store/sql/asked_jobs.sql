-- One row a row of a job whose build is asked for, whichever ingest it is of: each of these jobs may have come again, in
-- another build and week.
SELECT j.job
FROM stored_jobs j
JOIN builds b ON b.org = j.org AND b.pipeline = j.pipeline AND b.build = j.build
WHERE {weeks}
