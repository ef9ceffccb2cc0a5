-- One row a file that these attempts name, numbered in order of names: numbers compare as the names do.
SELECT file, CAST(row_number() OVER (ORDER BY file) AS INT) AS path
FROM (SELECT DISTINCT file FROM attempts WHERE file <> '') named
