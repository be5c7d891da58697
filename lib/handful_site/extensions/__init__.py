"""What Sphinx needs to read the book: its roles and directives, and what they put on pages."""
