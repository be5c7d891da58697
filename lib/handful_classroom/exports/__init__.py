"""Write assignments for other platforms: nbgrader, Otter, Moodle, Canvas, Gradescope."""
