"""Every assignment, solved, runs from top to bottom in a kernel of its own."""

from __future__ import annotations

from queue import Empty

import nbformat
import pytest
from jupyter_client.channels import AsyncZMQSocketChannel
from nbclient import NotebookClient

from handful_classroom.release import notebooks
from handful_classroom.release.assignment import assignments

pytestmark = pytest.mark.site


@pytest.fixture(autouse=True)
def asked_each_second(monkeypatch):
    """Look into the kernel's channel each second.

    What a widget sends to its kernel can swallow the news of an answer, which then lies unread
    until the time is up (https://github.com/jupyter/nbclient/issues/312).
    """
    once = AsyncZMQSocketChannel.get_msg

    async def patient(channel, timeout=None):
        if timeout is None:
            return await once(channel)
        for left in range(int(timeout), -1, -1):
            try:
                return await once(channel, timeout=1 if left else timeout % 1)
            except Empty:
                if not left:
                    raise

    monkeypatch.setattr(AsyncZMQSocketChannel, "get_msg", patient)


@pytest.mark.parametrize("name", sorted(assignments()))
def test_a_notebook_runs_from_top_to_bottom(name):
    """A kernel of its own runs the solved notebook, without pip; every check says right."""
    assignment = assignments()[name]
    notebook = nbformat.from_dict(notebooks.notebook(assignment, "ada", "solution"))
    notebook.cells[0].source = notebook.cells[0].source.partition("\n")[2]
    client = NotebookClient(notebook, timeout=300, kernel_name="python3")
    client.execute()
    # What is drawn by `interact` goes into a widget, errors too.
    drawn = [
        output for state in client.widget_state.values() for output in state.get("outputs", [])
    ]
    assert not [output for output in drawn if output["output_type"] == "error"]
    explored = sum(
        "interact(" in piece.text for piece in assignment.pieces if piece.tag == "explore"
    )
    assert sum("image/png" in output.get("data", {}) for output in drawn) >= explored > 0
    printed = {
        cell.id: "".join(output.get("text", "") for output in cell.outputs)
        for cell in notebook.cells
        if cell.cell_type == "code"
    }
    for question in assignment.questions.values():
        if question.kind != "written":
            assert (
                printed[f"check-{question.name}".replace("_", "-")]
                .split(": ", 1)[1]
                .startswith("right")
            ), question.name
    assert len(printed["summary"].splitlines()) == len(assignment.questions)
