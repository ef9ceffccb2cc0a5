-- One row a machine on which some test failed: how many tests and commits failed there, how many of those ran on
-- another machine too, and passed there. Attempts in jobs that died say nothing; nameless cases are no test.
WITH ran AS (
  SELECT a.classname, a.name, a.apart, a.session_key, j.step, b."commit",
    CASE WHEN s.host <> '' THEN s.host ELSE j.agent END AS machine,
    max(CASE WHEN a.outcome IN ('failed', 'error', 'crashed') THEN 1 ELSE 0 END) AS failed,
    max(CASE WHEN a.outcome IN ('passed', 'xfailed', 'xpassed') THEN 1 ELSE 0 END) AS passed
  FROM attempts a
  JOIN jobs j ON j.ingest = a.ingest
  JOIN stored_jobs s ON s.ingest = j.ingest
  JOIN builds b ON b.place = j.place
  WHERE a.outcome <> 'skipped' AND a.name <> '' AND b."commit" <> '' AND NOT j.died
    AND (s.host <> '' OR j.agent <> '')
    AND EXISTS (
      SELECT 1
      FROM attempts f
      WHERE f.classname = a.classname AND f.name = a.name AND f.apart = a.apart AND f.session_key = a.session_key
        AND f.outcome IN ('failed', 'error', 'crashed')
    )
  GROUP BY a.classname, a.name, a.apart, a.session_key, j.step, b."commit",
    CASE WHEN s.host <> '' THEN s.host ELSE j.agent END
), beside AS (
  SELECT *,
    count(*) OVER (PARTITION BY classname, name, apart, session_key, step, "commit") - 1 AS others,
    sum(passed) OVER (PARTITION BY classname, name, apart, session_key, step, "commit") - passed AS others_passed
  FROM ran
)
SELECT machine, count(*) AS failed,
  count(*) FILTER (WHERE others > 0) AS tried,
  count(*) FILTER (WHERE others_passed > 0) AS passed
FROM beside
WHERE failed = 1
GROUP BY machine
ORDER BY machine
