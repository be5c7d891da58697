"""A chapter's notebook in JupyterLab itself, in a real browser: ``make lab-check``.

JupyterLab comes by pip into an environment of its own, _build/lab, together with the wheel.  The
browser opens the notebook, runs all cells, moves the slider of its first explorer, an ipywidgets
slider, and waits for the plot to follow: the value goes to the kernel and comes back to the plot's
own widget.  Leaves _build/lab-check.png.
"""

from __future__ import annotations

import re
import secrets
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.request
from pathlib import Path

from handful_site import bootstrap, notebooks, wheel
from handful_site.build import BUILD, ROOT, bundle, package, say, stop

LAB = BUILD / "lab"
SHOT = BUILD / "lab-check.png"
SETTINGS = (
    "--no-browser",
    "--ServerApp.ip=127.0.0.1",
    "--ServerApp.port=0",
    "--ServerApp.allow_root=True",
    "--LabApp.news_url=None",
    "--LabApp.check_for_updates_class=jupyterlab.NeverCheckForUpdate",
)
# The path of the plot's first curve: what a slider has to change.
CURVES = """() => [...document.querySelectorAll('.jp-Notebook .ex .ex-svg path')]
  .map((path) => path.getAttribute('d')).join('|')"""


def environment(made: Path) -> Path:
    """Put JupyterLab and the wheel as it is now into _build/lab.

    Returns the folder of its programs.
    """
    stamp, state = LAB / ".made-from", wheel.digest(made)
    pip = [
        str(LAB / "bin" / "python"),
        "-m",
        "pip",
        "install",
        "--quiet",
        "--disable-pip-version-check",
    ]
    if not stamp.exists():
        say("JupyterLab in an environment of its own: some minutes")
        subprocess.run([sys.executable, "-m", "venv", "--clear", str(LAB)], check=True)
        subprocess.run([*pip, "jupyterlab", f"{made}[study]"], check=True)
    elif stamp.read_text() != state:
        subprocess.run([*pip, "--force-reinstall", "--no-deps", str(made)], check=True)
    stamp.write_text(state)
    return LAB / "bin"


def wait_for_address(log: Path, server: subprocess.Popen, token: str, seconds: float = 300) -> str:
    """Return the address at which the server listens, once it answers."""
    until = time.monotonic() + seconds
    while time.monotonic() < until and server.poll() is None:
        if found := re.search(
            r"(http://127\.0\.0\.1:\d+)/lab", log.read_text("utf-8", errors="replace")
        ):
            try:
                urllib.request.urlopen(f"{found[1]}/api/status?token={token}", timeout=5).read()
                return found[1]
            except (urllib.error.URLError, TimeoutError):
                pass
        time.sleep(0.3)
    stop(f"JupyterLab did not start:\n{log.read_text('utf-8', errors='replace')[-2000:]}")


# Lab is up before its kernel is, and who runs cells then is asked which kernel to take.
READY = """async () => (await (await fetch("/api/sessions")).json()).some(({ kernel }) =>
  kernel?.execution_state === "idle" && kernel.connections > 0)"""
RAN = r"""() => document.querySelector(".jp-Dialog") ? "asked"
  : [...document.querySelectorAll(".jp-InputArea-prompt")]
    .some((prompt) => /\[\d+\]/.test(prompt.textContent)) && "ran" """


def look(address: str, token: str, name: str) -> None:
    """Open the notebook, run it, move a slider, and see the plot follow."""
    from playwright.sync_api import TimeoutError as Late
    from playwright.sync_api import sync_playwright

    with sync_playwright() as driver:
        chromium = driver.chromium.launch(
            executable_path=bootstrap.find_browser(),
            args=["--headless", "--no-sandbox", "--disable-gpu"],
        )
        page = chromium.new_page(viewport={"width": 1400, "height": 1100})
        page.set_default_timeout(300_000)
        page.goto(f"{address}/lab/tree/{name}?token={token}&reset")
        page.wait_for_selector(".jp-Notebook .jp-Cell")
        page.wait_for_function(READY, polling=500)
        say("running all cells")
        for _ in range(3):
            page.get_by_role("menuitem", name="Run", exact=True).click()
            page.get_by_role("menuitem", name="Run All Cells", exact=True).click()
            if page.wait_for_function(RAN).json_value() == "ran":
                break
            page.locator(".jp-Dialog .jp-mod-accept").first.click()  # the kernel that it proposes
        cells = page.evaluate("() => document.querySelectorAll('.jp-CodeCell').length")
        wait_until_run(page)
        # Lab draws a cell when it comes near the screen and forgets it again, so the notebook is
        # leafed through.
        figure = page.locator(".jp-Notebook .ex .ex-svg path").first
        try:
            page.wait_for_function(
                """() => {
                const list = document.querySelector('.jp-WindowedPanel-outer')
                  || document.querySelector('.jp-Notebook');
                if (document.querySelector('.jp-Notebook .ex .ex-svg path')) return true;
                if (list.scrollTop + list.clientHeight > list.scrollHeight - 5) list.scrollTop = 0;
                else list.scrollBy(0, 300);
                return false; }""",
                polling=1000,
            )
        except Late:
            page.screenshot(path=str(SHOT))
            stop(f"No explorer was drawn; {SHOT.relative_to(ROOT)} shows the page as it was then.")
        figure.wait_for(state="attached")
        slider = page.locator(".jp-OutputArea-output:has(.ex) .widget-slider .noUi-handle").first
        slider.scroll_into_view_if_needed()
        before, read_before = page.evaluate(CURVES), readout(page)
        slider.focus()
        for _ in range(12):
            slider.press("ArrowRight")
        page.wait_for_function(
            "(before) => { const now = (" + CURVES + ")(); return now && now !== before; }",
            arg=before,
            timeout=120_000,
        )
        say(f"the slider moved from {read_before} to {readout(page)}, and the plot with it")
        wait_until_run(page)
        wrong = page.locator(
            ".jp-OutputArea-output[data-mime-type='application/vnd.jupyter.stderr'], "
            ".jp-RenderedText[data-mime-type*='error']"
        )
        if wrong.count():
            stop(f"A cell of {name} shows an error: {wrong.first.inner_text()[:800]}")
        slider.scroll_into_view_if_needed()
        page.screenshot(path=str(SHOT))
        chromium.close()
        say(f"{cells} code cells on the page, no error shown; {SHOT.relative_to(ROOT)}")


def readout(page) -> str:
    return page.locator(
        ".jp-OutputArea-output:has(.ex) .widget-slider .widget-readout"
    ).first.inner_text()


def wait_until_run(page) -> None:
    """No cell is waiting for the kernel."""
    page.wait_for_function(
        "() => ![...document.querySelectorAll('.jp-InputArea-prompt')].some((prompt) => "
        "prompt.textContent.includes('*'))"
    )


def main(name: str) -> None:
    bundle()
    made = package()
    if not bootstrap.find_browser():
        stop("There is no Chromium on this machine; `make browser` installs one where it may.")
    binaries = environment(made)
    with tempfile.TemporaryDirectory(prefix="lab-") as folder:
        if not notebooks.convert(ROOT / "book", Path(folder) / "work", [name], made):
            stop(f"{name} has no notebook.")
        token, log = secrets.token_hex(16), Path(folder) / "log.txt"
        with log.open("w") as out:
            server = subprocess.Popen(
                [
                    str(binaries / "jupyter-lab"),
                    *SETTINGS,
                    f"--IdentityProvider.token={token}",
                    f"--ServerApp.root_dir={folder}/work",
                ],
                stdout=out,
                stderr=subprocess.STDOUT,
                cwd=folder,
            )
        try:
            address = wait_for_address(log, server, token)
            say(f"JupyterLab at {address}")
            look(address, token, f"{name}.ipynb")
        finally:
            server.terminate()
            try:
                server.wait(timeout=15)
            except subprocess.TimeoutExpired:
                server.kill()


if __name__ == "__main__":
    main(sys.argv[1] if len(sys.argv) > 1 else "balance-batch")
