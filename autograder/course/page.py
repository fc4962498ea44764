"""Write one feedback page: what was graded, what was found, and nothing that runs.

nbgrader's own page takes a tenth of a second to render and puts the student's HTML into the
browser of whoever opens it. Here all text of a student is escaped, and the page forbids scripts
and requests to other hosts by its content security policy as well.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from html import escape, unescape
from typing import Any

from autograder.course.cells import (
    code_html,
    markdown_html,
    outputs_html,
    plain,
    report_html,
)

_HEADING = re.compile(r"^#{1,4}[ \t]+(\S.*)$", re.MULTILINE)

STYLE = """
:root{color-scheme:light dark;--line:#8885;--soft:#8881;--good:#1a7f37;--bad:#b42318;--hint:#b7791f}
body{font:16px/1.5 system-ui,sans-serif;max-width:56rem;margin:2rem auto;padding:0 1rem}
h1{margin:0}h2{font-size:1.1rem;margin:2rem 0 .5rem}a{color:inherit}
pre{overflow-x:auto;background:var(--soft);padding:.6rem .8rem;border-radius:4px;margin:.4rem 0;
font:13px/1.45 ui-monospace,monospace;white-space:pre-wrap;overflow-wrap:anywhere}
table{border-collapse:collapse;width:100%}td,th{
border-bottom:1px solid var(--line);padding:.3rem .5rem;text-align:left}
td.n{text-align:right;white-space:nowrap}
img{max-width:100%;background:#fff}
.all{color:var(--good)}.some,.error{color:var(--bad)}.note{color:var(--hint)}
.misconception{border-left:5px solid var(--hint);background:var(--soft);padding:.7rem 1rem;
margin:.6rem 0;font-size:1.05rem}
.comment{border-left:5px solid var(--line);padding:.2rem 1rem;margin:.6rem 0}
.k,.kn,.ow,.kc{color:#a626a4}.s1,.s2,.sd,.sa,.si{color:#3d8b40}.c1,.ch{color:#8a8a8a}
.mi,.mf{color:#b76b01}.nf,.nc{color:#4078f2}
"""
# The cell in which the grader tells what it put right; nbgrader's pages show it as it is.
REPAIRS = "layers-repairs"
POLICY = "default-src 'none'; img-src data:; style-src 'unsafe-inline'"


@dataclass(frozen=True)
class Facts:
    """What the gradebook says about one notebook, the marks given by hand included.

    Attributes
    ----------
    scores : mapping of str to (float or None, float)
        Score and points of each graded cell; None still waits for a person.
    comments : mapping of str to str
        By cell.
    penalty : float
        For handing in late.
    """

    scores: Mapping[str, tuple[float | None, float]]
    comments: Mapping[str, str] = field(default_factory=dict)
    penalty: float = 0.0


def page(
    notebook: Mapping[str, Any],
    title: str,
    facts: Facts,
    hidden: re.Pattern[str],
) -> str:
    """Render an executed notebook as a page for its student.

    Parameters
    ----------
    notebook : mapping
        JSON of a notebook from nbgrader's ``autograded`` folder.
    title : str
        Name of the notebook.
    facts : Facts
        Scores and comments.
    hidden : re.Pattern
        Regions that students must not see, from `hidden_regions`.

    Returns
    -------
    str
        HTML without any script.
    """
    earned = sum(score or 0.0 for score, _ in facts.scores.values()) - facts.penalty
    points = sum(points for _, points in facts.scores.values())
    head = f"{title}: {max(earned, 0.0):g} of {points:g} points"
    parts = [
        f'<!DOCTYPE html>\n<html lang="en"><head><meta charset="utf-8">'
        f'<meta http-equiv="Content-Security-Policy" content="{POLICY}">'
        f'<meta name="viewport" content="width=device-width, initial-scale=1">'
        f"<title>{_text(head)}</title><style>{STYLE}</style></head><body>",
        f"<h1>{_text(head)}</h1>",
        _summary(facts),
        *(_cell(cell, facts, hidden) for cell in notebook.get("cells", ())),
        "</body></html>\n",
    ]
    return "\n".join(part for part in parts if part)


def hidden_regions(*delimiters: tuple[str, str]) -> re.Pattern[str]:
    """Match regions between the given pairs of begin and end; one that never ends goes on."""
    line = r"^[^\n]*{}[^\n]*$"
    regions = [
        f"{line.format(re.escape(begin))}(?s:.*?)(?:{line.format(re.escape(end))}|\\Z)"
        for begin, end in delimiters
    ]
    return re.compile("|".join(regions), re.MULTILINE)


def _summary(facts: Facts) -> str:
    rows = [
        f'<tr><td><a href="#{_text(name)}">{_text(name)}</a></td>'
        f'<td class="n {_class(score, points)}">{_words(score, points)}</td></tr>'
        for name, (score, points) in facts.scores.items()
    ]
    if facts.penalty:
        rows.append(f'<tr><td>handed in late</td><td class="n some">-{facts.penalty:g}</td></tr>')
    return f"<table>{''.join(rows)}</table>"


def _cell(cell: Mapping[str, Any], facts: Facts, hidden: re.Pattern[str]) -> str:
    mark = cell.get("metadata", {}).get("nbgrader", {})
    source = cell.get("source", "")
    source = source if isinstance(source, str) else "".join(source)
    source = hidden.sub("", source).strip("\n")
    name = str(mark.get("grade_id", ""))
    parts = []
    if name in facts.scores and (mark.get("grade") or mark.get("task")):
        score, points = facts.scores[name]
        text = f"{_text(name)} <span>{_words(score, points)}</span>"
        parts.append(f'<h2 id="{_text(name)}" class="{_class(score, points)}">{text}</h2>')
    if cell.get("cell_type") == "code":
        # A traceback of a test would show its lines.
        is_test = mark.get("grade") and not mark.get("solution")
        show = report_html if is_test else outputs_html
        parts.append(code_html(source) + show(cell.get("outputs", [])))
    elif cell.get("id") == REPAIRS:
        parts.append(f'<div class="note">{markdown_html(unescape(source))}</div>')
    elif mark.get("locked") or not mark:
        # The student has the statement; its headings are enough to find one's way.
        parts.extend(f"<h2>{_text(text)}</h2>" for text in _HEADING.findall(source))
    else:
        parts.append(markdown_html(source))
    if comment := facts.comments.get(name):
        parts.append(f'<div class="comment">{markdown_html(comment)}</div>')
    return "\n".join(parts)


def _text(words: str) -> str:
    return escape(plain(words))


def _words(score: float | None, points: float) -> str:
    return f"not graded yet, of {points:g}" if score is None else f"{score:g} of {points:g}"


def _class(score: float | None, points: float) -> str:
    return "note" if score is None else "all" if score >= points else "some"
