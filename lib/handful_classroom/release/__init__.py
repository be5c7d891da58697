"""Read an assignment's source, and make what students and teachers get."""
