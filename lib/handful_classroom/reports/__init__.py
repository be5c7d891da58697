"""Tell students and teachers what came of an assignment."""
