-- One row an attempt, in numbers alone: this is the one statement that reads the names of all attempts. `test` is null
-- where the test has no number. `state` says how much there is to tell of it: 0 it was skipped, 1 it passed in a job
-- that did not die, 2 anything else. With its ingest its `ordinal` finds it again.
SELECT t.test, j.pool, j.place, j.week_number,
  CASE
    WHEN a.outcome = 'skipped' THEN 0
    WHEN a.outcome IN ('passed', 'xfailed', 'xpassed') AND NOT j.died THEN 1
    ELSE 2
  END AS state,
  p.path, a.ingest, CAST(a.ordinal AS INT) AS ordinal
FROM attempts a
JOIN part_jobs j ON j.ingest = a.ingest
LEFT JOIN tests t
  ON t.classname = a.classname AND t.name = a.name AND t.apart = a.apart AND t.session_key = a.session_key
LEFT JOIN paths p ON p.file = a.file
WHERE {numbered}
