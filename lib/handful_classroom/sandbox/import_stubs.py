"""Stand-ins for what a notebook expects beside Python: display, widgets and slow packages.

Runs within the sandbox, trusted by nobody.  ``display``, ``IPython`` and ``ipywidgets`` do nothing.
NumPy and matplotlib, which most notebooks import and some never touch, are loaded when they are
first touched: a class of ten thousand notebooks would otherwise spend its hour there.
"""

import builtins
import sys

# types.ModuleType and importlib.machinery.ModuleSpec, without imports that every notebook pays for
Module: type = type(sys)
Spec: type = type(sys.__spec__)
LATER = {"numpy": (), "matplotlib": ("matplotlib.pyplot",), "scipy": (), "pandas": (), "sympy": ()}


class Nothing:
    """An object that takes every call and returns a new one of its kind.

    Named arguments can be read again as attributes (``IntSlider(value=4).value``).
    """

    def __init__(self, *arguments, **named):
        self.__dict__.update(named)

    def __call__(self, *arguments, **named):
        """Return a new one with the named arguments as attributes."""
        return Nothing(**named)

    def __getattr__(self, name):
        if name.startswith("__"):
            raise AttributeError(name)
        return Nothing()

    def __getitem__(self, key):
        return Nothing()

    def __setitem__(self, key, value):
        """Do nothing."""

    def __iter__(self):
        return iter(())

    def __enter__(self):
        return self

    def __exit__(self, *error):
        return False


def interact(function=None, **controls):
    """Stand in for ipywidgets' `interact`, without sliders: the function is not called."""
    return function if function is not None else lambda function: function


class Screenless(Module):
    """A module in which every name does nothing."""

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
    """A package that is imported when one of its names is first read.

    It then hands out that package's names.
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
    """Import the real package in place of the stand-ins of its family."""
    family = name.partition(".")[0]
    if family in LATER:
        held = {own: sys.modules.get(own) for own in (family, *LATER.pop(family))}
        for own, module in held.items():
            if type(module) is Later:
                del sys.modules[own]
    __import__(name)
    return sys.modules[name]


class Loaded:
    """A loader that hands the import system a module that is there already."""

    def __init__(self, module):
        self.module, self.spec = module, module.__spec__

    def create_module(self, spec):
        """Return the module."""
        return self.module

    def exec_module(self, module):
        """Restore the module's own specification, which the import system has replaced."""
        module.__spec__ = self.spec


class Finder:
    """A finder of the stand-ins, placed before all other finders."""

    def find_spec(self, name, path=None, target=None):
        """Return the specification of a stand-in, or None for any other module."""
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
        """Return an empty stand-in."""
        return (Later if spec.name in LATER else Screenless)(spec.name)

    def exec_module(self, module):
        """Arm a stand-in, and add stand-ins for its submodules."""
        module.ready = True
        for name in LATER.get(module.__name__, ()):
            child = Later(name)
            child.ready = True
            setattr(module, name.rpartition(".")[2], child)
            sys.modules[name] = child


def install_stubs(inputs):
    """Install all stand-ins; `inputs` is what `handful_study.student` hands out as ``given``."""

    def leave(code=None):
        raise SystemExit(code)

    builtins.__dict__.update(exit=leave, quit=leave, display=Nothing(), get_ipython=Nothing)
    sys.meta_path.insert(0, Finder())
    room = Module("handful_room")
    room.given, room.check = inputs, Nothing()
    sys.modules["handful_room"] = room
