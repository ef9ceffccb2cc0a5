"""Every type that crosses from one stage to the next: frozen, a module a stage."""
