"""Read a declared explorer, and draw it with ipywidgets or matplotlib."""
