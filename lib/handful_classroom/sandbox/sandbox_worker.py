"""Run a notebook's cells and answer requests, inside the sandbox.

This worker runs beside the student's code, and is trusted by nobody.

Reads one JSON document from standard input and runs its cells in one namespace; then reads
requests, a line each, puts them to the namespace, and answers each with a line on the descriptor
that its argument names (`protocol` says the forms).  Nothing here is worth keeping from a student:
no answer, no check, no seed.  It uses little of the standard library, because what it imports every
notebook pays for.
"""

import builtins
import sys
from _json import encode_basestring_ascii, make_scanner

# `signal` without its enumerations, which take time to make; Python's type stubs leave it out.
from _signal import (  # type: ignore[import-not-found]
    ITIMER_PROF,
    ITIMER_REAL,
    SIGALRM,
    SIGPROF,
    setitimer,
    signal,
)
from posix import (
    _exit,
    closerange,
    dup2,
    geteuid,
    getpid,
    read,
    setgroups,
    setresgid,
    setresuid,
    sysconf,
    write,
)
from posix import (
    open as open_fd,
)

LONGEST, DEEPEST, DIGITS, LONGEST_SAYS, NOBODY = 999_000, 20, 10**300, 300, 65534
_name_of = type.__dict__["__name__"].__get__
_trace_of = BaseException.__dict__["__traceback__"].__get__
_missing = object()
_NOT_FINITE = {"nan": "NaN", "inf": "Infinity", "-inf": "-Infinity"}
_TOO_LARGE = "it is larger than the 1 MB that an answer may have"
# The functions below keep Python's own builtins, whatever a notebook does to them for itself.
# (Python takes a mapping here, too.)
__builtins__ = dict(builtins.__dict__)  # type: ignore[assignment]


class OutOfTime(BaseException):
    """A signal that the time of a cell or a call is over."""


class Unfit(Exception):
    """A value that cannot be handed to the grader, described for the student."""


class _Scan:
    strict, object_hook, object_pairs_hook, parse_float, parse_int = False, None, None, float, int

    @staticmethod
    def parse_constant(text):
        return float(text.replace("Infinity", "inf"))


# It takes any object with these attributes; the stubs ask for a scanner.
scan = make_scanner(_Scan)  # type: ignore[arg-type]


class _Clock:
    """A timer that raises `OutOfTime` after some seconds of processor time.

    On the wall it allows `patience` times as many.
    """

    def __init__(self, patience):
        self.patience, self.armed = patience, False
        signal(SIGALRM, self.ring)
        signal(SIGPROF, self.ring)

    def ring(self, number, frame):
        if self.armed:
            raise OutOfTime

    def start(self, seconds):
        self.armed = True
        # Rings again each second, for code that catches everything.
        setitimer(ITIMER_PROF, seconds, 1)
        setitimer(ITIMER_REAL, seconds * self.patience, 1)

    def stop(self):
        self.armed = False
        setitimer(ITIMER_PROF, 0)
        setitimer(ITIMER_REAL, 0)


def encode(value):
    r"""Return plain data as JSON; NumPy's scalars and arrays become numbers and lists.

    Tuples become lists.

    >>> encode([1, 2.5, (True, None), {"a": float("inf"), 3: "é"}])
    '[1,2.5,[true,null],{"a":Infinity,"3":"\\u00e9"}]'
    """
    parts: list[str] = []
    _put(value, parts.append, [LONGEST], 0)
    return "".join(parts)


def _put(value, add, room, depth):
    kind = type(value)
    if kind is float:
        text = float.__repr__(value)
        text = _NOT_FINITE.get(text, text)
    elif kind is int:
        if not -DIGITS < value < DIGITS:
            raise Unfit("it has an integer of more than 300 digits")
        text = int.__repr__(value)
    elif kind is str:
        if len(value) > LONGEST:
            raise Unfit(_TOO_LARGE)
        text = encode_basestring_ascii(value.encode("utf-8", "replace").decode("utf-8"))
    elif value is None or kind is bool:
        text = "null" if value is None else "true" if value else "false"
    elif kind is list or kind is tuple:
        _deeper(depth)
        text, between = "]", "["
        for item in value:
            add(between)
            between = ","
            _put(item, add, room, depth + 1)
        if between == "[":
            text = "[]"
    elif kind is dict:
        _deeper(depth)
        text, between, names = "}", "{", {}
        for name, item in value.items():
            if type(name) is int:
                name = int.__repr__(name)
            if type(name) is not str:
                raise Unfit(
                    f"it has a dict with a key that is no text: {_name_of(type(name))[:60]}"
                )
            if name in names:
                raise Unfit(f"it has two keys that are the same as text: {name[:60]}")
            names[name] = True
            add(between)
            between = ","
            _put(name, add, room, depth)
            add(":")
            _put(item, add, room, depth + 1)
        if between == "{":
            text = "{}"
    else:
        return _put(_converted(value, kind), add, room, depth)
    room[0] -= len(text) + 1
    if room[0] < 0:
        raise Unfit(_TOO_LARGE)
    add(text)


def _deeper(depth):
    if depth >= DEEPEST:
        raise Unfit("it is nested more than 20 deep")


def _converted(value, kind):
    """Convert NumPy's and SymPy's numbers and arrays to Python's."""
    numpy, sympy = sys.modules.get("numpy"), sys.modules.get("sympy")
    if (
        numpy is not None
        and "float64" in numpy.__dict__
        and isinstance(value, (numpy.generic, numpy.ndarray))
    ):
        if getattr(value, "size", 1) > 500_000:
            raise Unfit(_TOO_LARGE)
        if isinstance(value, numpy.floating):
            return float(value)
        value = value.tolist()
    elif (
        sympy is not None
        and "Basic" in sympy.__dict__
        and isinstance(value, sympy.Basic)
        and value.is_number
    ):
        value = int(value) if value.is_Integer else float(value)
    if type(value) in (bool, int, float, str, list):
        return value
    raise Unfit(
        f"it is of the type {_name_of(kind)[:60]}, and numbers, text, lists and dicts can be "
        "handed in"
    )


def words(error, clock):
    """Return type and message of an exception, whatever its `__str__` does."""
    name = _name_of(type(error))[:60]
    try:
        try:
            clock.start(0.25)
            text = str(error)
        finally:
            clock.stop()
        text = text[:LONGEST_SAYS] if type(text) is str else ""
    except BaseException:
        clock.stop()
        text = "(its message cannot be read)"
    if type(error) is EOFError and text == "EOF when reading a line":
        text = "input() has nobody here who types; write the value into the notebook"
    return name + ": " + text if text else name


def line_of(error, name):
    """Return the last line of the named cell that an exception went through."""
    line, trace = None, _trace_of(error)
    if type(error) in (SyntaxError, IndentationError, TabError) and error.filename == name:
        line = error.lineno
    while trace is not None:
        if trace.tb_frame.f_code.co_filename == name:
            line = trace.tb_lineno
        trace = trace.tb_next
    return line if type(line) is int else None


def read_cell(source, name):
    r"""Compile a cell without the lines that are IPython's and not Python's.

    These lines are found where the compiler fails on them.

    >>> space = {}
    >>> exec(read_cell("%matplotlib inline\nx = (7\n% 4)\nif x:\n    !ls", "cell"), space)
    >>> space["x"]
    3
    """
    lines = source.split("\n")
    first = next((line for line in lines if line.strip()), "")
    if first.startswith("%%"):
        place = lines.index(first)
        if first[2:].split(" ")[0].strip() not in (
            "time",
            "timeit",
            "capture",
            "prun",
            "python",
            "python3",
        ):
            return compile("", name, "exec")
        lines[place] = ""
    for _ in range(500):
        try:
            return compile("\n".join(lines), name, "exec", dont_inherit=True)
        except SyntaxError as error:
            place = (error.lineno or 0) - 1
            line = lines[place] if 0 <= place < len(lines) else ""
            code = line.lstrip()
            indent = line[: len(line) - len(code)]
            if code.startswith("%time "):
                lines[place] = indent + code[6:].lstrip()
            elif code.startswith(("%", "!", "?")) or code.rstrip().endswith("?"):
                lines[place] = indent + "pass"
            else:
                raise
    raise SyntaxError("too many lines that are not Python")


def run_cells(document, space, clock, tell):
    """Run the cells; return, by name, what went wrong with the cell that should have made it."""
    spoilt: dict[str, tuple[str, str]] = {}
    skip = document["skip"]
    for number, source in enumerate(document["cells"]):
        name = f"<cell {number + 1}>"
        status = skip.get(str(number))
        code = None
        if status is None:
            tell(f'{{"cell":{number}}}')
            try:
                try:
                    clock.start(document["cell_seconds"])
                    code = read_cell(source, name)
                    exec(code, space)
                finally:
                    clock.stop()
                continue
            except OutOfTime:
                clock.stop()
                status, says, line = (
                    "timeout",
                    f"It took more than {document['cell_seconds']:g} seconds.",
                    None,
                )
            except BaseException as error:
                status, says, line = "error", words(error, clock), line_of(error, name)
                if issubclass(type(error), NotImplementedError):
                    status = "missing"
            told = "error" if status == "missing" else status
            at = "null" if line is None else line
            tell(f'{{"cell":{number},"status":"{told}","says":{encode(says)},"line":{at}}}')
        else:
            status, says = status
        for word in code.co_names if code is not None else _words_in(source):
            spoilt.setdefault(
                word, (status, f"Cell {number + 1}, which should make it, stopped: {says}")
            )
    return spoilt


def _words_in(source):
    return {
        word
        for word in "".join(
            letter if letter.isalnum() or letter == "_" else " " for letter in source
        ).split()
        if word.isidentifier()
    }


def answer(request, space, spoilt):
    """Return status, value and sentence for one request."""
    name = request.get("get") or request.get("call") or request.get("text")
    found = space.get(name, _missing)
    if found is _missing:
        status, says = spoilt.get(name, ("missing", f"The notebook has no {name}."))
        return (
            (status, None, says)
            if status != "missing"
            else ("missing", None, f"The notebook has no {name}.")
        )
    if found is Ellipsis or found is NotImplemented:
        return "missing", None, f"{name} is left empty."
    if "get" in request:
        return "value", encode(found), ""
    if "text" in request:
        text = found if type(found) is str else str(found)
        if type(text) is not str:
            raise Unfit("it is no text")
        return "value", encode(text), ""
    if not callable(found):
        return (
            "error",
            None,
            f"{name} is no function: it is of the type {_name_of(type(found))[:60]}.",
        )
    result = found(**request["arguments"])
    if result is Ellipsis or result is NotImplemented:
        return "missing", None, f"{name} is left empty."
    return "value", encode(result), ""


def put_requests(document, space, spoilt, clock, tell, lines):
    """Put each request to the namespace as it comes, and report its outcome."""
    late: dict[str, int] = {}
    limit = document["call_seconds"]
    for line in lines:
        number, request = scan(line, 0)[0]
        name = request.get("get") or request.get("call") or request.get("text")
        question = request.get("question", name)
        status, value = "timeout", None
        if late.get(question, 0) >= document["late"]:
            says = "It was late before and was not asked again."
        else:
            try:
                try:
                    clock.start(limit)
                    status, value, says = answer(request, space, spoilt)
                finally:
                    clock.stop()
            except OutOfTime:
                clock.stop()
                says = f"It took more than {limit:g} seconds."
                late[question] = late.get(question, 0) + 1
            except Unfit as error:
                status, says = "error", f"What it gave cannot be handed in: {error}."
            except BaseException as error:
                if issubclass(type(error), NotImplementedError):
                    status, says = "missing", f"{name} is left empty."
                else:
                    status, says = "error", words(error, clock)
        tell(
            f'{{"request":{number},"status":"{status}","value":{value}}}'
            if status == "value"
            else f'{{"request":{number},"status":"{status}","says":{encode(says)}}}'
        )


def lines_of(fd):
    """Yield the lines that arrive on a descriptor."""
    left = b""
    while True:
        while b"\n" not in left:
            chunk = read(fd, 1 << 20)
            if not chunk:
                return
            left += chunk
        line, _, left = left.partition(b"\n")
        yield line.decode()


def drop_privileges():
    """Drop what the student's code may not have, and return the descriptor of the answers.

    These are the user root, other descriptors, and the streams.
    """
    nothing = open_fd("/dev/null", 2)
    dup2(nothing, 1)
    dup2(nothing, 2)
    out = int(sys.argv[1])
    closerange(3, out)
    closerange(out + 1, sysconf("SC_OPEN_MAX"))
    if geteuid() == 0:
        setgroups([])
        setresgid(NOBODY, NOBODY, NOBODY)
        setresuid(NOBODY, NOBODY, NOBODY)
    return out


def main():
    """Serve one document and exit at once, so that no handler of the student's runs."""
    out, own = drop_privileges(), getpid()

    def tell(line):
        if getpid() != own:  # a fork of the student's that ran on into our code
            _exit(0)
        data = memoryview(line.encode() + b"\n")
        while data:
            data = data[write(out, data) :]

    tell("{}")
    # Standard input is empty for the student; what the grader sends comes elsewhere.
    dup2(0, out + 1)
    dup2(open_fd("/dev/null", 0), 0)
    lines = lines_of(out + 1)
    document = scan(next(lines), 0)[0]
    sys.path[:0] = document.pop("front")
    sys.path += document.pop("paths")
    sys.argv[:] = ["notebook"]
    # In the sandbox it lies beside this file, outside of any package.
    from import_stubs import install_stubs  # type: ignore[import-not-found]

    main_module = type(sys)("__main__")
    sys.modules["__main__"] = main_module
    space = main_module.__dict__
    space["__builtins__"] = builtins
    install_stubs(document["inputs"])
    clock = _Clock(document["patience"])
    spoilt = run_cells(document, space, clock, tell)
    tell(f'{{"cell":{len(document["cells"])}}}')
    put_requests(document, space, spoilt, clock, tell, lines)
    _exit(0)


if __name__ == "__main__":
    main()
