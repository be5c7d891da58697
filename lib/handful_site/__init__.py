"""The book's pages: their build, their scripts, and the publication of the site."""
