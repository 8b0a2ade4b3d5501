"""What `setup.py` does before it compiles, and what the source archive holds."""

import ast
import importlib
import os
import re
import shutil
import subprocess
import sys
import tarfile
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]


def setup_py(folder, *arguments, **environment):
    return subprocess.run(
        [sys.executable, "setup.py", "-q", *arguments],
        cwd=folder,
        env={**os.environ, **environment},
        capture_output=True,
        text=True,
        check=False,
    )


@pytest.fixture(scope="module")
def tracked():
    """Every file of the repository; of an unpacked source archive, which has none, there is nothing to compare."""
    if shutil.which("git") is None or not (ROOT / ".git").exists():
        pytest.skip("not a git checkout")
    listed = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, text=True, check=True).stdout
    return {name for name in listed.split("\0") if name and (ROOT / name).is_file()}


@pytest.fixture(scope="module")
def checkout(tracked, tmp_path_factory):
    folder = tmp_path_factory.mktemp("checkout")
    for name in tracked:
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(ROOT / name, folder / name)
    return folder


@pytest.mark.skipif(sys.platform == "win32", reason="setuptools looks for the compiler there")
@pytest.mark.parametrize(
    ("compiler", "words"), [("no-such-cc", "'no-such-cc' is not on the PATH"), ("false", "cannot read Python's header")]
)
def test_without_a_compiler_nothing_is_translated(checkout, compiler, words):
    done = setup_py(checkout, "build_ext", CC=compiler)
    assert done.returncode
    assert words in done.stderr
    assert "apt install gcc" in done.stderr
    assert not list(checkout.glob("faultsim/_core/*.c"))


def test_the_source_archive_holds_the_repository(checkout, tracked):
    done = setup_py(checkout, "sdist", CC="no-such-cc")
    assert done.returncode == 0, done.stderr
    (archive,) = checkout.glob("dist/*.tar.gz")
    with tarfile.open(archive) as members:
        held = {member.name.partition("/")[2] for member in members if member.isfile()}
    made = {"PKG-INFO", "setup.cfg"} | {name for name in held if name.startswith("faultsim.egg-info/")}
    assert held - made == tracked


def test_the_tests_need_the_same_as_an_extra_and_as_a_group():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())
    extra = set(project["project"]["optional-dependencies"]["test"])
    assert set(project["dependency-groups"]["test"]) <= extra


def test_every_extra_is_in_all():
    extras = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["optional-dependencies"]
    (everything,) = extras["all"]
    assert set(everything.removeprefix("faultsim[").removesuffix("]").split(",")) == set(extras) - {"all", "test"}


#: Casts by which values of one type are reached by another: what `malloc` returned has none, and boxes are places only
#: under the names that places have.
CASTS = re.compile(
    r"<(?:const )?(?:void \*\*|\w+_t \*\*|part_t \*|place_t \*)>(?! ?\w*alloc| ?arena_)"
    r"|<(?:const )?box_t \*> ?(?:place|out|left|&)"
)


def test_the_compiler_is_told_where_types_are_mixed():
    """Anywhere else it takes for granted that a pointer to one type never reaches a value of another."""
    tree = ast.parse((ROOT / "setup.py").read_text())
    (listed,) = (
        node.value for node in tree.body if isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == "RETYPING"
    )
    assert isinstance(listed, ast.SetComp)
    told = set(ast.literal_eval(listed.generators[0].iter))
    core = ROOT / "faultsim" / "_core"
    mixed = {
        ".".join(path.relative_to(core).with_suffix("").parts)
        for path in [*core.rglob("*.pyx"), *core.rglob("*.pxd")]
        if CASTS.search(path.read_text())
    }
    assert told == mixed


def test_no_index_of_the_core_is_negative():
    """With wraparound off, Cython hands it to an object as it is; NumPy 2.5 on Python 3.13 refuses what 2.4 took."""
    index = re.compile(r"[\w)\]]\[-\d+\]")
    sources = sorted((ROOT / "faultsim").rglob("*.pyx"))
    found = [
        f"{path.name}: {line.strip()}"
        for path in sources
        for line in path.read_text().splitlines()
        if index.search(re.sub(r"#.*|\"[^\"]*\"", "", line))
    ]
    assert sources
    assert found == []


def test_the_release_has_one_version_everywhere():
    """Version, changelog, citation and conda recipe."""
    version = re.search(r'__version__ = "([\d.]+)"', (ROOT / "faultsim" / "version.py").read_text())[1]
    assert re.search(
        rf"^## {re.escape(version)} - (\d{{4}}-\d\d-\d\d)$", (ROOT / "CHANGELOG.md").read_text(), re.MULTILINE
    )
    assert f"\nversion: {version}\n" in (ROOT / "CITATION.cff").read_text()
    assert f'set version = "{version}"' in (ROOT / "packaging" / "conda" / "meta.yaml").read_text()


def test_the_conda_recipe_needs_what_the_package_needs():
    recipe = (ROOT / "packaging" / "conda" / "meta.yaml").read_text()
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())
    named = [*project["project"]["dependencies"], *project["build-system"]["requires"]]
    for each in named:
        name, least = re.match(r"([A-Za-z]+)(>=[\d.]+)", each).groups()
        assert f"- {name.lower()} {least}" in recipe, each


def test_wheels_are_configured_for_every_python_of_the_classifiers():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())
    wheels = project["tool"]["cibuildwheel"]
    pythons = re.findall(r":: (3\.\d+)", "\n".join(project["project"]["classifiers"]))
    assert wheels["build"].split() == [f"cp{each.replace('.', '')}-*" for each in pythons] != []
    assert "ubuntu-24.04-arm" in (ROOT / ".github" / "workflows" / "wheels.yml").read_text()


#: Keys that conda-build knows, of those sections that the recipe may have.
CONDA_KEYS = {
    "package": {"name", "version"},
    "source": {"path", "url", "sha256"},
    "build": {"number", "skip", "script", "entry_points"},
    "requirements": {"build", "host", "run", "run_constrained"},
    "test": {"imports", "requires", "commands", "source_files"},
    "about": {"home", "summary", "description", "license", "license_file", "doc_url", "dev_url"},
    "extra": {"recipe-maintainers"},
}


def test_the_conda_recipe_is_yaml_with_keys_that_conda_build_knows():
    yaml = pytest.importorskip("yaml")
    text = (ROOT / "packaging" / "conda" / "meta.yaml").read_text()
    names = dict(re.findall(r'{% set (\w+) = "([^"]*)" %}', text))
    plain = re.sub(r"{%.*?%}", "", text)
    plain = re.sub(r"{{ *(.*?) *}}", lambda found: names.get(found[1], found[1].replace('"', "")), plain)
    recipe = yaml.safe_load(plain)
    assert list(recipe) == [name for name in CONDA_KEYS if name in recipe]
    for name, section in recipe.items():
        assert set(section) <= CONDA_KEYS[name], name
    assert recipe["package"]["version"] == names["version"]
    assert (ROOT / recipe["about"]["license_file"]).exists()
    assert (ROOT / "packaging" / "conda" / recipe["source"]["path"] / "pyproject.toml").resolve().exists()
    module, _, function = recipe["build"]["entry_points"][0].partition(" = ")[2].partition(":")
    assert callable(getattr(importlib.import_module(module), function))
