"""What the plugin's hooks do, before a job's command and after it. Standard library only; the hooks run `__main__`."""
