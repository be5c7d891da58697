"""The book as downloadable files: a PDF and an EPUB."""
