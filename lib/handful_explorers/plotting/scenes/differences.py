"""Draw how often each input difference of an S-box gives each output difference.

That is the derivative of the S-box, drawn as a field of squares.  ``data``: "tables" (name → rows
of counts), "names" (name → label).
"""

from __future__ import annotations

from typing import Any

from . import inputs, shapes

INPUTS = {"box": ("S-box", "1", "present"), "difference": ("Difference in", "1", 1)}
LEFT, TOP = 40, 44


def run(explorer, state: dict[str, Any]) -> dict[str, Any]:
    """Return the chosen table, the row of the chosen difference, and the largest counts of both."""
    v = inputs(explorer, state)
    v |= {"table": explorer.data["tables"][v["box"]], "name": explorer.data["names"][v["box"]]}
    v["row"] = v["table"][v["difference"]]
    v["most"] = max(v["row"])
    v["worst"] = max(max(row) for row in v["table"][1:])
    v["kinds"] = sum(count > 0 for count in v["row"])
    return v


def shade(count: int, size: int) -> str:
    """Return the class of a square from its count, the largest counts darkest."""
    return "c0 faint" if count <= size // 8 else "c0 pale" if count <= size // 4 else "c0"


def picture(v: dict[str, Any], width: float) -> tuple[float, list[dict]]:
    """Draw the table as a field of squares, with the chosen row marked."""
    size = len(v["table"])
    cell = min(28.0, (width - LEFT - 4) / size)
    out = [
        shapes.text(LEFT, 14, "Difference out, in hexadecimal", "soft"),
        shapes.text(0, TOP - 8, "in", "soft"),
    ]
    for i in range(size):
        out.append(shapes.text(LEFT + (i + 0.5) * cell, TOP - 8, f"{i:x}", "soft small", "middle"))
        chosen = i == v["difference"]
        out.append(
            shapes.text(
                LEFT - 8,
                TOP + (i + 0.5) * cell + 4,
                f"{i:x}",
                "ink strong" if chosen else "soft small",
                "end",
            )
        )
    for i, row in enumerate(v["table"]):
        for j, count in enumerate(row):
            if count:
                out.append(
                    shapes.rect(
                        LEFT + j * cell + 1,
                        TOP + i * cell + 1,
                        cell - 2,
                        cell - 2,
                        shade(count, size),
                    )
                )
    y = TOP + v["difference"] * cell
    out.append(shapes.rect(LEFT, y, size * cell, cell, "ink outline"))
    for j, count in enumerate(v["row"]):
        if count:
            out.append(
                shapes.text(
                    LEFT + (j + 0.5) * cell,
                    y + cell / 2 + 4,
                    str(count),
                    "paper small strong" if count > size // 4 else "ink small strong",
                    "middle",
                )
            )
    return TOP + size * cell + 6, out


def readouts(v: dict[str, Any]) -> list[tuple[str, str, str]]:
    """Return the number of output differences, the likeliest, and that of the whole table."""
    size = len(v["table"])
    return [
        ("Differences out", str(v["kinds"]), f"for difference {v['difference']:x} in"),
        ("Likeliest of them", f"{v['most']} of {size} inputs", ""),
        ("Likeliest of the whole table", f"{v['worst']} of {size} inputs", ""),
    ]


def words(v: dict[str, Any]) -> str:
    """Describe the chosen row and the likeliest entry of the table."""
    size, kinds = len(v["table"]), v["kinds"]
    many = "1 difference" if kinds == 1 else f"{kinds} differences"
    return (
        f"{v['name']}: difference {v['difference']:x} in becomes {many} out, the likeliest for "
        f"{v['most']} of {size} inputs; over all differences the likeliest is {v['worst']} of "
        f"{size}."
    )


def rows(v: dict[str, Any]) -> tuple[list[str], list[list[str]]]:
    """Return the head and the rows of the data table: the counts."""
    head = ["In", *(f"{j:x}" for j in range(len(v["table"])))]
    return head, [[f"{i:x}", *map(str, row)] for i, row in enumerate(v["table"])]
