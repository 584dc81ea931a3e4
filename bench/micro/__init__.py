"""Single tiles and the smallest calls, with pytest-benchmark."""
