"""The world outside: files, archives and folders of results, turned into Evidence."""
