"""The version, in the one place that packaging and provenance read."""

__all__ = ["__version__"]

__version__ = "0.1.0"
