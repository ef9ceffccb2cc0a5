-- One row a run: one variant in one build. `state` says how much there is to tell of it:
-- 0 it was only skipped, 1 it plainly passed (a pass, no failure, no attempt in a job that died), 2 anything else.
SELECT a.classname, a.name, a.apart, j.step, j.queue, a.session_key AS session, j.place,
  max(CASE
    WHEN a.outcome = 'skipped' THEN 0
    WHEN a.outcome IN ('passed', 'xfailed', 'xpassed') AND NOT j.died THEN 1
    ELSE 2
  END) AS state
FROM attempts a
JOIN jobs j ON j.ingest = a.ingest
GROUP BY a.classname, a.name, a.apart, j.step, j.queue, a.session_key, j.place
