-- One row a build in which jobs of a step and queue ran to their end on an agent that met a GPU-memory event in them, in
-- order of builds.
WITH met AS (
  SELECT DISTINCT j.step, j.queue, j.agent
  FROM matches m
  JOIN jobs j ON j.ingest = m.ingest
  WHERE m.diagnosis IS NOT NULL OR m.blame = 'gpu-memory'
)
SELECT DISTINCT j.step, j.queue, j.agent, j.place
FROM jobs j
JOIN met e ON e.step = j.step AND e.queue = j.queue AND e.agent = j.agent
WHERE NOT j.died
ORDER BY j.step, j.queue, j.agent, j.place
