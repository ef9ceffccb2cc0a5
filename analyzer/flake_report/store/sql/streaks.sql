-- One row a streak: runs of one variant, one week and one state between two neighbouring runs of state 2 (those are
-- streaks of one). Pieces in, streaks out; streaks are pieces again, so parts of a history join by the same statement.
WITH marked AS (
  SELECT test, pool, week_number, state, first_place, last_place, runs,
    sum(CASE WHEN state = 2 THEN 1 ELSE 0 END) OVER (
      PARTITION BY test, pool ORDER BY first_place ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW
    ) AS told_before
  FROM pieces
)
SELECT test, pool, week_number, state, min(first_place) AS first_place, max(last_place) AS last_place,
  CAST(sum(runs) AS BIGINT) AS runs
FROM marked
GROUP BY test, pool, week_number, state, told_before
