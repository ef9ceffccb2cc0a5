"""What went wrong: text is matched against the signature table, and causes are told from consequences."""
