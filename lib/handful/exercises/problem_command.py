def add(command): pass
