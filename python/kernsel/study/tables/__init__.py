"""Tables of numbers from files with columns: CSV and similar text, Excel, Parquet, npz."""

from kernsel.study.tables.dates import date_of
from kernsel.study.tables.read import read_table, read_to_predict
from kernsel.study.tables.table import Column, Table

__all__ = ["Column", "Table", "date_of", "read_table", "read_to_predict"]
