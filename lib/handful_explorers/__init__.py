"""The book's explorers: a module per chapter that declares the plots a reader can drive."""
