"""Chromium, Firefox and WebKit, each driven by the same few words.

Playwright drives Chromium in all other tests, but takes no Firefox or WebKit of a distribution.
Both understand the commands of the W3C's WebDriver: Firefox over a socket of its own (Marionette),
with no program between, and WebKit over HTTP, through WebKitWebDriver.
"""

from __future__ import annotations

import json
import os
import shutil
import socket
import subprocess
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from urllib.error import HTTPError, URLError
from urllib.request import Request, urlopen

from handful_site.bootstrap import find_firefox, find_webkit

# WebDriver's codes of keys that have no letter, by the names that Playwright has for them.
KEYS = {
    "Enter": "\ue007",
    "Control": "\ue009",
    "Escape": "\ue00c",
    "PageUp": "\ue00e",
    "PageDown": "\ue00f",
    "End": "\ue010",
}
# A profile that asks nobody anything: all hosts but this one are behind a proxy that nobody runs.
PREFERENCES = {
    "marionette.port": 0,  # a free one, which it then writes into its profile
    "network.proxy.type": 1,
    "network.proxy.http": "127.0.0.1",
    "network.proxy.http_port": 9,
    "network.proxy.ssl": "127.0.0.1",
    "network.proxy.ssl_port": 9,
    "app.update.disabledForTesting": True,
    "datareporting.policy.dataSubmissionEnabled": False,
    "ui.prefersReducedMotion": 1,
}
PATHS = {
    "NewSession": "POST ",
    "DeleteSession": "DELETE ",
    "Navigate": "POST url",
    "SetTimeouts": "POST timeouts",
    "SetWindowRect": "POST window/rect",
    "ExecuteAsyncScript": "POST execute/async",
    "FindElement": "POST element",
    "ElementClick": "POST element/{id}/click",
    "PerformActions": "POST actions",
}
PATIENCE = 20  # seconds, also for a machine that does other things as well


def until(ready: Callable[[], object]) -> object:
    """Return what `ready` returns once it is true."""
    end = time.monotonic() + PATIENCE
    while not (found := ready()):
        if time.monotonic() > end:
            raise TimeoutError("a browser did not start")
        time.sleep(0.02)
    return found


class Http:
    """WebDriver's commands, as requests to a driver."""

    def __init__(self, port: int) -> None:
        self.address = f"http://127.0.0.1:{port}/session"

    def __call__(self, command: str, **values):
        method, path = PATHS[command].format(**values).split(" ")
        address = f"{self.address}/{path}".rstrip("/")
        body = None if method == "DELETE" else json.dumps(values).encode()
        kind = {"content-type": "application/json"}
        try:
            with urlopen(Request(address, body, kind, method=method)) as answer:
                value = json.load(answer)["value"]
        except HTTPError as error:
            raise RuntimeError(json.load(error)["value"]) from None
        if command == "NewSession":
            self.address += f"/{value['sessionId']}"
        return value


class Marionette:
    """The same commands over Firefox's socket: each message with its length before it."""

    def __init__(self, line) -> None:
        self.line = line
        self.hear()  # who is there

    def hear(self):
        digits = b""
        while (byte := self.line.read(1)) != b":":
            digits += byte
        return json.loads(self.line.read(int(digits)))

    def __call__(self, command: str, **values):
        message = json.dumps([0, 1, f"WebDriver:{command}", values]).encode()
        self.line.write(b"%d:%s" % (len(message), message))
        self.line.flush()
        _, _, error, answer = self.hear()
        if error:
            raise RuntimeError(error)
        return answer.get("value", answer)


class Driven:
    """A window that takes WebDriver's commands."""

    def __init__(self, command) -> None:
        self.command = command
        command("SetTimeouts", script=300_000)
        command("SetWindowRect", x=0, y=0, width=1280, height=900)

    def open(self, address: str) -> None:
        self.command("Navigate", url=address)

    def run(self, body: str):
        """Run the body of an asynchronous function in the page; return what it returns."""
        ends = "(found) => arguments[0]([found]), (error) => arguments[0](String(error))"
        script = f"(async () => {{ {body} }})().then({ends})"
        answer = self.command("ExecuteAsyncScript", script=script, args=[])
        if isinstance(answer, str):
            raise RuntimeError(answer)
        return answer[0]

    def click(self, rule: str) -> None:
        found = self.command("FindElement", using="css selector", value=rule)
        self.command("ElementClick", id=next(iter(found.get("value", found).values())))

    def press(self, *keys: str) -> None:
        """Press keys, the one within the other."""
        codes = [KEYS.get(key, key) for key in keys]
        down = [{"type": "keyDown", "value": code} for code in codes]
        up = [{"type": "keyUp", "value": code} for code in reversed(codes)]
        self.command("PerformActions", actions=[{"type": "key", "id": "k", "actions": down + up}])


class Played:
    """A tab of Playwright's, with the same words."""

    def __init__(self, context) -> None:
        self.page = context.new_page()
        self.open = self.page.goto

    def run(self, body: str):
        return self.page.evaluate(f"async () => {{ {body} }}")

    def click(self, rule: str) -> None:
        self.page.locator(rule).first.click()

    def press(self, *keys: str) -> None:
        self.page.keyboard.press("+".join(keys))


@contextmanager
def running(*command: str, **options) -> Iterator[subprocess.Popen]:
    """Run a program until the end of the block."""
    options = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL, **options}
    with subprocess.Popen(command, **options) as process:
        try:
            yield process
        finally:
            process.terminate()


@contextmanager
def firefox() -> Iterator[Driven]:
    """Start Firefox without a screen, with a profile of its own."""
    with ExitStack() as stack:
        profile = Path(stack.enter_context(TemporaryDirectory(ignore_cleanup_errors=True)))
        lines = (f"user_pref({json.dumps(k)}, {json.dumps(v)});\n" for k, v in PREFERENCES.items())
        (profile / "user.js").write_text("".join(lines))
        program = [find_firefox(), "--headless", "--marionette", "--profile", str(profile)]
        stack.enter_context(running(*program))
        port = profile / "MarionetteActivePort"
        number = int(until(lambda: port.exists() and port.read_text()))
        line = stack.enter_context(socket.create_connection(("127.0.0.1", number)))
        command = Marionette(stack.enter_context(line.makefile("rwb")))
        command("NewSession", capabilities={})
        yield Driven(command)


@contextmanager
def webkit() -> Iterator[Driven]:
    """Start WebKitGTK's small browser on a screen that nobody sees."""
    with ExitStack() as stack:
        screen = ["Xvfb", "-displayfd", "1", "-screen", "0", "1400x1000x24", "-nolisten", "tcp"]
        shown = stack.enter_context(running(*screen, stdout=subprocess.PIPE, text=True))
        display = f":{shown.stdout.readline().strip()}"
        with socket.create_server(("127.0.0.1", 0)) as free:
            port = free.getsockname()[1]
        driver = [shutil.which("WebKitWebDriver"), f"--port={port}"]
        stack.enter_context(running(*driver, env={**os.environ, "DISPLAY": display}))
        command = Http(port)
        own = {"binary": find_webkit(), "args": ["--automation"]}

        def begun() -> bool:
            try:
                wanted = {"alwaysMatch": {"webkitgtk:browserOptions": own}}
                return bool(command("NewSession", capabilities=wanted))
            except URLError:
                return False

        until(begun)
        stack.callback(command, "DeleteSession")
        yield Driven(command)
