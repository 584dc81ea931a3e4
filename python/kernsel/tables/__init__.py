"""Files with columns, read into numbers."""

from kernsel.tables.table import Column, Table

__all__ = ["Column", "Table"]
