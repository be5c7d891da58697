"""Run a student's code in bubblewrap, and speak with it over a pipe."""
