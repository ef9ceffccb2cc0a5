-- One row a run of this part that needs telling, in order; places are counted from its first build.
SELECT test, pool, place - {base} AS place, verdict, first_failed, retried, recovered, victim, fingerprint, signature,
  agent, job, retry_type
FROM part_told
ORDER BY test, pool, place
