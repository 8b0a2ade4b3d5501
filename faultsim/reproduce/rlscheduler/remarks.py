"""What the numbers say, in sentences."""

from faultsim.reproduce.rlscheduler.runs import Evidence


def remarks(e: Evidence) -> tuple[str, ...]:
    """Paragraphs for the page."""
    return (
        "The agent RL is not run here, so nothing is said about it. What is measured is how far the numbers that it is "
        "compared with depend on the simulator. The rules for what was not known before (textbook rules, SDSC-SP2) "
        "were written and committed before the first run of it.",
    )
