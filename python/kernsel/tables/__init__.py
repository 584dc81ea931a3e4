"""Files with columns, read into numbers: CSV and its relatives, Parquet, npz."""

from kernsel.tables.read import read_table, read_to_predict
from kernsel.tables.table import Column, Table

__all__ = ["Column", "Table", "read_table", "read_to_predict"]
