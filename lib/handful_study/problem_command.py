"""The commands ``handful problems …``."""

from __future__ import annotations

import secrets

from handful.cli import group

from .command import _site, file_options, needing, write


def add(command) -> None:
    """Add the commands; `command` makes a parser, as `handful.cli` does."""
    one = group(
        command,
        "problems",
        "problems: show, check an answer, export, print",
        "Numbers are drawn from a seed: the same seed, the same numbers.",
    )
    listed = one("list", needing(_list), "all problems, or those of a chapter or level")
    listed.add_argument(
        "--chapter", metavar="C", help="of one chapter only, such as latency-and-cost"
    )
    _add_level(listed)
    _add_show(one)
    _add_check(one)
    _add_export(one)
    _add_print(one)


def _add_show(one) -> None:
    made = one(
        "show",
        needing(_show),
        "a problem for a seed",
        "Without --seed a new one is drawn, and named.",
    )
    made.add_argument("id", metavar="ID")
    made.add_argument("--hints", action="store_true", help="its two hints")
    made.add_argument("--solution", action="store_true", help="its solution")
    made.add_argument("--seed", type=int, metavar="N")


def _add_check(one) -> None:
    made = one(
        "check",
        needing(_check),
        "check an answer",
        'Example: handful problems check step-of-a-dense-model --seed 0 "3.6 ms"\n'
        "A choice is answered with its letter.",
    )
    made.add_argument("id", metavar="ID")
    made.add_argument("answer", metavar="ANSWER", nargs="+")
    made.add_argument(
        "--seed",
        type=int,
        required=True,
        metavar="N",
        help="the one that the problem was shown for",
    )


def _add_export(one) -> None:
    made = one(
        "export",
        needing(_export),
        "problems for a reader, a program, Moodle or Canvas",
        programs=False,
    )
    made.add_argument("--format", required=True, choices=["markdown", "json", "moodle", "text2qti"])
    _add_variants(made)
    file_options(made, "it; by default the terminal")
    _add_level(made)


def _add_print(one) -> None:
    made = one(
        "print",
        needing(_print),
        "a problem sheet on paper",
        "Each variant is a sheet with numbers of its own.",
        programs=False,
    )
    made.add_argument("--solutions", action="store_true", help="solutions after each sheet")
    made.add_argument(
        "--pdf", action="store_true", help="PDF, where Chromium is there; else HTML of one file"
    )
    made.add_argument("--only", nargs="+", metavar="ID", default=[], help="these problems only")
    _add_variants(made)
    file_options(made, "it; by default handful-problems.html or .pdf")
    _add_level(made)


def _add_variants(made) -> None:
    made.add_argument(
        "--seed",
        type=int,
        default=0,
        metavar="N",
        help="the first variant's seed; 0 by default, as printed in the book",
    )
    made.add_argument(
        "--variants", type=int, default=1, metavar="K", help="how many variants; 1 by default"
    )


def _add_level(made) -> None:
    made.add_argument("--level", metavar="L", help="of one level only: apply, derive or judge")


def _seed(seed: int) -> int:
    from .source import SourceError

    if not 0 <= seed < 2**32:
        raise SourceError(f"A seed is a whole number from 0 to {2**32 - 1}; got {seed}.")
    return seed


def _list(options) -> None:
    from handful import cli

    from .problem_export import select_problems

    found = select_problems(options.chapter, options.level)
    if options.json:
        return cli.print_json(
            [
                {
                    "id": p.id,
                    "kind": p.kind,
                    "level": p.level,
                    "chapter": p.chapter,
                    "section": p.section,
                    "lecture": p.lecture,
                }
                for p in found
            ]
        )
    if found:
        cli.print_columns((p.id, p.level, p.kind, f"{p.chapter}#{p.section}") for p in found)


def _show(options) -> None:
    from handful import cli

    from . import markup
    from .problem_export import Drawn, as_object, right_letter
    from .problems import problem

    found = problem(options.id)
    seed = _seed(secrets.randbelow(1000) if options.seed is None else options.seed)
    if options.json:
        return cli.print_json(as_object(found, seed))
    drawn, width = Drawn(found, seed), min(cli.terminal_width(), 80)
    cli.print_text(f"{found.id} · {found.level} · seed {seed}\n")
    # Here units are read, so the answer may come in any.
    cli.print_text(
        markup.text(drawn.text if found.kind == "expression" else drawn.words(found.text), width)
    )
    for mark, (text, _, _) in zip("ABCDEFGH", drawn.choices, strict=False):
        cli.print_text(f"\n{mark}. {markup.text(text, width - 3)}")
    for hint in drawn.hints if options.hints else []:
        cli.print_text(f"\nHint: {markup.text(hint, width - 6)}")
    if options.solution:
        right = right_letter(drawn)
        cli.print_text(
            f"\nSolution: {f'{right}. ' if right else ''}{drawn.shown}\n\n"
            f"{markup.text(drawn.solution, width)}"
        )


def _check(options) -> None:
    from handful import cli

    from .check import check
    from .problems import problem
    from .source import SourceError

    found, seed, given = problem(options.id), _seed(options.seed), " ".join(options.answer)
    answer = (
        "ABCDEFGH".find(given.strip().upper())
        if found.kind == "choice" and len(given.strip()) == 1
        else given
    )
    verdict = check(found, answer, seed)
    says = _says(found, verdict, seed)
    if options.json:
        return cli.print_json(
            {
                "problem": found.id,
                "seed": seed,
                "given": given,
                "verdict": verdict.kind,
                "turn": verdict.turn,
                "says": says,
            }
        )
    if verdict.kind == "unread":
        raise SourceError(says)
    cli.print_text(says)


def _says(problem, verdict, seed: int) -> str:
    """Return the sentence of a verdict as plain text.

    What an author wrote is Markdown and is converted; what the checker says is plain text already.
    """
    from . import markup
    from .check import right_choice
    from .problem_export import Drawn

    drawn = Drawn(problem, seed)
    if verdict.kind == "unread" or (verdict.turn is None and problem.kind != "choice"):
        return verdict.says
    if problem.kind == "choice":
        return markup.text(
            drawn.choices[right_choice(problem, seed) if verdict.turn is None else verdict.turn][1],
            80,
        )
    return markup.text(drawn.words(problem.wrong[verdict.turn].says), 80)


def _export(options) -> None:
    from .problem_export import export, select_problems

    some = select_problems(options.chapter, options.level)
    write(
        export(
            options.format, some, _seed(options.seed), options.variants, _site(options)
        ).encode(),
        options.output,
        None,
    )


def _print(options) -> None:
    from .printing import pdf, problem_sheets
    from .problem_export import MOST, select_problems
    from .problems import problem
    from .source import SourceError

    if not 1 <= options.variants <= MOST:
        raise SourceError(f"From 1 to {MOST} variants can be made; got {options.variants}.")
    some = select_problems(
        options.chapter, options.level, [problem(name).id for name in options.only]
    )
    page = problem_sheets(
        some, range(_seed(options.seed), options.seed + options.variants), options.solutions
    )
    suffix = "pdf" if options.pdf else "html"
    write(pdf(page) if options.pdf else page.encode(), options.output, f"handful-problems.{suffix}")
