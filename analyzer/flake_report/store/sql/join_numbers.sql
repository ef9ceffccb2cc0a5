-- One row a variant of a kept part that is asked for: its numbers there, and those that it has in this question.
SELECT f.test AS kept_test, f.pool AS kept_pool, t.test, p.pool
FROM kept_files f
JOIN kept_tests k ON k.test = f.test
JOIN tests t ON t.classname = k.classname AND t.name = k.name AND t.apart = k.apart AND t.session_key = k.session_key
JOIN kept_pools n ON n.pool = f.pool
JOIN pool_names p ON p.step = n.step AND p.queue = n.queue
