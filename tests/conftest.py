"""For every test: no example fails for being slow, since machines are shared and noisy."""
from hypothesis import settings

settings.register_profile("calm", deadline=None)
settings.load_profile("calm")
