"""What a notebook finds in the sandbox beside Python: no screen, widgets that nobody moves, and
packages that are slow to load put off.

Runs within the sandbox, trusted by nobody.  ``display``, ``IPython`` and ``ipywidgets`` do nothing.
NumPy and matplotlib, which most notebooks import and some never touch, are loaded when they are
first touched: a class of ten thousand notebooks would otherwise spend its hour there.
"""

import builtins
import sys

Module, Spec = type(sys), type(sys.__spec__)
LATER = {"numpy": (), "matplotlib": ("matplotlib.pyplot",), "scipy": (), "pandas": (), "sympy": ()}


class Nothing:
    """Takes every call and gives itself back; what it was made with can be read again
    (``IntSlider(value=4).value``).
    """

    def __init__(self, *arguments, **named):
        self.__dict__.update(named)

    def __call__(self, *arguments, **named):
        return Nothing(**named)

    def __getattr__(self, name):
        if name.startswith("__"):
            raise AttributeError(name)
        return Nothing()

    def __getitem__(self, key):
        return Nothing()

    def __setitem__(self, key, value):
        """Does nothing."""

    def __iter__(self):
        return iter(())

    def __enter__(self):
        return self

    def __exit__(self, *error):
        return False


def interact(function=None, **controls):
    """As of ipywidgets, without the sliders: the function is not called."""
    return function if function is not None else lambda function: function


class Screenless(Module):
    """A module all of whose names do nothing."""

    def __getattr__(self, name):
        if name.startswith("__"):
            raise AttributeError(name)
        if name.startswith("interact"):
            return interact
        if name == "version_info":  # matplotlib asks
            return (9, 0, 0)
        if name == "get_ipython":
            return Nothing
        return Nothing() if name[:1].islower() else Nothing


class Later(Module):
    """A package that is imported when one of its names is first read; it then hands out that
    package's names.
    """

    def __getattr__(self, name):
        own = self.__dict__["__name__"]
        # While it is being made, the import system asks for what a package would have, and means
        # the stand-in.
        if "ready" not in self.__dict__ or name in (
            "__file__",
            "__cached__",
            "__wrapped__",
            "__warningregistry__",
        ):
            raise AttributeError(name)
        real = load(own)
        self.__dict__.update(
            (key, value) for key, value in real.__dict__.items() if not key.startswith("__")
        )
        return getattr(real, name)


def load(name):
    """The real package; the stand-ins of its family make way."""
    family = name.partition(".")[0]
    if family in LATER:
        held = {own: sys.modules.get(own) for own in (family, *LATER.pop(family))}
        for own, module in held.items():
            if type(module) is Later:
                del sys.modules[own]
    __import__(name)
    return sys.modules[name]


class Loaded:
    """Hands the import system a module that is there already."""

    def __init__(self, module):
        self.module, self.spec = module, module.__spec__

    def create_module(self, spec):
        return self.module

    def exec_module(self, module):
        module.__spec__ = self.spec


class Finder:
    """Finds the stand-ins, before any other finder looks."""

    def find_spec(self, name, path=None, target=None):
        family = name.partition(".")[0]
        if family in ("IPython", "ipywidgets") or name in ("google", "google.colab"):
            return Spec(name, self, is_package=True)
        if family not in LATER:
            return None
        if family != name:  # a part of a package that has only its stand-in as yet
            load(family)
            __import__(name)
            return Spec(name, Loaded(sys.modules[name]))
        for finder in sys.meta_path:
            found = finder.find_spec(name, None) if finder is not self else None
            if found is not None:
                spec = Spec(name, self)
                spec.submodule_search_locations = found.submodule_search_locations
                return spec
        return None

    def create_module(self, spec):
        return (Later if spec.name in LATER else Screenless)(spec.name)

    def exec_module(self, module):
        module.ready = True
        for name in LATER.get(module.__name__, ()):
            child = Later(name)
            child.ready = True
            setattr(module, name.rpartition(".")[2], child)
            sys.modules[name] = child


def furnish(given):
    """Put all of it in place; `given` is what `handful.classroom.student` hands out."""

    def leave(code=None):
        raise SystemExit(code)

    builtins.exit = builtins.quit = leave
    builtins.display = Nothing()
    builtins.get_ipython = Nothing
    sys.meta_path.insert(0, Finder())
    room = Module("handful_room")
    room.given, room.check = given, Nothing()
    sys.modules["handful_room"] = room
