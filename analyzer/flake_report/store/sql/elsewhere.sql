-- One row a machine on which some test failed that ran on another machine too, at the same commit: how many tests and
-- commits that were, and how many of them passed on another. Attempts in jobs that died say nothing; nameless cases are
-- no test.
WITH met AS (
  -- Few steps fail a test at a commit, so most jobs need no look.
  SELECT DISTINCT j.step, b."commit"
  FROM bad a
  JOIN jobs j ON j.ingest = a.ingest
  JOIN builds b ON b.place = j.place
  WHERE a.name <> '' AND NOT j.died AND b."commit" <> ''
), placed AS (
  SELECT j.ingest, j.step, b."commit", CASE WHEN s.host <> '' THEN s.host ELSE j.agent END AS machine
  FROM jobs j
  JOIN builds b ON b.place = j.place
  JOIN met m ON m.step = j.step AND m."commit" = b."commit"
  JOIN stored_jobs s ON s.ingest = j.ingest
  WHERE NOT j.died AND (s.host <> '' OR j.agent <> '')
), spread AS (
  -- Few of these ran on several machines, so most attempts need none.
  SELECT step, "commit" FROM placed GROUP BY step, "commit" HAVING min(machine) <> max(machine)
), several AS (
  SELECT p.ingest, p.step, p."commit", p.machine
  FROM placed p
  JOIN spread s ON s.step = p.step AND s."commit" = p."commit"
), failed AS (
  SELECT DISTINCT a.classname, a.name, a.apart, a.session_key, p.step, p."commit"
  FROM bad a
  JOIN several p ON p.ingest = a.ingest
  WHERE a.name <> ''
), ran AS (
  SELECT a.classname, a.name, a.apart, a.session_key, p.step, p."commit", p.machine,
    max(CASE WHEN a.outcome IN ('failed', 'error', 'crashed') THEN 1 ELSE 0 END) AS failed,
    max(CASE WHEN a.outcome IN ('passed', 'xfailed', 'xpassed') THEN 1 ELSE 0 END) AS passed
  FROM attempts a
  JOIN several p ON p.ingest = a.ingest
  JOIN failed f ON f.classname = a.classname AND f.name = a.name AND f.apart = a.apart
    AND f.session_key = a.session_key AND f.step = p.step AND f."commit" = p."commit"
  WHERE a.outcome <> 'skipped'
  GROUP BY a.classname, a.name, a.apart, a.session_key, p.step, p."commit", p.machine
), beside AS (
  SELECT *,
    count(*) OVER (PARTITION BY classname, name, apart, session_key, step, "commit") - 1 AS others,
    sum(passed) OVER (PARTITION BY classname, name, apart, session_key, step, "commit") - passed AS others_passed
  FROM ran
)
SELECT machine, count(*) AS tried, count(*) FILTER (WHERE others_passed > 0) AS passed
FROM beside
WHERE failed = 1 AND others > 0
GROUP BY machine
ORDER BY machine
