//! Which code cuts stacks, how much that concerns, and what mends it.

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

use memlog_analysis::{CutIn, Cuts};
use memlog_format::table::StackId;
use memlog_read::Log;
use memlog_symbols::{Compiler, Unwindable};
use serde_json::{Value, json};

use crate::open::{Analysis, map};
use crate::words::{clean, percentage};

/// What concerns less is told by the heading's count alone.
const LEAST_PERCENT: f64 = 1.0;
/// So many sentences, those of most allocations.
const MOST: usize = 3;

/// A sentence for each module in which a hundredth of the allocations or of
/// their bytes has its stack cut.
pub fn sentences(log: &Log, analysis: &Analysis) -> Vec<String> {
    let totals = &analysis.summary.totals;
    let shares = |cuts: &Cuts| {
        [
            percentage(cuts.allocated.blocks, totals.allocations),
            percentage(cuts.allocated.bytes, totals.bytes),
        ]
    };
    let cuts = analysis.tally.cuts().into_iter();
    let told = cuts.filter_map(|cuts| {
        let [calls, bytes] = shares(&cuts);
        let reason = reason(log, analysis, &cuts)?;
        (calls.max(bytes) >= LEAST_PERCENT).then(|| {
            let (calls, bytes) = (whole(calls), whole(bytes));
            format!("{calls} of the allocations ({bytes} of their bytes) have stacks cut {reason}")
        })
    });
    told.take(MOST).collect()
}

/// In whole percent, but neither nothing nor all where it is not that.
fn whole(percent: f64) -> String {
    match percent {
        0.0 => "0 %".into(),
        ..1.0 => "less than 1 %".into(),
        99.0..100.0 => "more than 99 %".into(),
        _ => format!("{percent:.0} %"),
    }
}

/// Where the stacks are cut, why, and what to do; nothing where it is not the
/// code that does it.
fn reason(log: &Log, analysis: &Analysis, cuts: &Cuts) -> Option<String> {
    let modules = analysis.tally.stacks().modules();
    let path = match cuts.place {
        CutIn::Module(module) => Some(&modules.get(module as usize)?.path),
        CutIn::NoFile => None,
        CutIn::NoFrame => return None,
    };
    let place = match path {
        Some(path) => format!("in {}", clean(path)),
        None => "in code made at run time".to_owned(),
    };
    let why = match (cuts.root, path) {
        (StackId::CUT_NO_TABLES, Some(path)) => tables(log, path),
        (StackId::CUT_NO_TABLES, None) => made(log).to_owned(),
        (StackId::CUT_BAD_FRAME, _) => {
            "what its unwind tables or frame pointers say leads out of the stack".into()
        }
        (StackId::CUT_UNSUPPORTED, _) => {
            "its unwind tables have a step that memlog does not know".into()
        }
        _ => return None,
    };
    Some(format!("{place}: {why}"))
}

/// What a log itself knows of a file, or else what the file says.
pub fn unwindable(log: &Log, path: &[u8]) -> Option<Unwindable> {
    let mut kept = log.kept().files.iter();
    let kept = kept.find_map(|file| {
        let compiler = file.compiler.filter(|_| file.path == path)?;
        Some(Unwindable {
            compiler: *COMPILERS.get(usize::from(compiler))?,
            code_bytes: file.code_bytes,
            covered_bytes: file.covered_bytes,
        })
    });
    kept.or_else(|| {
        let file = map(Path::new(OsStr::from_bytes(path))).ok()?;
        Unwindable::of(file.as_ref())
    })
}

/// By their numbers in logs, which stay.
pub const COMPILERS: [Compiler; 5] = [
    Compiler::Unknown,
    Compiler::C,
    Compiler::Rust,
    Compiler::Go,
    Compiler::Haskell,
];

/// What a file lacks, and what its compiler can do about it.
fn tables(log: &Log, path: &[u8]) -> String {
    const FLAG: &str = "build it with -fasynchronous-unwind-tables";
    let seen = unwindable(log, path);
    let (lack, compiler) = match seen {
        None => ("code of it has no unwind tables", Compiler::Unknown),
        Some(seen) => match seen.covered_bytes.saturating_mul(2) < seen.code_bytes {
            true => ("most of its code has no unwind tables", seen.compiler),
            false => ("a part of its code has no unwind tables", seen.compiler),
        },
    };
    let advice = match compiler {
        Compiler::C => FLAG.to_owned(),
        Compiler::Rust => "build it with -C panic=unwind and -C force-unwind-tables=yes, and what \
                           of it is C or C++ with -fasynchronous-unwind-tables"
            .to_owned(),
        Compiler::Go => "Go makes none, and no flag adds them".to_owned(),
        Compiler::Haskell => {
            "GHC makes none that are loaded with a program, and no flag adds them".to_owned()
        }
        Compiler::Unknown => format!("if it is C or C++, {FLAG}"),
    };
    format!("{lack}; {advice}")
}

/// What is known of run-time compilers by the files that have them.
fn made(log: &Log) -> &'static str {
    let base = |path: &[u8]| -> Vec<u8> {
        let name = path.rsplit(|&byte| byte == b'/').next();
        name.unwrap_or(path).to_vec()
    };
    let names: Vec<_> = log.modules().iter().map(|it| base(it.path)).collect();
    let has = |is: &dyn Fn(&[u8]) -> bool| names.iter().any(|name| is(name));
    if has(&|name| name == b"libjvm.so") {
        "give Java the option -XX:+PreserveFramePointer, as by \
         JAVA_TOOL_OPTIONS=-XX:+PreserveFramePointer"
    } else if has(&|name| name.starts_with(b"beam.") || name == b"beam") {
        "Erlang's compiled code has no unwind tables, and its calls are not on the thread's stack"
    } else if has(&|name| name.starts_with(b"qemu-")) {
        "the guest's code as qemu translates it has neither unwind tables nor frame pointers"
    } else {
        "it has no unwind tables, and no frame pointers that lead on: see whether what made it \
         can keep them"
    }
}

/// The same for programs: all of it, whatever its share.
pub fn figures(analysis: &Analysis) -> Value {
    let modules = analysis.tally.stacks().modules();
    let cuts = analysis.tally.cuts().into_iter();
    let cuts = cuts.map(|cuts| {
        let module = match cuts.place {
            CutIn::Module(module) => modules.get(module as usize),
            CutIn::NoFile | CutIn::NoFrame => None,
        };
        json!({
            "module": module.map(|module| clean(&module.path)),
            "reason": cuts.root.root_name(),
            "allocations": cuts.allocated.blocks,
            "bytes": cuts.allocated.bytes,
        })
    });
    cuts.collect()
}
