"""The version and the model revision, in the one place that packaging and provenance read."""

__all__ = ["MODEL_REVISION", "__version__"]

__version__ = "0.3.0"

#: Revision of the model (model.md#revisions).  Every commit that changes a digest in
#: tests/verification/golden raises it; results of other revisions are not mixed with those of this one.
MODEL_REVISION = 3
