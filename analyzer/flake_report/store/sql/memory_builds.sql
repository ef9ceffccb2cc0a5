-- One row a build in which jobs of a step and queue ran to their end on an agent, in order of builds.
SELECT DISTINCT j.step, j.queue, j.agent, j.place
FROM jobs j
WHERE NOT j.died
ORDER BY j.step, j.queue, j.agent, j.place
