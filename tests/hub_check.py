"""A class on a JupyterHub, from the link to the grades: ``make hub-check``.

JupyterHub, JupyterLab and nbgitpuller come by pip, the hub's proxy by npm, all into _build/hub.
Five students follow the link that *Assignments* describes to a notebook in a git repository, run
their answers in servers of their own, and copy the notebook into the folder that the teacher
grades.  Then the teacher corrects the repository, one student pulls, corrects an answer and hands
in again.  The hub listens on 127.0.0.1, and its students need no accounts on this machine.
"""

from __future__ import annotations

import asyncio
import csv
import json
import os
import re
import secrets
import shutil
import socket
import subprocess
import sys
import tempfile
import time
import uuid
from pathlib import Path
from urllib.parse import urlencode, urlsplit

import nbformat
import requests
from tornado.httpclient import HTTPRequest
from tornado.websocket import websocket_connect

from handful_classroom.release.assignment import Assignment, assignments
from handful_site import bootstrap
from handful_site.build import BUILD, say, stop

HUB = BUILD / "hub"
PYTHON_PACKAGES = ("jupyterhub>=5", "jupyterlab", "nbgitpuller", "ipywidgets", "matplotlib")
PROXY = "configurable-http-proxy@5"
NAME = "roofline"
MISTAKEN, MISTAKE = "step_time", "memory-only"
CLASS = ("ada", "bob", "cem", "dee", "eve")

CONFIG = """
import os, pathlib
c.JupyterHub.bind_url = "http://127.0.0.1:{port}"
c.JupyterHub.hub_port = {hub_port}
c.ConfigurableHTTPProxy.api_url = "http://127.0.0.1:{proxy_port}"
c.ConfigurableHTTPProxy.command = {proxy!r}
c.JupyterHub.authenticator_class = "dummy"
c.DummyAuthenticator.password = {password!r}
c.Authenticator.allowed_users = {students!r}
c.JupyterHub.spawner_class = "simple"
c.SimpleLocalProcessSpawner.home_dir_template = "{place}/home/{{username}}"
c.Spawner.cmd = ["{binaries}/jupyterhub-singleuser"]
c.Spawner.args = ["--allow-root"]
c.Spawner.default_url = "/lab"
c.Spawner.start_timeout = 300
c.Spawner.http_timeout = 300


def give_folder(spawner):
    name = spawner.user.name
    own, home = pathlib.Path("{place}/hand-in", name), pathlib.Path("{place}/home", name)
    own.mkdir(parents=True, exist_ok=True)
    home.mkdir(parents=True, exist_ok=True)
    if not (home / "hand-in").exists():
        (home / "hand-in").symlink_to(own)


c.Spawner.pre_spawn_hook = give_folder
"""


def environment() -> Path:
    """Put the hub, its proxy and what the notebook needs into _build/hub.

    Returns the folder of its programs.
    """
    stamp, wanted = HUB / ".made-from", "\n".join((*PYTHON_PACKAGES, PROXY))
    if not stamp.exists() or stamp.read_text() != wanted:
        npm = bootstrap.npm_command()
        if not npm:
            stop("JupyterHub's proxy needs Node with npm; neither is on this machine.")
        say("JupyterHub in an environment of its own: some minutes")
        subprocess.run([sys.executable, "-m", "venv", "--clear", str(HUB)], check=True)
        pip = [str(HUB / "bin" / "pip"), "install", "-q", "--disable-pip-version-check"]
        subprocess.run([*pip, *PYTHON_PACKAGES], check=True)
        subprocess.run([*npm, "install", "--silent", "--prefix", str(HUB), PROXY], check=True)
        stamp.write_text(wanted)
    return HUB / "bin"


def free_ports(count: int) -> list[int]:
    """Return ports of 127.0.0.1 on which nothing listens."""
    sockets = [socket.create_server(("127.0.0.1", 0)) for _ in range(count)]
    ports = [one.getsockname()[1] for one in sockets]
    for one in sockets:
        one.close()
    return ports


def git(folder: Path, *arguments: str) -> None:
    who = ["-c", "user.name=Teacher", "-c", "user.email=teacher@example.edu"]
    subprocess.run(["git", *who, "-C", str(folder), *arguments], check=True, capture_output=True)


def handful(*arguments: str, cwd: Path) -> str:
    """Run the command line as a teacher does, and return what it printed."""
    done = subprocess.run(
        [sys.executable, "-m", "handful", *arguments], cwd=cwd, capture_output=True, text=True
    )
    if done.returncode:
        stop(f"handful {' '.join(arguments)} failed:\n{done.stdout}{done.stderr}")
    return done.stdout


class Student:
    """A browser of one student: its cookies, and the address of the student's own server."""

    def __init__(self, hub: str, name: str, password: str) -> None:
        self.hub, self.name, self.password = hub, name, password
        self.server = f"{hub}/user/{name}"
        self.web = requests.Session()

    def follow(self, link: str) -> None:
        """Open a link of nbgitpuller: log in, wait for the server, and let it pull."""
        page = self.web.get(link, timeout=60)
        if urlsplit(page.url).path == "/hub/login":
            data = {"username": self.name, "password": self.password, "_xsrf": self.xsrf("/hub/")}
            page = self.web.post(page.url, data=data, timeout=60)
        until = time.monotonic() + 300
        while "/hub/spawn-pending/" in page.url and time.monotonic() < until:
            time.sleep(1)
            page = self.web.get(page.url, timeout=60)
        page.raise_for_status()
        given = dict(re.findall(r'data-([a-z-]+)="([^"]*)"', page.text))
        if urlsplit(page.url).path != f"/user/{self.name}/git-pull" or "targetpath" not in given:
            stop(f"{self.name} follows the link and comes to {page.url}:\n{page.text[:2000]}")
        # What the page's script asks for, as it asks for it.
        asked = {name: given[name] for name in ("repo", "branch", "targetpath")}
        asked = {name: requests.utils.unquote(value) for name, value in asked.items()}
        done = self.web.get(
            f"{self.server}/git-pull/api?{urlencode({**asked, '_xsrf': self.xsrf()})}", timeout=120
        )
        if '"phase": "finished"' not in done.text:
            stop(f"nbgitpuller did not finish for {self.name}:\n{done.text[-2000:]}")
        path = requests.utils.unquote(given["path"])
        opened = self.web.get(f"{self.server}/{path}", timeout=60)
        if opened.status_code != 200 or "jupyter-config-data" not in opened.text:
            stop(f"{self.name} is led to {path}, which is no page of JupyterLab: {opened.url}")

    def xsrf(self, path: str = "") -> str:
        path = path or f"/user/{self.name}/"
        return next(c.value for c in self.web.cookies if c.name == "_xsrf" and c.path == path)

    def ask(self, method: str, path: str, /, **data) -> dict:
        """Ask the student's server, as JupyterLab does."""
        answer = self.web.request(
            method,
            f"{self.server}/api/{path}",
            json=data or None,
            headers={"X-XSRFToken": self.xsrf()},
            timeout=60,
        )
        if not answer.ok:
            stop(f"{method} {path} of {self.name}: {answer.status_code} {answer.text[:1000]}")
        return answer.json() if answer.text else {}

    def read(self, path: str) -> nbformat.NotebookNode:
        return nbformat.from_dict(self.ask("GET", f"contents/{path}?content=1")["content"])

    def save(self, path: str, made: nbformat.NotebookNode) -> None:
        self.ask("PUT", f"contents/{path}", type="notebook", format="json", content=made)

    async def connect(self, path: str):
        """Open a channel to a kernel or a terminal of the student's server."""
        cookies = "; ".join(
            f"{one.name}={one.value}"
            for one in self.web.cookies
            if f"/user/{self.name}/".startswith(one.path)
        )
        address = f"{self.server.replace('http', 'ws', 1)}/{path}?_xsrf={self.xsrf()}"
        return await websocket_connect(HTTPRequest(address, headers={"Cookie": cookies}))

    async def run(self, made: nbformat.NotebookNode, path: str) -> None:
        """Run all code cells in a new kernel, and keep their outputs in the notebook."""
        kernel = self.ask("POST", "kernels", name="python3", path=path)["id"]
        channel = await self.connect(f"api/kernels/{kernel}/channels")
        for count, cell in enumerate((c for c in made.cells if c.cell_type == "code"), 1):
            cell.outputs, cell.execution_count = [], count
            number = uuid.uuid4().hex
            await channel.write_message(json.dumps(execute_request(number, cell.source)))
            waiting = {"execute_reply", "idle"}
            while waiting:
                text = await asyncio.wait_for(channel.read_message(), 120)
                if text is None:
                    stop(f"The kernel of {self.name} closed its channel in cell {count}.")
                message = json.loads(text)
                if message["parent_header"].get("msg_id") != number:
                    continue
                kind, content = message["msg_type"], message["content"]
                waiting -= {kind, content.get("execution_state", "")}
                if kind in ("stream", "display_data", "execute_result", "error"):
                    cell.outputs.append(nbformat.v4.output_from_msg(message))
        channel.close()
        self.ask("DELETE", f"kernels/{kernel}")

    async def hand_in(self, command: str, target: Path) -> None:
        """Type the command into a terminal of JupyterLab, and wait for the file."""
        before = target.stat().st_mtime_ns if target.exists() else None
        terminal = self.ask("POST", "terminals")["name"]
        channel = await self.connect(f"terminals/websocket/{terminal}")
        await channel.write_message(json.dumps(["stdin", command + "\r"]))
        until = time.monotonic() + 60
        while not target.exists() or target.stat().st_mtime_ns == before:
            if time.monotonic() > until:
                stop(f"{command} of {self.name} brought no {target}.")
            await asyncio.sleep(0.2)
        channel.close()
        self.ask("DELETE", f"terminals/{terminal}")


def execute_request(number: str, code: str) -> dict:
    """Return a message that asks a kernel to run code."""
    return {
        "header": {
            "msg_id": number,
            "msg_type": "execute_request",
            "username": "",
            "session": number,
            "version": "5.3",
            "date": "",
        },
        "parent_header": {},
        "metadata": {},
        "channel": "shell",
        "buffers": [],
        "content": {
            "code": code,
            "silent": False,
            "store_history": True,
            "user_expressions": {},
            "allow_stdin": False,
            "stop_on_error": False,
        },
    }


def answer(assignment: Assignment, made: nbformat.NotebookNode, student: str) -> None:
    """Write a student's id and answers into the cells of the notebook that was handed out.

    Ada has everything right, Bob a known mistake, Cem nothing but the id, Dee one answer that
    stops with an error; Eve has everything right and writes the id in capitals.
    """
    wrong = assignment.questions[MISTAKEN].wrong[MISTAKE].code
    by_id = {cell.id: cell for cell in made.cells}
    first = by_id["setup-1"]
    assert 'student = ""' in first.source, first.source
    shown = student.upper() if student == "eve" else student
    first.source = first.source.replace('student = ""', f'student = "{shown}"')
    if student == "cem":
        return
    for i, piece in enumerate(assignment.pieces):
        if piece.kind == "code" and piece.tag == "answer":
            code = assignment.cuts[i].solution
            if f"def {MISTAKEN}(" in code:
                code = {"bob": wrong, "dee": code.partition("\n")[0] + "\n    return 1 / 0"}.get(
                    student, code
                )
            by_id[f"code-{i:02d}"].source = code
        elif piece.kind == "model":
            by_id[f"answer-{piece.name}"].source += f"\n\n{piece.text}"


def grades(place: Path) -> dict[str, dict[str, str]]:
    """Grade the folder as the page says, and return each student's line of grades.csv."""
    handful(
        *("assign", "grade", "hand-in", "--assignment", NAME, "--roster", "class.csv"),
        *("-o", "results"),
        cwd=place,
    )
    with (place / "results" / "grades.csv").open(encoding="utf-8-sig") as file:
        return {row["student"]: row for row in csv.DictReader(file)}


def expect(found: dict[str, dict[str, str]], wanted: dict[str, tuple[str, float]]) -> None:
    shown = {name: (row["status"], float(row["checks"])) for name, row in found.items()}
    say(f"grades: {shown}")
    if shown != wanted:
        stop(f"Expected were {wanted}.")


async def go_through(place: Path, hub: str, password: str) -> None:
    assignment = assignments()[NAME]
    handful("assign", "build", NAME, "--no-pdf", cwd=place)
    git(place, "init", "--quiet", "--bare", "-b", "main", str(place / "git" / NAME))
    release = place / NAME / "release"
    git(release, "init", "--quiet", "-b", "main")
    git(release, "add", ".")
    git(release, "commit", "--quiet", "-m", "Hand out")
    repository = f"file://{place}/git/{NAME}"
    git(release, "push", "--quiet", repository, "main")
    (place / "class.csv").write_text("student\n" + "\n".join(CLASS) + "\n")
    link = f"{hub}/hub/user-redirect/git-pull?" + urlencode(
        {"repo": repository, "branch": "main", "urlpath": f"lab/tree/{NAME}/{NAME}.ipynb"}
    )
    path = f"{NAME}/{NAME}.ipynb"
    command = f"cp {path} hand-in/"
    say(f"the link: {link}")

    students = {name: Student(hub, name, password) for name in CLASS}
    for name, student in students.items():
        student.follow(link)
        pulled = {one["name"] for one in student.ask("GET", f"contents/{NAME}")["content"]}
        if pulled != {f"{NAME}.ipynb"}:
            stop(f"{name} pulled {sorted(pulled)}; only the notebook was handed out.")
        made = student.read(path)
        answer(assignment, made, name)
        await student.run(made, NAME)
        student.save(path, made)
        await student.hand_in(command, place / "hand-in" / name / f"{NAME}.ipynb")
        say(f"{name} was told: {told(made)}")

    question = assignment.questions[MISTAKEN]
    whole = sum(one.points for one in assignment.questions.values() if one.kind != "written")
    wanted = {
        "ada": ("ok", whole),
        "bob": ("wrong", whole - question.points + question.wrong[MISTAKE].score),
        "cem": ("missing", 0.0),
        "dee": ("error", whole - question.points),
        "eve": ("ok", whole),
    }
    found = grades(place)
    expect(found, wanted)
    if MISTAKE not in found["bob"]["misconceptions"]:
        stop(f"Bob's mistake is not named: {found['bob']}")

    # The teacher adds a file and mends a sentence while the students' work lies where it was.
    bob = students["bob"]
    (release / "errata.md").write_text("A word was missing.\n")
    notebook = release / f"{NAME}.ipynb"
    notebook.write_text(notebook.read_text("utf-8").replace("Save, restart", "Save; restart"))
    git(release, "add", ".")
    git(release, "commit", "--quiet", "-m", "Correct")
    git(release, "push", "--quiet", repository, "main")
    bob.follow(link)
    made = bob.read(path)
    if (
        '"bob"' not in made.cells[0].source
        or not (place / "home" / "bob" / NAME / "errata.md").exists()
    ):
        stop("Bob pulled again, and lost his work or did not get the correction.")
    if not any("Save; restart" in cell.source for cell in made.cells):
        stop("Bob pulled again, and the corrected sentence did not come into his notebook.")
    answer_cell = next(cell for cell in made.cells if f"def {MISTAKEN}(" in cell.source)
    answer_cell.source = next(
        cut.solution for cut in assignment.cuts.values() if f"def {MISTAKEN}(" in cut.solution
    )
    await bob.run(made, NAME)
    bob.save(path, made)
    await bob.hand_in(command, place / "hand-in" / "bob" / f"{NAME}.ipynb")
    expect(grades(place), {**wanted, "bob": ("ok", whole)})


def told(made: nbformat.NotebookNode) -> str:
    """Return how many answers the notebook's own summary calls right."""
    summary = next(cell for cell in made.cells if cell.id == "summary")
    text = "".join(one.get("text", "") for one in summary.outputs)
    if not text:
        stop(f"The last cell of the notebook shows no summary: {summary.outputs}")
    return f"{len(re.findall(r': right', text))} of {len(text.splitlines())} right"


def wait_until_up(address: str, hub: subprocess.Popen, log: Path, seconds: float = 120) -> None:
    until = time.monotonic() + seconds
    while time.monotonic() < until and hub.poll() is None:
        try:
            requests.get(f"{address}/hub/api/", timeout=5).raise_for_status()
            return
        except requests.RequestException:
            time.sleep(0.5)
    stop(f"JupyterHub did not start:\n{log.read_text('utf-8', errors='replace')[-2000:]}")


def main() -> None:
    handful("assign", "sandbox", cwd=BUILD.parent)  # nothing is graded without one
    binaries = environment()
    port, hub_port, proxy_port = free_ports(3)
    with tempfile.TemporaryDirectory(prefix="hub-") as folder:
        place, password, log = Path(folder), secrets.token_hex(16), Path(folder) / "log.txt"
        (place / "jupyterhub_config.py").write_text(
            CONFIG.format(
                port=port,
                hub_port=hub_port,
                proxy_port=proxy_port,
                place=place,
                binaries=binaries,
                password=password,
                students=set(CLASS),
                proxy=[
                    *(bootstrap.node_command() or ["node"]),
                    str(HUB / "node_modules" / "configurable-http-proxy" / "bin")
                    + "/configurable-http-proxy",
                ],
            )
        )
        env = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
        with log.open("w") as out:
            hub = subprocess.Popen(
                [str(binaries / "jupyterhub"), "-f", "jupyterhub_config.py"],
                cwd=place,
                env={**env, "PATH": f"{binaries}:{env['PATH']}"},
                stdout=out,
                stderr=subprocess.STDOUT,
            )
        try:
            address = f"http://127.0.0.1:{port}"
            wait_until_up(address, hub, log)
            asyncio.run(go_through(place, address, password))
            say("five students, from the link to the grades")
        except BaseException:
            shutil.copy(log, BUILD / "hub-check.log")
            say("the hub's log is _build/hub-check.log")
            raise
        finally:
            hub.terminate()  # and the hub ends its proxy and its students' servers
            try:
                hub.wait(timeout=60)
            except subprocess.TimeoutExpired:
                hub.kill()


if __name__ == "__main__":
    main()
