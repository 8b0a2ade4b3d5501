"""Keys that are expressions: the same bits in both engines, the values of NumPy, and the presets."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import faultsim as fs
from faultsim._core.orders.expressions import values
from faultsim.errors import MOST, OptionError
from faultsim.policies.expressions import COLUMNS, FUNCTIONS, MOST_NESTED, OPERATIONS, parse, program
from faultsim.policies.orders import QueueOrder
from faultsim.reference.scheduling.expressions import evaluate
from helpers.core_enums import enum
from helpers.engines import LOGS, head_of

NUMBERS = st.one_of(
    st.sampled_from(["0", "1", "2", "3", "0.5", ".5", "2.", "1e-3", "1E300", "1e308", "870"]),
    st.floats(0, 1e9).map(repr),
)
LEAVES = st.one_of(NUMBERS, st.sampled_from(COLUMNS))


def grown(inner):
    def call(name, count, parts):
        return f"{name}({', '.join(parts[: count or len(parts)])})"

    binary = st.sampled_from(["+", "-", "*", "/", "**", "<", "<=", ">", ">=", "==", "!="])
    calls = st.builds(
        lambda row, parts: call(*row, parts),
        st.sampled_from(list(FUNCTIONS.items())),
        st.lists(inner, min_size=3, max_size=4),
    )
    return st.one_of(
        st.builds(lambda a, sign, b: f"({a}){sign}({b})", inner, binary, inner), inner.map(lambda a: f"-({a})"), calls
    )


TEXTS = st.recursive(LEAVES, grown, max_leaves=12)
SECONDS = st.one_of(st.sampled_from([0.0, 1.0, 2.5, 1e-300, 1e9]), st.floats(0, 1e9))
JOBS = st.lists(
    st.tuples(SECONDS, SECONDS, st.integers(1, 2**31 - 1), st.integers(0, 2**31 - 1), st.integers(0, 3)),
    min_size=1, max_size=6,
)  # fmt: skip


def columns_of(jobs):
    submit, estimate, size, index, restarts = (np.array(column) for column in zip(*jobs, strict=True))
    return (
        submit.astype(float), estimate.astype(float), size.astype(np.int32), index.astype(np.int32),
        restarts.astype(np.int32),
    )  # fmt: skip


def plain_values(text, columns, now):
    names = ("submit", "estimate", "size", "index", "restarts")
    rows = zip(*(column.tolist() for column in columns), strict=True)
    tree = parse(text)
    jobs = [{name: float(value) for name, value in zip(names, row, strict=True)} for row in rows]
    return [evaluate(tree, {**job, "now": now, "wait": now - job["submit"]}) for job in jobs]


@given(TEXTS, JOBS, SECONDS)
def test_both_engines_give_the_same_bits(text, jobs, now):
    columns = columns_of(jobs)
    fast, slow = values(program(text), *columns, now), np.array(plain_values(text, columns, now))
    assert np.array_equal(np.isnan(fast), np.isnan(slow))
    there = ~np.isnan(slow)
    assert fast[there].tobytes() == slow[there].tobytes()


@given(TEXTS, JOBS, SECONDS)
def test_a_batch_is_as_good_as_another(text, jobs, now):
    columns = columns_of(jobs * 200)
    many = values(program(text), *columns, now)
    few = values(program(text), *columns_of(jobs), now)
    assert many.tobytes() == np.tile(few, 200).tobytes()


def test_values_of_numpy_are_nearly_the_same():
    rng = np.random.default_rng(3)
    queue = QueueColumns(*columns_of([(*rng.uniform(0, 1e6, 2), *rng.integers(1, 1000, 3)) for _ in range(100)]))
    for preset in fs.Key.presets.values():
        own = values(program(preset.text), queue.submit, queue.estimate, queue.size, queue.index, queue.restarts, 2e6)
        np.testing.assert_allclose(fs.Key(preset.text).keys(queue, 2e6), own, rtol=1e-13)


class QueueColumns:
    def __init__(self, submit, estimate, size, index, restarts):
        self.submit, self.estimate, self.size, self.index, self.restarts = submit, estimate, size, index, restarts


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("2 + 3 * 4", 14), ("(2 + 3) * 4", 20), ("2 ** 3 ** 2", 512), ("-2 ** 2", -4), ("2 ** -1", 0.5), ("--3", 3),
        ("7 - 2 - 1", 4), ("8 / 4 / 2", 1), ("1 + 1 == 2", 1), ("(1 < 2) + (2 <= 1)", 1), ("1e-3 * 1.5E3", 1.5),
        ("min(3, 1, 2)", 1), ("max(3, 1, 2)", 3), ("where(0, 1, 2)", 2), ("where(-0.5, 1, 2)", 1), ("abs(-3)", 3),
        ("sqrt(16)", 4), ("exp(0)", 1), ("log(exp(2))", 2), ("log2(8)", 3), ("log10(1000)", 3), ("1 / 0", math.inf),
        ("-1 / 0", -math.inf), ("log10(0)", -math.inf), ("1e308 * 10", math.inf), ("exp(1000)", math.inf),
        ("0 ** 0", 1), ("0 ** -1", math.inf), ("min(1, 0 / 0) == 1", 0), ("where(1, 5, 0 / 0)", 5), ("size * 2", 6),
        ("now - submit == wait", 1), ("index + restarts", 12), ("(-8) ** 3", -512), ("1 != 1", 0), ("2 > 1", 1),
        ("2 >= 3", 0), ("estimate", 10),
    ],
)  # fmt: skip
def test_values(text, value):
    columns = columns_of([(5.0, 10.0, 3, 10, 2)])
    assert values(program(text), *columns, 8.0).tolist() == [value] == plain_values(text, columns, 8.0)


@pytest.mark.parametrize("text", ["0 / 0", "log(-1)", "sqrt(-1)", "(-8) ** (1 / 3)", "1 / 0 - 1 / 0", "0 * log10(0)",
                                  "max(0 / 0, 1)", "max(1, 0 / 0)", "where(0 / 0, 1, 2)"])  # fmt: skip
def test_what_is_not_a_number(text):
    columns = columns_of([(5.0, 10.0, 3, 10, 2)])
    assert np.isnan(values(program(text), *columns, 8.0)).all()
    assert math.isnan(plain_values(text, columns, 8.0)[0])


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("estimate *", "column 11: a number, a name or ( is missing here"),
        ("  estimate * * size", "column 14: a number, a name or ( is missing here"),
        ("estimate ^ 2", "column 10: '^' does not belong here (a power is **)"),
        ("estimate = 2", "column 10: '=' does not belong here (a comparison is ==)"),
        ("1 and 2", "column 3: 'and' does not belong here (multiply two comparisons)"),
        ("2 * sqr(size)", "column 5: unknown function 'sqr' (did you mean 'sqrt'?); known: where, min"),
        ("ln(size)", "column 1: unknown function 'ln' (the natural logarithm is log); known: where"),
        ("size(2)", "column 1: size is not a function"),
        ("log10 + 1", "column 1: log10 is a function: write log10(...)"),
        ("1 < 2 < 3", "column 7: comparisons cannot be chained; write (a < b) * (b < c)"),
        ("(size + (2)", "column 12: the ( of column 1 is not closed"),
        ("min(size", "column 9: the ( of min is not closed"),
        ("min(size)", "column 1: min takes 2 or more arguments, got 1"),
        ("where(1, 2)", "column 1: where takes 3 arguments, got 2"),
        ("log(1, 2)", "column 1: log takes 1 argument, got 2"),
        ("1e999 * size", "column 1: 1e999 is more than a float64 holds"),
        ("2 size", "column 3: 'size' does not belong here"),
        ("3x", "column 2: 'x' does not belong here"),
        ("size)", "column 5: ')' does not belong here"),
        ("", "column 1: is empty; write for instance estimate * size"),
        ("size # 2", "column 6: '#' does not belong here"),
        ("$", "column 1: '$' does not belong here"),
        ("(" * 200 + "1" + ")" * 200, f"column 101: more than {MOST_NESTED} parts inside one another"),
        ("-" * 200 + "1", f"column 101: more than {MOST_NESTED} parts inside one another"),
        ("1" + " + 1" * 300, f"more than {2 * MOST_NESTED} parts inside one another; use parentheses to balance it"),
    ],
)  # fmt: skip
def test_mistakes_are_told_with_their_column(text, said):
    with pytest.raises(OptionError) as error:
        fs.Key(text)
    told = f"key {text!r}, column " if len(text) < 100 else f"key '{text[:20]}"  # long ones are cut in the middle
    assert str(error.value).startswith(told)
    assert len(str(error.value)) <= MOST
    assert said in str(error.value)
    assert "\n" not in str(error.value)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("sise + 1", "column 1: unknown name 'sise' (did you mean 'size'?); known: submit, estimate, size, index, "
                     "restarts, wait, now, id, user, queue, account, and functions where, min, max, abs, sqrt, exp, "
                     "log, log2, log10"),
        ("2 * ln", "column 5: unknown name 'ln' (the natural logarithm is log); known: submit, "),
        ("1 + runtime", "column 5: runtime is not for keys: nobody knows it while a job waits; with "
                        "estimates=\"actual\" it is the estimate"),
        ("size - (wait * account)", "column 16: the column 'account' is of <U1, and a key takes numbers"),
        ("queue + quee", "column 9: unknown name 'quee' (did you mean 'queue'?); known: submit, "),
    ],
)  # fmt: skip
def test_names_are_those_of_the_log(text, said):
    log = LOG.with_columns(queue=[1, 2, 3, 4], account=list("abab"))
    made = fs.Key(text)  # nobody knows the log yet
    for call in (fs.simulate, fs.Run, fs.Simulation):
        with pytest.raises(OptionError) as error:
            call(log, fs.Cluster(2), scheduler=fs.EasyBackfill(order=made))
        assert str(error.value).startswith(f"key {text!r}, {said}")


@given(st.text(alphabet="siz enow+-*/()<=>,.0129e_~é$", max_size=30))
def test_any_text_is_a_key_or_told(text):
    try:
        fs.Key(text)
    except OptionError as error:
        said = str(error)
    else:
        said, made = "", program(text)
        assert 1 <= made.depth <= len(made.code)
    assert not said or said.startswith(f"key {text!r}, column ")


def test_a_key_is_text():
    with pytest.raises(OptionError, match=r"a key is text such as 'estimate \* size', got 3"):
        fs.Key(3)


def test_numbers_of_operations_are_those_of_the_core():
    of_core = enum("orders/expressions.pxd", "OP")
    assert sorted(of_core.values()) == list(range(len(OPERATIONS)))
    assert of_core["NUMBER"] == OPERATIONS.index("number")
    assert of_core["ADD"] == OPERATIONS.index("+")
    assert of_core["WHERE"] == OPERATIONS.index("where")
    of_core = enum("orders/expressions.pxd", "COL")
    assert [name.lower() for name in sorted(of_core, key=of_core.__getitem__)] == list(COLUMNS)


@pytest.mark.parametrize(
    ("code", "said"),
    [
        ([[99, 0]], "no operation 99"),
        ([[0, 1]], "operation 0 has no argument 1"),
        ([[1, 7]], "operation 1 has no argument 7"),
        ([[9, 0]], "-1 values on a stack"),
        ([[1, 0], [1, 0]], "2 values are left"),
        ([[1, 0]] * 3 + [[9, 0]] * 2, "3 values on a stack of 2"),
    ],
)
def test_a_program_that_is_none_never_runs(code, said):
    made = program("1")._replace(code=np.array(code, np.int32), depth=2)
    with pytest.raises(ValueError, match=said):
        values(made, *columns_of([(5.0, 10.0, 3, 10, 2)]), 8.0)


# -- runs

LOG = fs.Workload(submit=[3, 4, 4, 4], runtime=[10, 5, 5, 5], size=[2, 2, 1, 2])
ENGINES = pytest.mark.parametrize("engine", ["core", "reference"])
SAME_AS = {"wfp3": fs.Wfp3(), "unicef": fs.Unicef(), "sjf": fs.ShortestFirst(), "ljf": fs.LargestFirst()}


@pytest.mark.parametrize("name", SAME_AS)
@pytest.mark.parametrize("scheduler", [fs.Fcfs, fs.EasyBackfill, fs.ConservativeBackfill])
def test_presets_that_are_built_in_too(data_dir, name, scheduler):
    log = head_of(data_dir, "SDSC-SP2-1998-4.2-cln", 2000)
    machine = fs.Cluster(LOGS["SDSC-SP2-1998-4.2-cln"])
    key = fs.Key(fs.Key.presets[name].text)
    ours = fs.simulate(log, machine, scheduler=scheduler(order=key))
    built_in = fs.simulate(log, machine, scheduler=scheduler(order=SAME_AS[name]))
    for column in built_in.jobs:
        np.testing.assert_array_equal(ours.jobs[column], built_in.jobs[column])


class Static(QueueOrder):
    """The paper's first as a user would write it, to the last bit or two."""

    def keys(self, queue, now):
        log10 = np.vectorize(math.log10)
        return log10(np.maximum(queue.estimate, 0.1)) * queue.size + 870 * log10(np.maximum(queue.submit, 0.1))


@ENGINES
def test_the_first_preset_is_what_the_paper_says(data_dir, engine):
    log = head_of(data_dir, "SDSC-SP2-1998-4.2-cln", 200)
    ours = fs.simulate(log, fs.Cluster(128), scheduler=fs.Fcfs(order="f1"), engine=engine)
    theirs = fs.simulate(log, fs.Cluster(128), scheduler=fs.Fcfs(order=Static()), engine=engine)
    np.testing.assert_array_equal(ours.jobs["start"], theirs.jobs["start"])


@ENGINES
@pytest.mark.parametrize(
    ("text", "job", "time"),
    [("log10(estimate - 7)", 1, 4), ("sqrt(1 - wait)", 1, 13), ("where(index == 2, 0 / 0, 1)", 2, 4), ("0 / 0", 0, 3)],
)
def test_a_key_that_is_no_number_is_told(engine, text, job, time):
    said = rf"key {text!r} is not a number (NaN) for the job in row {job} at time {time}"
    with pytest.raises(OptionError) as error:
        fs.simulate(LOG, fs.Cluster(2), scheduler=fs.EasyBackfill(order=fs.Key(text)), engine=engine)
    assert str(error.value) == said


@ENGINES
def test_index_is_the_row_that_the_user_gave(engine):
    log = fs.Workload(submit=[0, 0, 0, 0, 0], runtime=[9, 1, 2, 3, 4], size=[2, 8, 2, 2, 2])
    scheduler = fs.Fcfs(order=fs.Key("where(index == 0, -1, -index)"))
    ran = fs.simulate(log, fs.Cluster(2), scheduler=scheduler, oversized="drop", engine=engine)
    assert ran.jobs["start"].tolist() == [9, 7, 4, 0]


COLUMN_TYPES = [np.int8, np.uint64, np.int64, np.float16, np.float32, np.float64, np.bool_]


@ENGINES
@pytest.mark.parametrize("dtype", COLUMN_TYPES)
@pytest.mark.parametrize(
    "text", ["priority", "-priority * size", "wait / 100 - priority", "size * 2 + priority * priority"]
)
def test_further_columns_order_as_a_policy_in_python(engine, dtype, text):
    """The same values as NumPy's, for every kind of numbers, with rows that are dropped."""
    rng = np.random.default_rng(5)
    n = 120
    log = fs.Workload(
        submit=np.sort(rng.integers(0, 300, n)), runtime=rng.integers(1, 80, n), size=rng.integers(1, 12, n),
        columns={"priority": rng.integers(0, 2 if dtype is np.bool_ else 9, n).astype(dtype)},
    )  # fmt: skip

    class Own(QueueOrder):
        def keys(self, queue, now):
            priority = queue.priority.astype(float)
            assert queue.priority.dtype == dtype
            names = {"priority": priority, "size": queue.size, "wait": now - queue.submit}
            return eval(text, {}, names)

    ours, theirs = (
        fs.simulate(log, fs.Cluster(10), scheduler=fs.Fcfs(order=order), oversized="drop", engine=engine)
        for order in (fs.Key(text), Own())
    )
    np.testing.assert_array_equal(ours.jobs["start"], theirs.jobs["start"])
    assert (ours.jobs["priority"] == log.columns["priority"][log.size <= 10]).all()
    assert ours.jobs["priority"].dtype == dtype


def test_a_copy_and_a_takeover_read_further_columns_too():
    rng = np.random.default_rng(1)
    log = fs.synthetic.sdsc_like(300, rng=rng).with_columns(level=rng.random(300))
    scheduler = fs.EasyBackfill(order=fs.Key("wait * level - level"))
    whole = fs.simulate(log, fs.Cluster(128), scheduler=scheduler).jobs["start"]
    one = fs.Simulation(log, fs.Cluster(128), scheduler=scheduler)
    one.run(until=float(log.submit[150]))
    two = one.copy()
    del one
    two.run()
    np.testing.assert_array_equal(two.result().jobs["start"], whole)
    sim = fs.Simulation(log, fs.Cluster(128), scheduler=fs.External())
    sim.advance()
    np.testing.assert_array_equal(sim.rollout(scheduler).jobs["start"], whole)


@ENGINES
@pytest.mark.parametrize("text", ["wait * level - (size + level) * level", "estimate * level"])
def test_jobs_that_are_submitted_later_have_further_columns_of_their_own(engine, text):
    rng = np.random.default_rng(2)
    log = fs.synthetic.sdsc_like(120, rng=rng).with_columns(level=rng.random(120))
    scheduler = fs.EasyBackfill(order=fs.Key(text))
    sim = fs.Simulation(log.head(20), fs.Cluster(128), scheduler=scheduler, live=len(log), engine=engine)
    for first in (rng.permutation(10) * 10 + 20).tolist():
        if engine == "core":
            fork = sim.copy()
            fork.submit(log[first : first + 10].with_columns(level=np.zeros(10)))
        sim.submit(log[first : first + 10])
    assert sim.advance() is None
    whole = fs.simulate(log, fs.Cluster(128), scheduler=scheduler)
    by_id = np.argsort(sim.result().jobs["id"])
    np.testing.assert_array_equal(sim.result().jobs["start"][by_id], whole.jobs["start"])
    np.testing.assert_array_equal(sim.result().jobs["level"][by_id], log.columns["level"])


def test_a_copy_goes_on_with_its_own_keys():
    log = fs.synthetic.sdsc_like(300, rng=np.random.default_rng(1))
    for text in ("estimate * size", "-wait / estimate * size ** 0.5"):
        whole = fs.simulate(log, fs.Cluster(128), scheduler=fs.EasyBackfill(order=text)).jobs["start"]
        one = fs.Simulation(log, fs.Cluster(128), scheduler=fs.EasyBackfill(order=text))
        one.run(until=float(log.submit[150]))
        two = one.copy()
        one.run()
        del one
        two.run()
        np.testing.assert_array_equal(two.result().jobs["start"], whole)


def test_saved_and_rerun(tmp_path):
    log = fs.synthetic.sdsc_like(100, rng=np.random.default_rng(1))
    result = fs.simulate(log, fs.Cluster(128), scheduler=fs.EasyBackfill(order="wait / estimate * (1 + size)"))
    path = tmp_path / "run.npz"
    result.save(path)
    loaded = fs.load_result(path)
    order = loaded.provenance["settings"]["scheduler"]["order"]
    assert order == {"name": "key", "text": "wait / estimate * (1 + size)"}
    again = fs.rerun(loaded)
    np.testing.assert_array_equal(again.jobs["start"], result.jobs["start"])


def test_parts_that_do_not_change_are_computed_once():
    made = program("-wait / (log2(max(size, 2)) * max(estimate, 1))")
    assert [len(part.code) for part in made.kept] == [8]
    assert len(made.code) == 4
    assert program("estimate * size").kept == ()
    text = " + ".join(f"wait * (size + {i})" for i in range(12))
    made = program(text)
    assert len(made.kept) == 8
    columns = columns_of([(5.0, 10.0, 3, 10, 2)])
    assert values(made, *columns, 8.0).tolist() == plain_values(text, columns, 8.0) == [3 * (12 * 3 + 66)]


def test_jobs_that_are_submitted_later_have_keys_of_their_own():
    log = fs.synthetic.sdsc_like(120, rng=np.random.default_rng(2))
    scheduler = fs.EasyBackfill(order=fs.Key.presets["unicef"].text)
    sim = fs.Simulation(log.head(20), fs.Cluster(128), scheduler=scheduler, live=len(log))
    for first in range(20, 120, 10):
        sim.submit(log[first : first + 10])
    sim.run()
    whole = fs.simulate(log, fs.Cluster(128), scheduler=scheduler)
    np.testing.assert_array_equal(sim.result().jobs["start"], whole.jobs["start"])
