"""Write equations: dimensions, quantities, formulas, derivations, uncertainty, printing."""
