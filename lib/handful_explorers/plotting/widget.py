"""Run an explorer where a kernel answers.

ipywidgets drive an anywidget that draws with the page's own module.
"""

from __future__ import annotations

import functools
import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .explorer import Explorer

HERE = Path(__file__).resolve().parent


def bundle(suffix: str) -> Path:
    """Return the path of the built explorer module or of its style sheet.

    It lies inside a wheel, or in a checkout's ``_build/js``.
    """
    for path in (
        HERE / f"explorer.bundle.{suffix}",
        HERE.parents[2] / "_build" / "js" / f"explorer.{suffix}",
    ):
        if path.exists():
            return path
    raise FileNotFoundError(
        f"The explorer's script (explorer.{suffix}) has not been built; run `make bundle` once."
    )


def mimebundle(explorer: Explorer) -> dict[str, Any]:
    """Return HTML for a page, and a widget view unless HANDFUL_STATIC is set.

    HANDFUL_STATIC says that no kernel will answer the widget.
    """
    text = f"{explorer.title}. {explorer.alt_text()}"
    bundle = {"text/html": explorer.html(), "text/plain": text}
    if os.environ.get("HANDFUL_STATIC"):
        return bundle
    view = explorer.widget()._repr_mimebundle_()
    data = view[0] if isinstance(view, tuple) else view
    return {**bundle, **{k: v for k, v in (data or {}).items() if "widget-view" in k}}


@functools.cache
def build(explorer: Explorer):
    """Return a VBox of the declared controls above the plot; it is made once.

    ``.plot`` is the anywidget; its traits are the state.
    """
    import anywidget
    import ipywidgets
    import traitlets

    if "google.colab" in sys.modules:  # Colab shows widgets of packages only where it is told to
        sys.modules["google.colab"].output.enable_custom_widget_manager()
    state = explorer.state()
    traits: dict = {
        "spec": traitlets.Dict().tag(sync=True),
        "driven": traitlets.List().tag(sync=True),
    }
    for name, value in state.items():
        kind = (
            traitlets.Bool
            if isinstance(value, bool)
            else traitlets.Float
            if isinstance(value, (int, float))
            else traitlets.Any
        )
        traits[_trait(name)] = kind().tag(sync=True)
    try:
        traits |= {"_esm": bundle("js"), "_css": bundle("css")}
    except FileNotFoundError as error:
        # Numbers and controls still work; the plot says in one sentence what is missing.
        traits["_esm"] = (
            f"export default {{ render({{ el }}) {{ el.textContent = {str(error)!r}; }} }};"
        )
    cls = type("ExplorerWidget", (anywidget.AnyWidget,), {**traits, "__module__": __name__})
    plot = cls(
        spec=explorer.spec(),
        driven=[c.name for c in explorer.controls],
        **{_trait(name): value for name, value in state.items()},
    )
    for control in explorer.controls:
        widget = control.widget
        if not widget.description:
            widget.description = control.label or control.name.replace("_", " ")
        widget.style.description_width = "14em"
        widget.layout.width = "auto"
        traitlets.link((widget, "value"), (plot, _trait(control.name)))
    box = ipywidgets.VBox([*(c.widget for c in explorer.controls), plot])
    box.plot = plot
    return box


def _trait(name: str) -> str:
    """Return the name of the trait for a curve's id, which may hold hyphens."""
    return name.replace("-", "_")
