"""How the benchmarks print, and how they measure memory."""

import subprocess
import sys

__all__ = ["extra_memory", "row"]


def row(what, milliseconds=None, **figures):
    """Print a line: what, how long, and figures as name=value or name=(value, ">=" or "<=", target)."""
    line = f"{what:34s} {'' if milliseconds is None else f'{milliseconds:10.4g} ms'}"
    for name, figure in figures.items():
        value, relation, target = figure if isinstance(figure, tuple) else (figure, "", None)
        line += f"   {name.replace('_', ' ')} {value:.4g}"
        if relation:
            met = value >= target if relation == ">=" else value <= target
            line += f" ({relation} {target} {'met' if met else 'MISSED'})"
    print(line)


def extra_memory(prepare, measured):
    """Return how many bytes a statement takes at its peak, in a process of its own, after others have prepared it."""
    code = f"""
import pathlib, numpy as np, kernsel as ks
def memory(field):
    lines = pathlib.Path("/proc/self/status").read_text().splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith(field)) * 1024
{prepare}
pathlib.Path("/proc/self/clear_refs").write_text("5")  # forgets the peak so far
before = memory("VmRSS")
{measured}
print(memory("VmHWM") - before)
"""
    return float(subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout)
