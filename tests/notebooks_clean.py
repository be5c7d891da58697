"""Run every downloadable notebook beside Jupyter alone: ``make notebooks-clean``.

The environment holds Jupyter and no package of ours. The notebooks are made for a site on this
machine that offers the wheel, so that the first one installs the package by its own first cell,
from an address and against a hash, and the others find it there.
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path

import yaml

from handful_site import notebooks, wheel
from handful_site.build import ROOT, bundle, chapters, package, say, stop
from handful_site.serve import open_server

# Runs in the new environment: one notebook, its outputs thrown away.
RUN = """
import sys, nbformat, nbclient
made = nbformat.read(sys.argv[1], as_version=4)
where = {"metadata": {"path": sys.argv[2]}}
nbclient.NotebookClient(made, timeout=300, kernel_name="python3", resources=where).execute()
"""


def main(chosen: list[str]) -> None:
    bundle()
    made = package()
    with (
        tempfile.TemporaryDirectory(prefix="notebooks-") as folder,
        open_server_of(made, Path(folder)) as site,
    ):
        python = Path(folder) / "env" / "bin" / "python"
        say("a new environment: Jupyter, and what the package depends on")
        pip = [str(python), "-m", "pip", "--quiet", "--disable-pip-version-check", "--no-input"]
        subprocess.run([sys.executable, "-m", "venv", str(Path(folder) / "env")], check=True)
        subprocess.run([*pip, "install", f"{made}[study]", "nbclient", "ipykernel"], check=True)
        subprocess.run([*pip, "uninstall", "--yes", "handful"], check=True)
        pages = chapters(yaml.safe_load((ROOT / "_toc.yml").read_text("utf-8")))
        paths = notebooks.convert(ROOT / "book", Path(folder) / "notebooks", pages, made, site)
        paths = [path for path in paths if not chosen or path.stem in chosen]
        work, failed, started = Path(folder) / "work", [], time.monotonic()
        work.mkdir()
        for number, path in enumerate(paths, 1):
            begun = time.monotonic()
            done = subprocess.run(
                [str(python), "-c", RUN, str(path), str(work)],
                capture_output=True,
                text=True,
                cwd=work,
            )
            say(
                f"    {number} of {len(paths)}: {path.name}, {time.monotonic() - begun:.1f} "
                f"s{' FAILED' if done.returncode else ''}"
            )
            if done.returncode:
                failed.append(path.name)
                print(done.stderr[-3000:], file=sys.stderr)
        place = subprocess.run(
            [str(python), "-c", "import handful; print(handful.__file__)"],
            capture_output=True,
            text=True,
            cwd=work,
        ).stdout.strip()
        if str(Path(folder).resolve()) not in str(Path(place).resolve()):
            stop(
                "The notebooks did not run on the package of the new environment but on "
                f"{place or 'none'}."
            )
        if failed or not paths:
            stop(
                f"{len(failed)} of {len(paths)} notebooks failed: {', '.join(failed)}."
                if paths
                else "No notebook of that name."
            )
        say(
            f"{len(paths)} notebooks ran in {time.monotonic() - started:.0f} s with the wheel of "
            f"{made.stat().st_size / 1e6:.1f} MB"
        )


class open_server_of:
    """A site on this machine that holds nothing but the wheel; gives its address."""

    def __init__(self, made: Path, folder: Path) -> None:
        self.folder = folder / "site"
        (self.folder / wheel.FOLDER).mkdir(parents=True)
        (self.folder / wheel.FOLDER / made.name).write_bytes(made.read_bytes())

    def __enter__(self) -> str:
        self.server = open_server(self.folder, 0, quiet=True)
        threading.Thread(target=self.server.serve_forever, daemon=True).start()
        return f"http://127.0.0.1:{self.server.server_port}/"

    def __exit__(self, *_) -> None:
        self.server.shutdown()
        self.server.server_close()


if __name__ == "__main__":
    main(sys.argv[1:])
