"""`python -m flake_report`."""

from flake_report.cli import run

if __name__ == "__main__":
    run()
