"""What tests let workers do to partitions: workers can import this file, and not those of the tests."""

import time

import numpy as np

__all__ = ["Slow", "with_nan", "without_a_column"]


class Slow:
    """Blocks that take a while, so that something can happen meanwhile."""

    def __init__(self, seconds):
        self.seconds = seconds

    def __call__(self, block):
        time.sleep(self.seconds)
        return block


def number_of(info):
    """Return the number of a block in an array of Dask."""
    return info[0]["chunk-location"][0]


def with_nan(block, block_info=None):
    """Return the fourth block with NaN in its sixth row, and all others as they are."""
    block = block.copy()
    if number_of(block_info) == 3:
        block[5, 1] = np.nan
    return block


def without_a_column(block, block_info=None):
    """Return the third block without its second column, and all others as they are."""
    return block[:, :1] if number_of(block_info) == 2 else block
