"""Give Sphinx the book's roles and directives, and what they put on pages."""
