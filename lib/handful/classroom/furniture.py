"""What a notebook finds in the sandbox beside Python: no screen, widgets that nobody moves, and packages that are slow to load put off.

Runs within the sandbox, trusted by nobody.  ``display``, ``IPython`` and ``ipywidgets`` do nothing.  NumPy and matplotlib,
which most notebooks import and some never touch, are loaded when they are first touched: a class of ten thousand
notebooks would otherwise spend its hour there.
"""
import builtins
import sys

Module = type(sys)
LATER = {"numpy": (), "matplotlib": ("matplotlib.pyplot",), "scipy": (), "pandas": (), "sympy": ()}


class Nothing:
    """Takes every call and gives itself back; what it was made with can be read again (``IntSlider(value=4).value``)."""

    def __init__(self, *arguments, **named):
        self.__dict__.update(named)

    def __call__(self, *arguments, **named):
        return Nothing(**named)

    def __getattr__(self, name):
        if name.startswith("__"):
            raise AttributeError(name)
        return Nothing()

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
        if name == "get_ipython":
            return Nothing
        return Nothing() if name[:1].islower() else Nothing


class Later(Module):
    """A package that is imported when one of its names is first read; it then hands out that package's names."""

    def __getattr__(self, name):
        own = self.__dict__["__name__"]
        # The import system asks for these of what it has just made, and means the stand-in.
        if name in ("__file__", "__cached__", "__wrapped__", "__warningregistry__"):
            raise AttributeError(name)
        real = load(own)
        self.__dict__.update((key, value) for key, value in real.__dict__.items() if not key.startswith("__"))
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


class Finder:
    """Finds the stand-ins, before any other finder looks."""

    def find_spec(self, name, path=None, target=None):
        family = name.partition(".")[0]
        if family in ("IPython", "ipywidgets") or name in LATER and self.there(name):
            return type(sys.__spec__)(name, self, is_package=family not in LATER)
        return None

    def there(self, name):
        """Whether the package is installed, so that a missing one is missed where it is imported."""
        for finder in sys.meta_path:
            if finder is not self and finder.find_spec(name, None) is not None:
                return True
        return False

    def create_module(self, spec):
        return (Later if spec.name in LATER else Screenless)(spec.name)

    def exec_module(self, module):
        for name in LATER.get(module.__name__, ()):
            child = Later(name)
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
    room.given = given
    sys.modules["handful_room"] = room
