"""The equations of *A Handful of Equations*, and the tools that make the book."""
