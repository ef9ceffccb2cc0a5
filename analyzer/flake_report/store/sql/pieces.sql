-- One row a stretch of runs of one variant, one week and one state: of a variant that always passed or was skipped all
-- its runs of the week and state together, of any other variant each run alone.
WITH weekly AS (
  SELECT test, pool, week,
    max(state) AS most,
    count(*) FILTER (WHERE state = 0) AS skips,
    min(place) FILTER (WHERE state = 0) AS first_skip,
    max(place) FILTER (WHERE state = 0) AS last_skip,
    count(*) FILTER (WHERE state = 1) AS passes,
    min(place) FILTER (WHERE state = 1) AS first_pass,
    max(place) FILTER (WHERE state = 1) AS last_pass
  FROM runs
  GROUP BY test, pool, week
), sums AS (
  SELECT *, max(most) OVER (PARTITION BY test, pool) AS ever FROM weekly
)
SELECT test, pool, week, 0 AS state, first_skip AS first_place, last_skip AS last_place, skips AS runs
FROM sums WHERE ever < 2 AND skips > 0
UNION ALL
SELECT test, pool, week, 1 AS state, first_pass AS first_place, last_pass AS last_place, passes AS runs
FROM sums WHERE ever < 2 AND passes > 0
UNION ALL
SELECT r.test, r.pool, r.week, r.state, r.place AS first_place, r.place AS last_place, 1 AS runs
FROM runs r
JOIN sums s ON s.test = r.test AND s.pool = r.pool AND s.week = r.week
WHERE s.ever = 2
