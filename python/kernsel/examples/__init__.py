"""Examples on inputs that are not vectors, each a function `main` that prints a table and takes some seconds."""
