"""Tables of numbers from files with columns: CSV and similar text, Excel, Parquet, npz."""

from kernsel.study.tables.dates import date_of
from kernsel.study.tables.parts import is_large, read_in_parts
from kernsel.study.tables.read import columns_of, inputs_found, read_sample, read_table, read_to_predict, rows_to_predict
from kernsel.study.tables.table import Column, Table

__all__ = [
    "Column",
    "Table",
    "columns_of",
    "date_of",
    "inputs_found",
    "is_large",
    "read_in_parts",
    "read_sample",
    "read_table",
    "read_to_predict",
    "rows_to_predict",
]
