"""The book as files to take along: a PDF and an EPUB."""
