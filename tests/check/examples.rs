//! What doc/examples has of checks, and the plugin of pytest, as one would use them.

use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use crate::sites::{Folder, said};

/// A folder with `memlog` in it, before what is in PATH.
fn path(folder: &Folder) -> OsString {
    let bin = folder.folder("bin");
    let link = bin.join("memlog");
    if !link.exists() {
        std::os::unix::fs::symlink(env!("CARGO_BIN_EXE_memlog"), link).expect("a link");
    }
    let paths = std::env::var_os("PATH").unwrap_or_default();
    let paths = std::iter::once(bin).chain(std::env::split_paths(&paths));
    std::env::join_paths(paths).expect("a list")
}

/// A copy of a folder of the project, in which things may be made.
fn copy(folder: &Folder, of: &str) -> PathBuf {
    fn copied(from: &Path, to: &Path) {
        fs::create_dir_all(to).expect("mkdir");
        for entry in fs::read_dir(from).expect("list").flatten() {
            let (from, to) = (entry.path(), to.join(entry.file_name()));
            match from.is_dir() {
                true => copied(&from, &to),
                false => drop(fs::copy(from, to).expect("copy")),
            }
        }
    }
    let to = folder.path("copy");
    copied(&Path::new(env!("CARGO_MANIFEST_DIR")).join(of), &to);
    to
}

fn run(command: &mut Command) -> Option<Output> {
    command.output().ok()
}

fn text(output: &Output) -> String {
    String::from_utf8_lossy(&output.stdout).into_owned() + &said(output)
}

#[test]
fn ctest_fails_where_the_program_leaks() {
    let folder = Folder::new("check-ctest");
    let source = copy(&folder, "doc/examples/ctest");
    let tool = |program: &str| {
        let mut command = folder.command(program);
        command
            .env("PATH", path(&folder))
            .env("TMPDIR", folder.folder("tmp"));
        command
    };
    for name in ["cmake", "ctest"] {
        let version = run(tool(name).arg("--version"));
        if version.is_none_or(|output| !output.status.success()) {
            println!("SKIPPED CTest: there is no {name}");
            return;
        }
    }
    for (leak, is_fine) in [("OFF", true), ("ON", false)] {
        let build = folder.path(leak);
        let made = run(tool("cmake")
            .arg(format!("-DLEAK={leak}"))
            .arg("-S")
            .arg(&source)
            .arg("-B")
            .arg(&build));
        let made = made.expect("cmake");
        assert!(made.status.success(), "{}", text(&made));
        let made = run(tool("cmake").arg("--build").arg(&build)).expect("cmake");
        assert!(made.status.success(), "{}", text(&made));
        let mut ctest = tool("ctest");
        let tested = run(ctest.arg("--output-on-failure").current_dir(&build)).expect("ctest");
        let told = text(&tested);
        assert_eq!(tested.status.success(), is_fine, "{told}");
        if !is_fine {
            assert!(
                told.contains("words.memory") && told.contains("words.budgets"),
                "{told}"
            );
            assert!(told.contains("make_word [words.c:7]"), "{told}");
        }
    }
}

#[test]
fn cargo_test_fails_where_the_program_leaks() {
    let folder = Folder::new("check-cargo");
    let source = copy(&folder, "doc/examples/cargo-test");
    let cargo = |words: &[&str]| {
        let mut command = folder.command("cargo");
        command
            .args(["test", "--offline"])
            .args(words)
            .current_dir(&source)
            .env("PATH", path(&folder))
            .env("TMPDIR", folder.folder("tmp"))
            .env("CARGO_TARGET_DIR", folder.path("target"));
        run(&mut command)
    };
    let Some(fine) = cargo(&[]) else {
        println!("SKIPPED cargo test: there is no cargo");
        return;
    };
    assert!(fine.status.success(), "{}", text(&fine));
    let leaky = cargo(&["--features", "leak"]).expect("cargo");
    let told = text(&leaky);
    assert_eq!(leaky.status.code(), Some(101), "{told}");
    assert!(told.contains("words_are_freed ... FAILED"), "{told}");
    assert!(told.contains("words::make_word"), "{told}");
    assert!(told.contains("it_stays_small ... ok"), "{told}");
}

const TESTS: &str = r#"
import unittest
import pytest

kept = []

@pytest.fixture(scope="module")
def fixture():
    yield bytearray(50 << 20)

@pytest.mark.memlog_limit("24 MiB")
def test_small(fixture):
    del bytearray(10 << 20)[:]

@pytest.mark.memlog_limit("24 MiB")
def test_large():
    bytearray(30 << 20)

@pytest.mark.memlog_leaks("1 MiB")
def test_leaks():
    kept.append(bytearray(2 << 20))

@pytest.mark.memlog_leaks("1 MiB")
@pytest.mark.memlog_limit("24 MiB")
def test_leaks_not():
    bytearray(2 << 20)

@pytest.mark.memlog_limit("24 MiB")
def test_fails():
    assert 1 == 2

@pytest.mark.memlog_limit("24 MiB")
@pytest.mark.parametrize("number", [1, 2])
def test_many(number):
    bytearray(20 * number << 20)

@pytest.mark.memlog_limit("2 MiB")
def test_objects():
    [[number] for number in range(100000)]

@pytest.mark.memlog_limit("24 MiB")
def test_dies():
    import os
    os.abort()

@pytest.mark.memlog_limit("24 MiB")
def test_dies_later():
    import atexit, os
    atexit.register(os._exit, 3)

@pytest.fixture
def cleared():
    kept = []
    yield kept
    kept.clear()

@pytest.mark.memlog_leaks("1 MiB")
@pytest.mark.parametrize("again", range(4))
def test_leaks_for_a_while(cleared, again):
    cleared.append(bytearray(2 << 20))

class Case(unittest.TestCase):
    @pytest.mark.memlog_limit("24 MiB")
    def test_large(self):
        bytearray(30 << 20)

    @pytest.mark.memlog_limit("24 MiB")
    def test_small(self):
        bytearray(10 << 20)

@pytest.mark.memlog_limit("24 MiB")
def test_skips():
    pytest.skip("for a reason")

def test_plain():
    bytearray(100 << 20)
"#;

/// A Python that has pytest and the plugin, and what else it is told; none where pip gets no
/// pytest.
fn python(folder: &Folder) -> Option<(Command, bool)> {
    let source = copy(folder, "scripts/pytest-memlog");
    let made =
        run(folder
            .command("python3")
            .args(["-m", "venv", "--system-site-packages", "venv"]));
    let python = folder.path("venv/bin/python");
    if made.is_some_and(|output| output.status.success()) {
        let mut pip = folder.command(&python);
        let pip = pip.args(["-m", "pip", "install", "-q", "--disable-pip-version-check"]);
        if run(pip.arg(&source)).is_some_and(|output| output.status.success()) {
            return Some((folder.command(&python), true));
        }
    }
    let mut command = folder.command("python3");
    command.env("PYTHONPATH", source.join("src"));
    let has_pytest = run(folder.command("python3").args(["-c", "import pytest"]));
    match has_pytest.is_some_and(|output| output.status.success()) {
        true => {
            println!("SKIPPED pip install of the plugin: pip cannot install it here");
            Some((command, false))
        }
        false => {
            println!("SKIPPED the plugin of pytest: there is no pytest, and pip gets none");
            None
        }
    }
}

/// Where all tests go to workers, those that are marked are measured nevertheless.
fn beside_xdist(folder: &Folder, pytest: &mut Command, tests: &Path) {
    let mut pip = folder.command(pytest.get_program());
    let pip = pip.args(["-m", "pip", "install", "-q", "--disable-pip-version-check"]);
    let got = run(pip.arg("pytest-xdist"));
    if !got.is_some_and(|output| output.status.success()) {
        println!("SKIPPED pytest-xdist: pip gets none");
        return;
    }
    let config = tests.join("pytest.ini");
    fs::write(&config, "[pytest]\naddopts = -n 2 --dist loadfile\n").expect("write");
    let told = text(&run(pytest).expect("pytest"));
    for line in [
        "FAILED test_memory.py::test_large",
        "FAILED test_memory.py::Case::test_large",
        "PASSED test_memory.py::test_small",
        "chosen blocks: heap peak: 30.0 MiB, limit 24.0 MiB",
    ] {
        assert!(told.contains(line), "{line}: {told}");
    }
    fs::remove_file(config).expect("rm");
}

#[test]
fn pytest_fails_where_a_test_is_above_its_limit() {
    let folder = Folder::new("check-pytest");
    let Some((mut python, is_installed)) = python(&folder) else {
        return;
    };
    let tests = folder.folder("tests");
    fs::write(tests.join("test_memory.py"), TESTS).expect("write");
    python.current_dir(&tests).env("PATH", path(&folder));
    python.args(["-m", "pytest", "-p", "no:cacheprovider", "-v", "-rA"]);
    if !is_installed {
        python.args(["-p", "pytest_memlog"]);
    }
    // Without --memlog the marks mean nothing.
    let words: Vec<_> = python.get_args().map(ToOwned::to_owned).collect();
    for dies in ["test_dies", "test_dies_later"] {
        python.args(["--deselect", &format!("test_memory.py::{dies}")]);
    }
    let told = text(&run(&mut python).expect("pytest"));
    assert!(told.contains("1 failed, 14 passed, 1 skipped"), "{told}");
    let mut again = Command::new(python.get_program());
    again.args(words).arg("--memlog").current_dir(&tests);
    for (name, value) in python.get_envs() {
        match value {
            Some(value) => again.env(name, value),
            None => again.env_remove(name),
        };
    }
    let output = run(&mut again).expect("pytest");
    let told = text(&output);
    assert_eq!(output.status.code(), Some(1), "{told}");
    for (test, how) in [
        ("test_small", "PASSED"),
        ("test_large", "FAILED"),
        ("test_leaks", "FAILED"),
        ("test_leaks_not", "PASSED"),
        ("test_fails", "FAILED"),
        ("test_many[1]", "PASSED"),
        ("test_many[2]", "FAILED"),
        ("test_objects", "FAILED"),
        ("test_dies", "FAILED"),
        ("test_dies_later", "FAILED"),
        ("test_leaks_for_a_while[0]", "FAILED"),
        ("test_leaks_for_a_while[1]", "FAILED"),
        ("test_leaks_for_a_while[2]", "FAILED"),
        ("test_leaks_for_a_while[3]", "FAILED"),
        ("Case::test_large", "FAILED"),
        ("Case::test_small", "PASSED"),
        ("test_skips", "SKIPPED"),
        ("test_plain", "PASSED"),
    ] {
        let line = format!("test_memory.py::{test} {how}");
        assert!(told.contains(&line), "{line}: {told}");
    }
    assert!(
        told.contains("chosen blocks: heap peak: 30.0 MiB, limit 24.0 MiB"),
        "{told}"
    );
    assert!(told.contains("assert 1 == 2"), "{told}");
    assert!(
        told.contains("ended with 3 when the test was over"),
        "{told}"
    );
    match is_installed {
        true => beside_xdist(&folder, &mut again, &tests),
        false => println!("SKIPPED pytest-xdist: there is no place to install it"),
    }
    // A mark that is wrong is told before anything runs.
    let wrong = "import pytest\n@pytest.mark.memlog_limit(1, 2)\ndef test_x(): pass\n";
    fs::write(tests.join("test_memory.py"), wrong).expect("write");
    let output = run(&mut again).expect("pytest");
    assert_eq!(output.status.code(), Some(4), "{}", text(&output));
    assert!(
        text(&output).contains("memlog_limit takes a size"),
        "{}",
        text(&output)
    );
}
