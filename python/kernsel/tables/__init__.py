"""Tables of numbers from files with columns: CSV and similar text, Parquet, npz."""

from kernsel.tables.numerals import date_of
from kernsel.tables.read import read_table, read_to_predict
from kernsel.tables.table import Column, Table

__all__ = ["Column", "Table", "date_of", "read_table", "read_to_predict"]
