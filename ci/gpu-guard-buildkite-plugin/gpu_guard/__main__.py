"""`python -m gpu_guard`: the guard's commands, for the shell."""

from gpu_guard.commands import main

raise SystemExit(main())
