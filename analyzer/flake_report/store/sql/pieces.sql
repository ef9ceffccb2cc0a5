-- One row a stretch of runs of one variant and one state: of a variant that always passed or was skipped all its
-- runs of the state together, of any other variant each run alone.
WITH numbered AS (
  SELECT * FROM sums JOIN variants USING (classname, name, apart, step, queue, session)
)
SELECT variant, 0 AS state, first_skip AS first_place, last_skip AS last_place, skips AS runs
FROM numbered WHERE most < 2 AND skips > 0
UNION ALL
SELECT variant, 1 AS state, first_pass AS first_place, last_pass AS last_place, passes AS runs
FROM numbered WHERE most < 2 AND passes > 0
UNION ALL
SELECT n.variant, r.state, r.place AS first_place, r.place AS last_place, 1 AS runs
FROM runs r
JOIN numbered n USING (classname, name, apart, step, queue, session)
WHERE n.most = 2
