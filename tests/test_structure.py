"""The layers, the links at the top level, and what is shipped, as CONTRIBUTING.md describes them."""

import ast
import os
import shutil
import subprocess
import sys
import tarfile
import zipfile
from collections.abc import Iterator
from pathlib import Path, PurePosixPath

import pytest

ROOT = Path(__file__).resolve().parents[1]
LINKS = ("models", "optimize")


def python_files(*folders: str) -> list[Path]:
    return sorted(path for folder in folders for path in (ROOT / folder).rglob("*.py"))


def name_of(path: Path) -> str:
    return path.relative_to(ROOT).as_posix()


def each(files: list[Path]):
    return pytest.mark.parametrize("path", files, ids=name_of)


PACKAGE = python_files("staffing")
INNER = python_files("staffing/models", "staffing/optimize")
ALL = python_files("staffing", "tests", "case_studies", "benchmarks")


def imports(tree: ast.AST, package: tuple[str, ...]) -> Iterator[str]:
    """Full dotted names of all that a module in `package` imports, wherever in the module it does so."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            above = package[: len(package) + 1 - node.level] if node.level else ()
            module = ".".join([*above, *([node.module] if node.module else [])])
            yield from (f"{module}.{alias.name}" for alias in node.names)


def imports_of(path: Path) -> set[str]:
    return set(imports(ast.parse(path.read_text("utf-8")), path.relative_to(ROOT).parent.parts))


def lies_in(name: str, *packages: str) -> bool:
    return any(name == package or name.startswith(f"{package}.") for package in packages)


def reaches_outside(tree: ast.AST) -> Iterator[str]:
    """Each use of files, streams, processes or the environment."""
    modules = ("io", "logging", "os", "pathlib", "shutil", "socket", "subprocess", "tempfile", "urllib")
    functions = {"input", "open", "print"}
    methods = {"fromfile", "genfromtxt", "loadtxt", "memmap", "savetxt", "savez", "tofile"}
    for name in imports(tree, ("staffing", "models")):
        if lies_in(name, *modules, "sys.stdin", "sys.stdout", "sys.stderr"):
            yield name
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in functions:
            yield node.func.id
        if isinstance(node, ast.Attribute):
            if node.attr in methods:
                yield node.attr
            if ast.unparse(node) in {"sys.stdin", "sys.stdout", "sys.stderr"}:
                yield ast.unparse(node)


@pytest.mark.skipif(os.name == "nt", reason="a clone on Windows may hold the links as text files")
@pytest.mark.parametrize("link", LINKS)
def test_links_are_relative_and_resolve(link):
    path = ROOT / link
    assert path.is_symlink()
    assert not path.readlink().is_absolute()
    assert path.resolve() == (ROOT / "staffing" / link).resolve()
    assert (path / "__init__.py").is_file()


def test_the_walks_below_see_the_package():
    assert {"staffing/__init__.py", "staffing/models/errors.py"} <= {name_of(path) for path in PACKAGE}
    assert name_of(Path(__file__).resolve()) in {name_of(path) for path in ALL}


def test_imports_are_read_as_python_resolves_them():
    code = "import a.b\nfrom . import c\nfrom ..optimize import d\nfrom e import f as g\ndef h(): import i"
    found = set(imports(ast.parse(code), ("staffing", "models")))
    assert found == {"a.b", "staffing.models.c", "staffing.optimize.d", "e.f", "i"}


@pytest.mark.parametrize(
    "code",
    [
        "open('f')",
        "from pathlib import Path",
        "print(1)",
        "import sys\nsys.stdout.write('')",
        "np.savetxt(f, a)",
    ],
)
def test_input_and_output_are_noticed(code):
    assert list(reaches_outside(ast.parse(code)))


@each(python_files("staffing/models"))
def test_models_import_only_models(path):
    ours = {name for name in imports_of(path) if lies_in(name, "staffing")}
    assert {name for name in ours if not lies_in(name, "staffing.models")} == set()


@each(python_files("staffing/optimize"))
def test_optimize_imports_only_optimize_and_models(path):
    ours = {name for name in imports_of(path) if lies_in(name, "staffing")}
    assert {name for name in ours if not lies_in(name, "staffing.models", "staffing.optimize")} == set()


@each(ALL)
def test_nothing_imports_through_the_links(path):
    assert {name for name in imports_of(path) if lies_in(name, *LINKS)} == set()


@each(INNER)
def test_inner_layers_know_no_tables_and_do_no_input_or_output(path):
    assert {name for name in imports_of(path) if lies_in(name, "pandas", "matplotlib")} == set()
    assert list(reaches_outside(ast.parse(path.read_text("utf-8")))) == []


@each(PACKAGE)
def test_only_private_files_compile(path):
    assert path.name.startswith("_") or not any(lies_in(name, "numba") for name in imports_of(path))


def test_one_door_to_cvxpy():
    doors = [name_of(path) for path in PACKAGE if any(lies_in(name, "cvxpy") for name in imports_of(path))]
    assert len(doors) <= 1


def test_files_are_named_after_what_they_know():
    say_nothing = {"common", "helpers", "misc", "util", "utils"}
    assert [name_of(path) for path in ALL if path.stem in say_nothing] == []


def test_every_folder_of_the_package_is_a_package():
    assert {name_of(path.parent) for path in PACKAGE if not (path.parent / "__init__.py").is_file()} == set()


@pytest.fixture(scope="module")
def distributions(tmp_path_factory):
    """The wheel and the sdist, each built straight from a copy of this tree, links and all."""
    folder = tmp_path_factory.mktemp("distributions")
    made = {"build", "dist", "__pycache__", "staffing.egg-info"}
    shutil.copytree(
        ROOT,
        folder / "tree",
        symlinks=True,
        ignore=lambda _, names: [name for name in names if name.startswith(".") or name in made],
    )
    command = [sys.executable, "-m", "build", "--no-isolation", "--sdist", "--wheel", "--outdir", folder]
    run = subprocess.run([*command, folder / "tree"], cwd=folder, capture_output=True, text=True)
    assert run.returncode == 0, run.stdout + run.stderr
    return folder


@pytest.fixture(scope="module")
def shipped(distributions):
    """Names of the files in each distribution."""
    (wheel,) = distributions.glob("*.whl")
    (sdist,) = distributions.glob("*.tar.gz")
    with zipfile.ZipFile(wheel) as archive:
        in_wheel = [name for name in archive.namelist() if not name.endswith("/")]
    with tarfile.open(sdist) as archive:
        members = [member for member in archive.getmembers() if not member.isdir()]
    assert all(member.isfile() for member in members), "the sdist holds a link"
    return {"wheel": in_wheel, "sdist": [member.name.partition("/")[2] for member in members]}


@pytest.mark.parametrize("kind", ["wheel", "sdist"])
def test_each_file_of_the_package_is_shipped_once(distributions, shipped, kind):
    tree = distributions / "tree"
    files = [path.relative_to(tree).as_posix() for path in (tree / "staffing").rglob("*") if path.is_file()]
    assert "staffing/py.typed" in files
    assert sorted(name for name in shipped[kind] if name.startswith("staffing/")) == sorted(files)


def test_the_wheel_installs_nothing_but_staffing(shipped):
    tops = {PurePosixPath(name).parts[0] for name in shipped["wheel"]}
    assert {top for top in tops if not top.endswith(".dist-info")} == {"staffing"}


def test_the_sdist_holds_no_module_elsewhere(shipped):
    modules = {name for name in shipped["sdist"] if name.endswith(".py")}
    assert {name for name in modules if not name.startswith("staffing/")} == set()
    assert {"LICENSE", "README.md", "CHANGELOG.md", "pyproject.toml"} <= set(shipped["sdist"])
