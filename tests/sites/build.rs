//! Compilers and link lines.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use super::{Folder, victim};

/// A language's compiler and how it is told to optimise and to name lines.
#[derive(Clone, Copy)]
pub struct Compiler {
    pub name: &'static str,
    pub options: &'static [&'static str],
}

pub const GCC: Compiler = Compiler {
    name: "gcc",
    options: &["-std=gnu11", "-O2", "-g", "-pthread"],
};
pub const GXX: Compiler = Compiler {
    name: "g++",
    options: &["-std=c++17", "-O2", "-g", "-pthread"],
};
pub const CLANG: Compiler = Compiler {
    name: "clang",
    options: &["-std=gnu11", "-O2", "-g", "-pthread"],
};
pub const CLANGXX: Compiler = Compiler {
    name: "clang++",
    options: &["-std=c++17", "-O2", "-g", "-pthread"],
};
pub const GFORTRAN: Compiler = Compiler {
    name: "gfortran",
    options: &["-O2", "-g", "-fno-inline"],
};
pub const RUSTC: Compiler = Compiler {
    name: "rustc",
    options: &["-C", "opt-level=2", "-g"],
};

/// A compiler with other options.
pub const fn optioned(name: &'static str, options: &'static [&'static str]) -> Compiler {
    Compiler { name, options }
}

impl Compiler {
    /// Whether it is here; if not, that is said.
    pub fn is_here(&self, what: &str) -> bool {
        let mut command = Command::new(self.name);
        command
            .arg("--version")
            .stdout(Stdio::null())
            .stderr(Stdio::null());
        let here = command.status().is_ok_and(|status| status.success());
        if !here {
            println!("SKIPPED {what}: there is no {}", self.name);
        }
        here
    }

    /// Compiles and links a file of `victims/`; what else is linked comes after.
    #[track_caller]
    pub fn build<S: AsRef<OsStr>>(
        &self,
        folder: &Folder,
        source: &str,
        name: &str,
        link: &[S],
    ) -> PathBuf {
        self.build_file(folder, &victim(source), name, link)
    }

    /// The same for any file.
    #[track_caller]
    pub fn build_file<S: AsRef<OsStr>>(
        &self,
        folder: &Folder,
        source: &Path,
        name: &str,
        link: &[S],
    ) -> PathBuf {
        let program = folder.path(name);
        let mut command = folder.command(self.name);
        command
            .args(self.options)
            .arg(source)
            .arg("-o")
            .arg(&program)
            .args(link);
        let output = command.output().expect(self.name);
        let said = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "{command:?}: {said}");
        program
    }
}

/// What rustc calls this machine.
pub fn rust_target() -> String {
    let output = Command::new(RUSTC.name).arg("-vV").output().expect("rustc");
    let text = String::from_utf8(output.stdout).expect("text");
    let host = text.lines().find_map(|line| line.strip_prefix("host: "));
    host.expect("a host").to_owned()
}
