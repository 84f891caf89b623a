"""A batch on a modelled machine."""
