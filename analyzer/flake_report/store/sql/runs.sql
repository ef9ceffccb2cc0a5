-- One row a run: one variant (a test in a pool) in one build. `state` says how much there is to tell of it:
-- 0 it was only skipped, 1 it plainly passed (a pass, no failure, no attempt in a job that died), 2 anything else.
SELECT t.test, j.pool, j.place, j.counted_week AS week,
  max(CASE
    WHEN a.outcome = 'skipped' THEN 0
    WHEN a.outcome IN ('passed', 'xfailed', 'xpassed') AND NOT j.died THEN 1
    ELSE 2
  END) AS state,
  coalesce(max(a.file), '') AS file
FROM attempts a
JOIN tests t ON t.classname = a.classname AND t.name = a.name AND t.apart = a.apart AND t.session_key = a.session_key
JOIN jobs j ON j.ingest = a.ingest
GROUP BY t.test, j.pool, j.place, j.counted_week
