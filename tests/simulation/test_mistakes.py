"""Mistakes in Python: what is said names the public class, and what makes of a frame what is wanted."""

import pytest

import faultsim as fs
from helpers.refusals import refused

LOG = fs.Workload([0, 60], [100, 30], [4, 2])
TRACE = fs.FailureTrace([1], [0])
CLUSTER = fs.Cluster(8)


@pytest.fixture
def frame():
    return pytest.importorskip("pandas").DataFrame({"submit": [0], "runtime": [1], "size": [1]})


def test_a_frame_says_from_pandas(frame):
    log, trace = (
        rf"got a DataFrame: {name}\.from_pandas\(frame\) makes one of it$" for name in ("Workload", "FailureTrace")
    )
    for said, call in (
        (log, lambda: fs.simulate(frame, CLUSTER)),
        (log, lambda: fs.Run(frame, CLUSTER)),
        (log, lambda: fs.Sweep({"log": frame, "machine": CLUSTER}, {"scheduler": ["easy"]}).run()),
        (log, lambda: fs.concat([LOG, frame])),
        (log, lambda: TRACE.align(frame)),
        (log, lambda: fs.synthetic.hyper_erlang(10, rng=1, model=frame)),
        (log, lambda: fs.krevat_span(frame, "nasa")),
        (trace, lambda: fs.simulate(LOG, CLUSTER, failures=frame)),
        (trace, lambda: TRACE.merge(frame)),
        (trace, lambda: fs.PredictionTrace.at_accuracy(frame, 0.5, 0.5, rng=1)),
        (log, lambda: fs.Simulation(LOG, CLUSTER, live=10).submit(frame)),
        (log, lambda: fs.Sweep({"log": lambda rng: frame, "machine": CLUSTER}, {"scheduler": ["easy"]}).run()),
        (
            trace,
            lambda: fs.Sweep(
                {"log": LOG, "machine": CLUSTER, "failures": lambda rng: frame}, {"scheduler": ["easy"]}
            ).run(),
        ),
        (trace, lambda: fs.simulate_workflows(fs.Workflow([1]), fs.Resources(1), failures=frame)),
        ("got a DataFrame$", lambda: fs.Sweep(frame, {"scheduler": ["easy"]})),
        ("got a DataFrame$", lambda: fs.rerun(frame)),
    ):
        refused(fs.FaultsimError, said, call)


@pytest.mark.parametrize(
    ("said", "call"),
    [
        (
            r"^Workload\.__init__\(\) got an unexpected keyword argument 'sizes'",
            lambda: fs.Workload([0], [1], sizes=[1]),
        ),
        (r"^Workload\.__init__\(\) missing 1 required .*'size'", lambda: fs.Workload([0], [1])),
        (r"^Workload\.__init__\(\) takes 4 positional arguments", lambda: fs.Workload([0], [1], [1], [1])),
        (r"^FailureTrace\.__init__\(\) missing 1 required .*'node'", lambda: fs.FailureTrace([1])),
        (r"^FailureTrace\.__init__\(\) got an unexpected .*'down'", lambda: fs.FailureTrace([1], [0], down=3)),
    ],
)
def test_arguments_name_the_public_class(said, call):
    refused(TypeError, said, call)


def test_the_wrong_thing_is_named():
    refused(fs.OptionError, "rerun takes a Result, got <Workload", fs.rerun, LOG)
    refused(fs.OptionError, "simulate_many takes several Run objects", fs.simulate_many, fs.Run(LOG, CLUSTER))
