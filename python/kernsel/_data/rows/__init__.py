"""Rows from anywhere: blocks of points with their targets, read as often as asked, never all at once."""

from kernsel._data.rows.block import RowBlock
from kernsel._data.rows.given import row_source
from kernsel._data.rows.source import RowSource
from kernsel._data.rows.summary import Subset, Summary, summary

__all__ = ["RowBlock", "RowSource", "Subset", "Summary", "row_source", "summary"]
