"""Private compiled core; see README.md in this folder."""

try:
    import faultsim._core.containers.event_queue  # noqa: F401
except ModuleNotFoundError as error:
    raise ImportError(
        f"the compiled core of faultsim is not built in {__path__[0]}: if that is a checkout, build it there with "
        "'pip install -e .', or start Python in another folder to use the installed one"
    ) from error
