"""Faces of compiled kernels that are of use on their own."""
