//! The victims whose pages are the same in every run, and at which moment.
//!
//! With one thread the largest heap is one moment, and so is the end. With
//! more the end alone is: all have been joined. Then creating them leaves
//! blocks of libc's own, as many as threads were still there when the next one
//! began, so only trees of what the program's functions hold are compared. The
//! RSS peak is none of these moments: it lies between two readings.
//!
//! Not here: crossfree, siglongjmp and plugins_kept end with nothing; where the
//! handler of signals interrupts main is chance; rss_shapes is about readings,
//! own_operators, only_new and rust_staticlib about linking: they have tests of
//! their own.

use crate::sites::build::{Compiler, optioned};

#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Language {
    C,
    Cxx,
    Fortran,
    Rust,
}

/// Every function a frame of its own, and each line where it stands, so that
/// compilers of all versions agree.
const C: &[&str] = &["-std=gnu11", "-O0", "-g", "-fno-inline", "-pthread", "-ldl"];
const CXX: &[&str] = &["-std=c++17", "-O0", "-g", "-fno-inline", "-pthread"];
const FORTRAN: &[&str] = &["-O0", "-g", "-fno-inline"];
const RUST: &[&str] = &["-C", "opt-level=0", "-g"];

impl Language {
    pub fn compiler(self) -> Compiler {
        match self {
            Language::C => optioned("gcc", C),
            Language::Cxx => optioned("g++", CXX),
            Language::Fortran => optioned("gfortran", FORTRAN),
            Language::Rust => optioned("rustc", RUST),
        }
    }

    /// The function below which everything is the program's.
    pub fn main(self) -> &'static str {
        match self {
            Language::Rust => "^sites::main$",
            _ => "^main$",
        }
    }

    /// What the library holds beside that: libstdc++'s emergency pool,
    /// libgfortran's units, std's record of the main thread.
    pub fn library_bytes(self) -> u64 {
        match self {
            Language::C => 0,
            Language::Cxx => 72_704,
            Language::Fortran => 13_584,
            Language::Rust => 548,
        }
    }
}

/// What is compared.
pub enum Pages {
    /// `.dot`, `.txt`, and the tree from both ends.
    All,
    /// The first two: from one end to the other, libc lies between.
    Graph,
    /// The trees of stacks through these functions.
    Trees(&'static str),
}

/// Of which process.
pub enum Log {
    /// Of the one that was started.
    Own,
    /// Of what it became in the end.
    LastImage,
    /// Of its first child.
    FirstChild,
    /// Of its child that freed what it inherited.
    FreeingChild,
}

/// A victim.
pub struct Case {
    /// What its pages are called.
    pub name: &'static str,
    pub source: &'static str,
    pub language: Language,
    /// What it is called with; less than by default, to take less time.
    pub words: &'static str,
    pub log: Log,
    pub at: &'static str,
    pub pages: Pages,
}

impl Case {
    /// What the executable is called.
    pub fn program(&self) -> &'static str {
        self.source.split('.').next().unwrap_or_default()
    }
}

const fn case(
    name: &'static str,
    source: &'static str,
    language: Language,
    words: &'static str,
    at: &'static str,
) -> Case {
    let (log, pages) = (Log::Own, Pages::All);
    Case {
        name,
        source,
        language,
        words,
        log,
        at,
        pages,
    }
}

const HEAP: &str = "heap-peak";
const END: &str = "end";

pub const CASES: &[Case] = &[
    case("sites", "sites.c", Language::C, "", HEAP),
    case("sites_end", "sites.c", Language::C, "", END),
    case("server", "server.c", Language::C, "3000", HEAP),
    case("deep", "deep.c", Language::C, "1000", END),
    case("deep_each", "deep.c", Language::C, "300 1", END),
    case("api", "api.c", Language::C, "3", END),
    case("churn", "churn.c", Language::C, "20000", HEAP),
    case("coroutines", "coroutines.c", Language::C, "200", END),
    case("vforker", "vforker.c", Language::C, "3", END),
    Case {
        log: Log::LastImage,
        ..case("execer", "execer.c", Language::C, "3", END)
    },
    Case {
        pages: Pages::Graph,
        ..case("qsort_cb", "qsort_cb.c", Language::C, "300", END)
    },
    Case {
        pages: Pages::Trees("^fence$"),
        ..case("realloc_race", "realloc_race.c", Language::C, "300", END)
    },
    Case {
        pages: Pages::Trees("^one_block$"),
        ..case("threads8", "threads8.c", Language::C, "300", END)
    },
    Case {
        pages: Pages::Trees("^(parent_block|child_blocks)$"),
        ..case("forker", "forker.c", Language::C, "1", END)
    },
    // It inherits what its parent holds.
    Case {
        log: Log::FirstChild,
        pages: Pages::Trees("^(parent_block|child_blocks)$"),
        ..case("forker_child", "forker.c", Language::C, "1", END)
    },
    // Which child it is cannot be counted: one that executes another program has
    // a log of before only if that took long.
    Case {
        log: Log::FreeingChild,
        pages: Pages::Trees("^(parent_block|child_blocks)$"),
        ..case("forker_freeing", "forker.c", Language::C, "1", END)
    },
    case("sites_cpp", "sites.cpp", Language::Cxx, "", HEAP),
    case("operators", "operators.cpp", Language::Cxx, "", HEAP),
    case("throw", "throw.cpp", Language::Cxx, "30 10", END),
    case("sites_f90", "sites.f90", Language::Fortran, "", HEAP),
    case("sites_rs", "sites.rs", Language::Rust, "", HEAP),
];
