-- One row a test and session of these weeks.
SELECT DISTINCT classname, name, apart, session_key FROM attempts
