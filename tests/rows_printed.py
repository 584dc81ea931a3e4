"""The rows of numbers that an example prints."""

import re


def printed(capsys, main, *arguments):
    """Return the numbers at the end of each line, by what is before them; and of the line of what is chosen."""
    main(*arguments)
    lines = capsys.readouterr().out.splitlines()
    assert max(map(len, lines)) <= 150
    rows = {}
    for line in lines:
        if found := re.match(r"(.*?)  +((?:-?[\d.]+%? *)+)(  <- chosen|$|  \()", line):
            numbers = [float(text.rstrip("%")) for text in found[2].split()]
            rows[found[1]] = numbers
            if "chosen" in found[3]:
                rows["chosen"] = numbers
    return rows


def without_amplitude(rows):
    """Return the rows of kernels by the names of these, with the numbers that were found left out."""
    return {re.sub(r"(^| )[\d.e+-]+ \* ", r"\1", name): numbers for name, numbers in rows.items()}
