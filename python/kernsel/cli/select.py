"""`kernsel select`: choose a kernel for a table, by several criteria."""

from __future__ import annotations

import argparse
import shlex
from collections.abc import Sequence
from pathlib import Path

from kernsel.approximations import Nystrom
from kernsel.cli import machine, words
from kernsel.cli.classes import TESTED, select_classes
from kernsel.cli.outputs import require_model, require_report, require_writable
from kernsel.cli.parser import approximation, duration, names, share, variance, whole
from kernsel.cli.parser import criteria as criteria_named
from kernsel.cli.terminal import Terminal
from kernsel.criteria.names import offered
from kernsel.criteria.table import TABLE
from kernsel.likelihoods.named import NAMED, WARPED
from kernsel.study import Study, kernel_of, study
from kernsel.study.all_rows import LearntFromAll, learn_from_all
from kernsel.study.categories import kernels_of_categories
from kernsel.study.select import USUAL
from kernsel.study.tables import Table, columns_of, is_large, read_sample, read_table

__all__ = ["add_choices", "choose", "describe", "run"]

_MANY = 3000  # rows from which on kernels are compared by one criterion unless more are asked for: a fit takes seconds
_SAMPLE = 20_000  # rows of a file that does not fit into memory that are learnt from unless --rows says how many


def describe(parser: argparse.ArgumentParser) -> None:
    """Say in the parser of the command what it does, and add its options."""
    parser.usage = "kernsel select FILE --target NAME [options]"
    parser.description = (
        "Read a table, choose a kernel for it by each criterion, show what was tried, and keep the model that the "
        "first criterion chooses."
    )
    parser.epilog = (
        "examples:\n"
        "  kernsel select cars.csv --target dist\n"
        '  kernsel select data.csv --target y --kernel "RBF + Linear" --kernel "Matern(nu=2.5)" --criterion loo,lml,gcv\n'
        "  kernsel select data.csv --target y --kernel search --budget 2m --report report.html\n"
        "  kernsel select flowers.csv --target species --classify --test 20%\n"
        "  kernsel select faults.csv --target faults --likelihood poisson --exposure hours\n"
        "  kernsel select big.parquet --target y --rows 3000 --leave-out id,comment --missing mean --seed 1\n"
        "  cat data.csv | kernsel select - --target y --json > result.json\n\n"
        'kernels: text such as "RBF", "Matern(nu=2.5) + Linear" or "RBF.on([\'speed\']) * Linear". There are\n'
        "  RBF, Matern, RationalQuadratic, ExpSineSquared, Linear, Polynomial and more, see\n"
        "  help(kernsel.kernels) in Python; `search` builds kernels itself. Length scales and other\n"
        "  numbers are found: those in the text are where the search begins, RBF(2.0, 'fixed') stays.\n\n"
        "criteria:\n" + "\n".join(f"  {name:25s} {TABLE[name].sentence}" for name in offered())
    )
    parser.add_argument("file", metavar="FILE", help=words.FILES_IN_PARTS)
    parser.add_argument("--target", metavar="NAME", help="the column that is to be predicted")
    parser.add_argument(
        "--classify",
        action="store_true",
        help="the target is a class: learn the probabilities of classes, by --criterion loo (default) or lml",
    )
    data = parser.add_argument_group("data")
    data.add_argument(
        "--columns", type=names, action="extend", default=[], metavar="A,B", help="predict from these columns only"
    )
    data.add_argument("--leave-out", type=names, action="extend", default=[], metavar="A,B", help="predict from all but these")
    data.add_argument(
        "--missing",
        choices=["drop", "mean", "error"],
        default="drop",
        help="missing values: leave the row out (default), take the mean of the column, or stop",
    )
    data.add_argument(
        "--rows",
        type=whole(3),
        metavar="N",
        help="learn from so many rows at most, a random sample of more (default all; of classes 1000; of a file that does not "
        "fit into memory 20,000)",
    )
    data.add_argument(
        "--test", type=share, default=0.0, metavar="20%", help="hold so many rows out, to test the model".replace("%", "%%")
    )
    data.add_argument(
        "--exposure",
        metavar="NAME",
        help="the column that says how long or how much each count of the target was counted; it is then no input",
    )
    data.add_argument(
        "--trials", metavar="NAME", help="the column with the number of trials, of which the target has successes"
    )
    data.add_argument(
        "--groups", metavar="NAME", help="leave rows with the same value in this column out together; it is then no input"
    )
    data.add_argument(
        "--time", metavar="NAME", help="leave rows out in ten blocks that follow each other by this column of dates or numbers"
    )
    add_choices(parser)


def add_choices(parser: argparse.ArgumentParser) -> None:
    """Add the options for the choice of the kernel and for the results."""
    choice = parser.add_argument_group("choice")
    choice.add_argument(
        "--kernel",
        action="append",
        metavar="TEXT",
        help=f"a kernel to try, or `search`; may be given several times (by default {len(USUAL)} usual ones, and some of the "
        "table's categories)",
    )
    choice.add_argument(
        "--criterion",
        type=criteria_named,
        action="extend",
        metavar="A,B",
        help="what is best; the first one chooses the model (default evidence,loo)",
    )
    choice.add_argument(
        "--combine",
        choices=["auto", "stack", "none"],
        default="auto",
        help="stack: mix all kernels by the first criterion, with the weights that make rows left out most likely; none: take "
        "the best one; auto (default): mix if the evidence compares several",
    )
    choice.add_argument(
        "--likelihood",
        choices=sorted([*NAMED, WARPED]),
        metavar="NAME",
        help=f"what the target is, given the function: {', '.join(NAMED)}; {WARPED}: normal after the transform that makes the "
        "data most probable; normal noise by default",
    )
    choice.add_argument(
        "--noise", type=variance, default="auto", metavar="VARIANCE", help="0 for data without noise; found by default"
    )
    choice.add_argument(
        "--trend",
        choices=["constant", "linear", "quadratic", "none"],
        default="constant",
        help="beside the kernel (default constant)",
    )
    choice.add_argument(
        "--approximation",
        type=approximation,
        default="auto",
        metavar="HOW",
        help="none: compute exactly, however long it takes; landmarks or landmarks=500: know the function at so many points "
        "(default 1000), good for noisy data; auto (default): predict rows from the nearest others where all would take longer "
        "than a minute or more memory than there is, and, if the file does not fit into memory, learn from all its rows by "
        "landmarks where that predicts better than a sample of rows",
    )
    choice.add_argument("--budget", type=duration, metavar="TIME", help="such as 30s, 2m or 1h: shared by all that is tried")
    choice.add_argument("--seed", type=whole(0, 2**32 - 1), default=0, metavar="N", help="of samples and searches (default 0)")
    results = parser.add_argument_group("results")
    results.add_argument("--save", metavar="FILE", help="write the model there")
    results.add_argument("--report", metavar="FILE", help="write a page with figures there, report.html")
    results.add_argument("--json", action="store_true", help="print one JSON document instead of tables")


def run(arguments: argparse.Namespace, terminal: Terminal) -> int:
    """Run the command; return its exit code."""
    if arguments.target is None:
        columns = ", ".join(columns_of(arguments.file)[:20])
        arguments.parser.error(f"--target: which column is to be predicted? {arguments.file} has {columns}")
    save = arguments.save or default_model(arguments.file)
    if arguments.groups and arguments.time:
        arguments.parser.error("--groups, --time: expected one of them, since both tell what is left out together")
    require_model(save)
    if arguments.classify and (arguments.likelihood or arguments.exposure or arguments.trials):
        arguments.parser.error("--classify, --likelihood: expected one of them, since both say what the target is")
    if arguments.classify:
        return select_classes(arguments, terminal, save=save)
    require_writable(save, arguments.report)
    require_report(arguments.report)
    table, rows = _read(arguments)
    command = " ".join(
        map(shlex.quote, ["kernsel", "select", arguments.file, "--target", arguments.target, *_typed(arguments)])
    )
    found = choose(table, arguments, terminal, rows=rows, test=arguments.test)
    learnt = _from_all(found, table, arguments, terminal) if is_large(arguments.file) else None
    return finish(found, terminal, save=save, report=arguments.report, command=command, learnt=learnt)


def _read(arguments: argparse.Namespace) -> tuple[Table, int | None]:
    """Return the table, and the most rows to learn from: of a file that does not fit into memory, a sample is read."""
    options = {
        "columns": arguments.columns,
        "leave_out": arguments.leave_out,
        "missing": arguments.missing,
        "groups": arguments.groups,
        "time": arguments.time,
        "exposure": arguments.exposure,
        "trials": arguments.trials,
    }
    if not is_large(arguments.file):
        return read_table(arguments.file, arguments.target, **options), arguments.rows
    rows = arguments.rows or _SAMPLE
    return read_sample(arguments.file, arguments.target, rows + TESTED, arguments.seed, **options), rows


def _from_all(found: Study, table: Table, arguments: argparse.Namespace, terminal: Terminal) -> LearntFromAll | None:
    """Learn from all rows of a file that does not fit into memory; None if it cannot be, or need not be."""
    sampled = (arguments.rows or _SAMPLE) + TESTED
    if (
        arguments.likelihood is not None
        or arguments.approximation == "none"
        or found.ended
        or table.groups is not None
        or table.rows <= sampled
    ):
        return None
    near = arguments.approximation if isinstance(arguments.approximation, Nystrom) else Nystrom()
    with terminal.progress(1) as begin:
        begin(f"all {table.rows:,} rows")
        return learn_from_all(found, table, arguments.file, arguments.missing, near)


def default_model(file: str) -> str:
    """Return the default file name of a model: the name of the data file, in the current directory."""
    return "model.ksl" if file == "-" else Path(file).stem + ".ksl"


def choose(
    table: Table, arguments: argparse.Namespace, terminal: Terminal, *, rows: int | None = None, test: float = 0.0
) -> Study:
    """Print what was read, and return the study of it."""
    kernels = arguments.kernel
    search = kernels is not None and "search" in kernels
    if search and len(kernels) > 1:
        raise ValueError("kernel: search builds kernels itself; expected it alone, or kernels")
    if kernels and not search:
        kernels = [kernel_of(text, table) for text in kernels]
    words.print_table_read(table, terminal)
    for remark in table.remarks:
        terminal.note(remark)
    many = min(table.rows, rows or table.rows) > _MANY
    usual = ["evidence", "loo"] if arguments.likelihood is None else ["lml", "loo_log_density"]
    criteria = arguments.criterion or (usual[:1] if many else usual)
    total = None if search else len(criteria) * (len(kernels) if kernels else len(USUAL) + len(kernels_of_categories(table)))
    with terminal.progress(total) as begin:
        found = study(
            table,
            kernels="search" if search else kernels,
            criteria=criteria,
            combine=None if arguments.combine == "none" else arguments.combine,
            noise=arguments.noise,
            trend=None if arguments.trend == "none" else arguments.trend,
            rows=rows,
            test=test,
            budget=arguments.budget,
            seed=arguments.seed,
            approximation=None if arguments.approximation == "none" else arguments.approximation,
            likelihood=arguments.likelihood,
            progress=lambda criterion, kernel: begin(f"{criterion}: {kernel}"),
        )
    for remark in found.remarks[len(table.remarks) :]:
        terminal.note(remark)
    return found


def finish(
    found: Study,
    terminal: Terminal,
    *,
    save: str | None,
    report: str | None,
    command: str,
    learnt: LearntFromAll | None = None,
) -> int:
    """Print a study, and write the model and the report to the given files; return the exit code.

    If the model of the study was `learnt` from all rows, too, the better one is saved.
    """
    files = {}
    if save is not None:
        (learnt.study if learnt is not None and learnt.is_better else found).save(save)
        files["model"] = save
    if not terminal.json:
        words.print_tried(found, terminal)
        words.print_chosen(found, terminal)
        if learnt is not None:
            words.print_all_rows(learnt, terminal)
    if report is not None:
        write_page(found, report, model=save, command=command)
        files["report"] = report
    if terminal.json:
        terminal.document(machine.document_of(found, files, learnt))
    _print_next(files, terminal)
    return 130 if found.ended.startswith("interrupted") else 0


def write_page(found: Study, path: str, *, model: str | None, command: str) -> None:
    """Write the report of a study."""
    from kernsel.report import write_report

    write_report(found, path, file=model or "model.ksl", command=command)


def _print_next(files: dict[str, str], terminal: Terminal) -> None:
    """Print the files that were written, and commands that use them."""
    if not files:
        return
    terminal.heading("Written")
    if "report" in files:
        terminal.say(f"{files['report']}, a page to look at in a browser")
    if "model" in files:
        model = shlex.quote(files["model"])
        terminal.say(f"{files['model']}, the model; and now:")
        terminal.command(f"kernsel predict {model} NEW.csv --output predictions.csv")
        if "report" not in files:
            terminal.command(f"kernsel report {model} --open")
        terminal.command(f'python -c "import kernsel; print(kernsel.load({files["model"]!r}))"')


def _typed(arguments: argparse.Namespace) -> Sequence[str]:
    """Return the options that differ from their defaults, as command-line arguments."""
    typed: list[str] = []
    for name, default in (
        ("columns", []),
        ("leave_out", []),
        ("missing", "drop"),
        ("rows", None),
        ("test", 0.0),
        ("groups", None),
        ("time", None),
        ("kernel", None),
        ("criterion", None),
        ("combine", "auto"),
        ("likelihood", None),
        ("exposure", None),
        ("trials", None),
        ("noise", "auto"),
        ("trend", "constant"),
        ("approximation", "auto"),
        ("budget", None),
        ("seed", 0),
    ):
        value = getattr(arguments, name)
        if value == default:
            continue
        option = "--" + name.replace("_", "-")
        if value is True:
            typed.append(option)
        elif name == "kernel":
            typed += [part for text in value for part in (option, text)]
        elif isinstance(value, Nystrom):
            typed += [option, f"landmarks={value.count}"]
        else:
            typed += [option, ",".join(value) if isinstance(value, list) else str(value)]
    return typed
