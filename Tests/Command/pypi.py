"""Programs that are available only on PyPI, in a Python environment of their own."""

import fcntl
import pathlib
import subprocess
import venv

FOLDER = pathlib.Path(__file__).resolve().parents[2] / ".build/route-tools"


def installed(*packages):
    """The folder of an environment with these packages, or why there is none. One process at a time installs."""
    python = FOLDER / "bin/python"
    FOLDER.mkdir(parents=True, exist_ok=True)
    try:
        with open(FOLDER / "lock", "w") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            if not python.exists():
                venv.create(FOLDER, with_pip=True)
            subprocess.run(
                [python, "-m", "pip", "install", "--quiet", *packages], check=True, capture_output=True, text=True, timeout=60)
    except (subprocess.SubprocessError, OSError) as error:
        return None, f"PyPI's {', '.join(packages)} cannot be had: {getattr(error, 'stderr', None) or error}"
    return FOLDER, None


DART = ["tree-sitter", "tree-sitter-dart"]
KOTLIN = ["kotlin-jupyter-kernel"]
# For a compiler that ends after seconds, the best compiler of Java and its parallel collector cost more than they save.
JAVA = ["-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC"]


def compile_kotlin(folder, *files, into):
    """Compiles Kotlin with warnings as errors; returns the exit code and the output of the compiler."""
    jars = kotlin_jars(folder)
    done = subprocess.run(
        ["java", *JAVA, "-cp", f"{jars}/*", "org.jetbrains.kotlin.cli.jvm.K2JVMCompiler", "-no-stdlib", "-no-reflect", "-cp", kotlin_library(folder),
         "-Werror", "-d", into, *files],
        stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    return done.returncode, done.stdout


def kotlin_jars(folder):
    return next(folder.glob("lib/*/site-packages/run_kotlin_kernel/jars"))


def kotlin_library(folder):
    return next(kotlin_jars(folder).glob("kotlin-stdlib-*.jar"))
