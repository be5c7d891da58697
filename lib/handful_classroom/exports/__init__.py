"""Write assignments for other platforms: nbgrader and Gradescope."""
