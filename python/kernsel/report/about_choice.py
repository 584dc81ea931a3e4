"""The sections about the choice: the kernels that were tried by each criterion, the rules for lambda, and the time spent."""

from __future__ import annotations

import numpy as np

from kernsel.criteria.names import label_of
from kernsel.report import figures
from kernsel.report.choices import Choices
from kernsel.report.formats import count, counted, percent, seconds
from kernsel.report.markup import Amounts, Cell, Html, Table, Wide, code, join, markup, paragraph, say, section, value
from kernsel.study import Line, Study
from kernsel.study.line import MANY, NEIGHBORS

__all__ = ["kernels", "rules", "spent"]

_ENDED = {
    "evaluations": "the evaluations were used up",
    "seconds": "the time was over",
    "stopped": "it was stopped",
    "interrupted": "it was interrupted",
}


def kernels(study: Study) -> Html:
    """Return the section with tables of the kernels that were tried."""
    content = [_intro(study)]
    if len(study.lines) > 1:
        content.append(_matrix(study))
    content += [_table(study, criterion) for criterion in study.lines]
    early = sorted({line.ended for lines in study.lines.values() for line in lines if line.ended in _ENDED})
    if early:
        reasons = ", ".join(_ENDED[ended] for ended in early)
        content.append(paragraph("* before the search was at its end: {}.", reasons, kind="note"))
    if study.approximation:
        before, option, after = study.approximation.partition("--approximation none")
        content.append(paragraph("{}{}{}", before, code(option) if option else "", after, kind="note"))
    if study.ended:
        content.append(paragraph("Not all was tried: {}.", study.ended, kind="note"))
    return section("kernels", "Kernels and criteria", join(content))


def _intro(study: Study) -> Html:
    n_kernels = max(len(lines) for lines in study.lines.values())
    names = [say("{} ({})", code(name), label_of(name)) for name in study.lines]
    fits = sum(len(lines) for lines in study.lines.values())
    model = say("is {}, the best by {}", code(study.line.kernel), code(study.criterion))
    if study.is_stacked:
        weights = [say("{} ({})", code(one.kernel), percent(one.weight)) for one in study.combined]
        model = say("mixes, with weights by {}, {}", study.weighed_by, join(weights, ", "))
    return paragraph(
        "{} tried, each with its numbers at their best by {}: {}. The model {}. Values of "
        "different criteria cannot be compared; the leave-one-out error, in units of the target, can. It is that of rows "
        "predicted from {}.",
        f"{counted(n_kernels, 'kernel')} {'was' if n_kernels == 1 else 'were'}",
        join(names, ", "),
        counted(fits, "fit"),
        model,
        f"{study.others}, the nearest {NEIGHBORS} of them" if len(study.kept) > MANY else study.others,
    )


def _matrix(study: Study) -> Html:
    """Return the table of leave-one-out errors, a row for each kernel and a column for each criterion."""
    names = list(dict.fromkeys(line.kernel for lines in study.lines.values() for line in lines))
    by_kernel = {(criterion, line.kernel): line for criterion, lines in study.lines.items() for line in lines}
    least = min((line.loo_rmse for line in by_kernel.values() if not line.problem), default=np.nan)
    rows: list[list[Cell]] = []
    for name in names:
        row: list[Cell] = [code(name)]
        for criterion, lines in study.lines.items():
            line = by_kernel.get((criterion, name))
            if line is None:
                row.append("not tried")
            elif line.problem:
                row.append("failed")
            else:
                marks = " ✓" if line is lines[0] else ""
                error = value(line.loo_rmse, 4)
                row.append(say("<strong>{}</strong>{}" if line.loo_rmse == least else "{}{}", error, marks))
        rows.append(row)
    heads = ["kernel", *(Amounts(f"{name}") for name in study.lines)]
    table = Table("Leave-one-out error of each kernel, its numbers chosen by each criterion", heads, rows)
    return table.html() + paragraph("✓ the kernel that the criterion chooses. Bold: the least error of all.", kind="note")


def _table(study: Study, criterion: str) -> Html:
    """Return the table of kernels that were tried by one criterion."""
    heads = [
        "kernel, and fitted",
        Amounts("value"),
        Amounts("error, left out"),
        Amounts("in 95 % intervals"),
        Amounts("noise, std. dev." if study.likelihood is None else "log density, left out"),
        Amounts("numbers found"),
        Amounts("evaluations"),
        Amounts("time"),
    ]
    lines = study.lines[criterion]
    normal = study.likelihood is None
    rows = [_line(line, len(heads), mark=_mark(line, lines), normal=normal) for line in lines]
    chosen = [0] if criterion == study.criterion and not lines[0].problem else []
    if study.is_stacked and criterion == study.criterion:
        heads.insert(2, Amounts("weight"))
        rows = [_line(line, len(heads), mark=_mark(line, lines), weighted=True) for line in lines]
        chosen = [i for i, line in enumerate(lines) if line.weight > 0]
    caption = say("By {}, the {}: {} is better", code(criterion), label_of(criterion), study.better[criterion])
    notes = ["~ about as good as the first."] if any(_mark(line, lines) for line in lines) else []
    notes += [study.order(criterion)] if study.order(criterion) else []
    table = Table(caption, heads, rows, chosen).html()
    return table + paragraph("{}", " ".join(notes), kind="note") if notes else table


def _mark(line: Line, lines: list[Line]) -> str:
    return " ~" if line.as_good and line is not lines[0] else ""


def _line(line: Line, width: int, *, mark: str = "", weighted: bool = False, normal: bool = True) -> list[Cell]:
    name = code(line.kernel)
    if line.problem:
        return [name, Wide(say("failed: {}", line.problem), width - 1)]
    early = "*" if line.ended in _ENDED else ""
    return [
        say('{}<small class="fitted">{}</small>', name, code(line.fitted)),
        say("{}{}{}", value(line.value, 5), early, mark),
        *([value(line.weight, 3)] if weighted else []),
        value(line.loo_rmse),
        value(line.coverage, shown=percent(line.coverage)),
        value(float(np.sqrt(line.noise)) if normal else line.loo_log_density),
        value(line.parameters, shown=count(line.parameters)),
        value(line.evaluations, shown=count(line.evaluations)),
        value(line.seconds, shown=seconds(line.seconds)),
    ]


def rules(study: Study, choices: Choices) -> Html:
    """Return the section with the choice of each rule for lambda."""
    rows: list[list[Cell]] = []
    for choice in [*([] if choices.model is None else [choices.model]), *choices.rules.values()]:
        if choice.problem:
            rows.append([choice.title, Wide(say("none: {}", choice.problem), 4)])
        else:
            deviation = float(np.sqrt(choice.alpha))
            rows.append([choice.title, value(choice.alpha), value(deviation), value(choice.rmse), value(choice.dof)])
    heads = ["rule", Amounts("λ"), Amounts("√λ"), Amounts("error, left out"), Amounts("effective parameters")]
    intro = paragraph(
        "With the {} kernel as it is, how much noise λ should be assumed? Too little follows the noise, too much misses "
        "the function. Rules that agree are a good sign. The L-curve knows nothing of the noise, the discrepancy only its "
        "size; both often smooth more.{}",
        "most heavily weighted" if study.is_stacked else "chosen",
        ""
        if choices.rows == len(study.kept)
        else f" All of this is of a random sample of {count(choices.rows)} rows; their errors are not those of all.",
    )
    table = Table("What each rule for λ chooses", heads, rows, [] if choices.model is None else [0]).html()
    pictures = Html(f'<div class="plots">\n{figures.curve(study, choices)}{figures.l_curve(study, choices)}</div>\n')
    return section("rules", "How much noise: what other rules would choose", intro + pictures + table)


def spent(study: Study) -> Html:
    """Return the section with the time of each fit."""
    times = [(f"{line.kernel} by {name}", line.seconds) for name, lines in study.lines.items() for line in lines]
    total = sum(time for _, time in times)
    longest = max((time for _, time in times), default=0.0) or 1.0
    rows: list[list[Cell]] = [
        [
            code(fit),
            value(time, shown=seconds(time)),
            Html(f'<span class="bar" style="--share: {100 * time / longest:.1f}%"></span>'),
        ]
        for fit, time in sorted(times, key=lambda pair: -pair[1])[:12]
    ]
    intro = paragraph(
        "The study took {}, of which {} went into {}{}",
        value(study.seconds, shown=seconds(study.seconds)),
        value(total, shown=seconds(total)),
        counted(len(times), "fit"),
        ". The longest:" if len(times) > 12 else ".",
    )
    table = Table("Time of each fit", ["fit", Amounts("time"), markup("")], rows)
    return section("time", "Time spent", intro + table.html())
