"""Tests of the two commands that install what a bare machine lacks.

They cover what is installed, and the one sentence with which the commands end where they cannot
install it.
"""

from __future__ import annotations

import re
import sys
import zipfile
from importlib.metadata import PackageNotFoundError, distribution

import pytest
from packaging.requirements import Requirement
from packaging.specifiers import SpecifierSet

from handful_site import bootstrap

LOCKED = [
    Requirement(line.removesuffix(" \\"))
    for lock in (bootstrap.LOCK, bootstrap.TEST_LOCK)
    for line in lock.read_text("utf-8").splitlines()
    if re.match(r"[\w.-]+==", line)
]
HERE = [locked for locked in LOCKED if locked.marker is None or locked.marker.evaluate()]


def test_each_locked_package_takes_the_oldest_python_that_is_promised():
    promised, refused = bootstrap.oldest_python(), {}
    for locked in HERE:
        try:
            wants = distribution(locked.name).metadata.get("Requires-Python")
        except PackageNotFoundError:
            pytest.fail(f"{locked.name} is locked and not installed; run `make tests`.")
        assert locked.specifier.contains(distribution(locked.name).version), (
            f"{locked.name} is here at another version"
        )
        if wants and not SpecifierSet(wants).contains(promised):
            refused[locked.name] = wants
    assert len(HERE) > 100 and not refused, (
        f"Python {promised} is promised, and these want another: {refused}; run `make lock`."
    )


def test_locks_hold_one_version_a_package_and_no_address():
    names = [locked.name for locked in LOCKED]
    assert len(names) == len(set(names))
    for lock in (bootstrap.LOCK, bootstrap.TEST_LOCK, bootstrap.NODE_LOCK):
        assert "://" not in lock.read_text("utf-8")


def test_one_promise():
    promised = bootstrap.oldest_python()
    readme, workflow = (
        (bootstrap.ROOT / name).read_text("utf-8")
        for name in ("README.md", ".github/workflows/test.yml")
    )
    assert f"Python {promised} or newer" in readme
    versions = re.findall(r"3\.\d+(?:\.\d+)?", re.search(r"python: \[(.*)\]", workflow)[1])
    assert versions[0] == promised and versions[-1] == bootstrap.NEWEST_PYTHON


def test_an_older_python_is_refused_before_anything_is_fetched(monkeypatch):
    monkeypatch.setattr(bootstrap, "run", lambda *_: pytest.fail("something was run"))
    monkeypatch.setattr(
        bootstrap, "create_environment", lambda: pytest.fail("an environment was made")
    )
    monkeypatch.setattr(bootstrap.sys, "version_info", (3, 11, 1))
    with pytest.raises(
        bootstrap.InstallationError, match=f"Python {bootstrap.oldest_python()} or newer is needed"
    ):
        bootstrap.install_python_packages()


def test_a_link_to_other_tools_is_refused_and_nothing_emptied(monkeypatch, tmp_path):
    there = tmp_path / "there"
    there.mkdir()
    (there / "kept").touch()
    monkeypatch.setattr(bootstrap, "VENV", tmp_path / ".venv")
    bootstrap.VENV.symlink_to(there)
    with pytest.raises(bootstrap.InstallationError, match=r"\.venv is a link to .*there"):
        bootstrap.install("tests")
    assert (there / "kept").exists()


@pytest.fixture
def pip(tmp_path, monkeypatch):
    """Replace .venv's pip by the pip of these tests.

    It reads no settings of this machine, and installs nothing.
    """
    for name, value in {
        "PIP_CONFIG_FILE": "/dev/null",
        "PIP_DRY_RUN": "1",
        "PIP_RETRIES": "1",
        "PIP_NO_CACHE_DIR": "1",
        "PIP_INDEX_URL": (tmp_path / "simple").as_uri(),
        "PIP_EXTRA_INDEX_URL": "",
        "PIP_FIND_LINKS": "",
        "PIP_CONSTRAINT": "",
    }.items():
        monkeypatch.setenv(name, value)
    monkeypatch.setattr(
        bootstrap, "PIP", [sys.executable, "-m", "pip", "--disable-pip-version-check", "--no-input"]
    )
    return monkeypatch


def index(folder, requires: str) -> None:
    """Make an index of one package, which wants this Python."""
    (folder / "simple" / "onething").mkdir(parents=True)
    with zipfile.ZipFile(folder / "simple/onething/onething-1.0-py3-none-any.whl", "w") as wheel:
        wheel.writestr(
            "onething-1.0.dist-info/METADATA",
            f"Metadata-Version: 2.1\nName: onething\nVersion: 1.0\nRequires-Python: {requires}\n",
        )
        wheel.writestr(
            "onething-1.0.dist-info/WHEEL",
            "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
        )
        wheel.writestr("onething-1.0.dist-info/RECORD", "")
    (folder / "simple/onething/index.html").write_text(
        '<a href="onething-1.0-py3-none-any.whl" '
        f'data-requires-python="{requires.replace(">", "&gt;")}">onething-1.0-py3-none-any.whl</a>'
    )


@pytest.mark.parametrize(
    "requires, settings, says",
    [
        (">=3.11", {}, "its hash differs"),
        (">=3.99", {}, "has no onething==1.0 for Python 3"),
        (None, {}, "has no onething==1.0 for Python 3"),
        (None, {"PIP_INDEX_URL": "https://127.0.0.1:9/simple"}, "reaches no package index"),
        (None, {"PIP_INDEX_URL": "https://an-index.invalid/simple"}, "reaches no package index"),
    ],
)
def test_what_pip_could_not_install_is_said_with_its_true_cause(
    requires, settings, says, pip, tmp_path, capsys
):
    if requires:
        index(tmp_path, requires)
    else:
        (tmp_path / "simple").mkdir()
    for name, value in settings.items():
        pip.setenv(name, value)
    lock = tmp_path / "some.lock"
    lock.write_text("onething==1.0 --hash=sha256:" + 64 * "0" + "\n")
    with pytest.raises(bootstrap.InstallationError) as stopped:
        bootstrap.install_locked_packages(lock)
    assert says in str(stopped.value) and "\n" not in str(stopped.value)


@pytest.mark.parametrize(
    "printed, says",
    [
        (
            "ERROR: Could not install packages due to an OSError: [Errno 28] No space left on "
            "device\n",
            "The disk is full: ",
        ),
        ("npm error code ENOSPC\nnpm error syscall write\n", "The disk is full: "),
        ("Error: [Errno 30] Read-only file system: '/book/.venv'\n", "read-only file system"),
        ("Error: [Errno 13] Permission denied: '/book/.venv'\n", "may not be written by this user"),
        (
            "npm error code EINTEGRITY\nnpm error sha512-… integrity checksum failed\n",
            "its hash differs",
        ),
        (
            "npm error code ENOTFOUND\nnpm error network request failed\n",
            "reaches no package index",
        ),
        (
            "W: Failed to fetch …  Temporary failure resolving 'an.example'\n",
            "reaches no package index",
        ),
        (
            "SSLError(SSLCertVerificationError(1, '[SSL: CERTIFICATE_VERIFY_FAILED] certificate "
            "verify failed: unable to get local issuer "
            "certificate'))': /simple/six/\nERROR: Could not find a version that satisfies the "
            "requirement six==1 (from versions: none)\n",
            "certificate",
        ),
        (
            "E: Could not get lock /var/lib/dpkg/lock-frontend. It is held by process 99 (apt)\n",
            "Another program is installing",
        ),
        ("Segmentation fault\n", "The lines above say why."),
    ],
)
def test_causes_as_installers_print_them(printed, says):
    assert says in bootstrap.cause(printed)


@pytest.mark.parametrize(
    "prints, says",
    [
        (
            "The virtual environment was not created successfully because ensurepip is not\n"
            "available.",
            "comes without its module venv",
        ),
        ("Error: [Errno 28] No space left on device", "The disk is full"),
    ],
)
def test_an_environment_that_cannot_be_made(prints, says, monkeypatch, tmp_path):
    program = tmp_path / "python"
    program.write_text(f"#!/bin/sh\necho '{prints}' >&2\nexit 1\n")
    program.chmod(0o755)
    monkeypatch.setattr(bootstrap.sys, "executable", str(program))
    with pytest.raises(bootstrap.InstallationError, match=says):
        bootstrap.create_environment()


def test_what_is_lacking_stops_only_what_cannot_do_without(monkeypatch, capsys):
    for name in ("install_python_packages", "install_npm_packages"):
        monkeypatch.setattr(bootstrap, name, lambda *_, **__: None)
    monkeypatch.setattr(bootstrap, "install_browser", lambda: "No browser.")
    monkeypatch.setattr(bootstrap, "install_sandbox", lambda: "No sandbox.")
    monkeypatch.delenv("CI", raising=False)
    bootstrap.install("tools")
    assert capsys.readouterr().out == ""
    bootstrap.install("tests")
    assert [line.split("] ")[1] for line in capsys.readouterr().out.splitlines()] == [
        f"No {lacking}. Tests that need it are skipped, and counted at the end."
        for lacking in ("browser", "sandbox")
    ]
    monkeypatch.setattr(bootstrap, "install_firefox", lambda: "No Firefox.")
    monkeypatch.setattr(bootstrap, "install_webkit", lambda: "")
    bootstrap.install("browsers")
    assert "No browser. Tests" in (printed := capsys.readouterr().out) and "No Firefox." in printed
    with pytest.raises(bootstrap.InstallationError, match=r"^No browser\.$"):
        bootstrap.install("browser")
    monkeypatch.setenv("CI", "true")
    with pytest.raises(bootstrap.InstallationError, match=r"^No browser\.\nNo sandbox\.$"):
        bootstrap.install("tests")
