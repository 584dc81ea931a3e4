"""Rows from anywhere: blocks of points with their targets, read as often as asked, never all at once."""

from kernsel._data.rows.block import RowBlock
from kernsel._data.rows.given import is_of_rows, row_source
from kernsel._data.rows.partitions import is_of_dask
from kernsel._data.rows.source import RowSource
from kernsel._data.rows.summary import Subset, Summary, summary

__all__ = ["RowBlock", "RowSource", "Subset", "Summary", "is_of_dask", "is_of_rows", "row_source", "summary"]
