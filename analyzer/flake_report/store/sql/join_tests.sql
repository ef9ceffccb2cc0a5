-- One row a test and session of a kept part that is asked for and has no number yet, with the next free number.
SELECT CAST(row_number() OVER (ORDER BY m.classname, m.name, m.apart, m.session_key) + k.numbers AS INT) AS test,
  m.classname, m.name, m.apart, m.session_key
FROM kept_tests m
CROSS JOIN (SELECT count(*) AS numbers FROM tests) k
WHERE {test} AND NOT EXISTS (
  SELECT 1 FROM tests t
  WHERE t.classname = m.classname AND t.name = m.name AND t.apart = m.apart AND t.session_key = m.session_key
)
