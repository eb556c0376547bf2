//! How much of the growth of resident memory the log explains; below half, who
//! may hold the rest and what to do.

use std::fs::File;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

use memlog_analysis::Coverage;
use memlog_format::meta::{Key, Past};
use memlog_read::Log;
use object::read::{Object, ReadCache};

use crate::open::Analysis;
use crate::words::{Sizes, clean, sized};

/// The line of the heading, and whether it is an alarm.
pub fn line(analysis: &Analysis, sizes: Sizes) -> Option<(Vec<String>, bool)> {
    let coverage = analysis.coverage.filter(Coverage::is_told)?;
    let mut parts = vec![
        format!(
            "recorded calls explain up to {} % of {} that RSS grew by",
            coverage.whole_percent(),
            sizes.of(coverage.growth_bytes)
        ),
        format!("{} heap", sizes.of(coverage.heap_bytes)),
    ];
    if coverage.mapped_bytes > 0 {
        parts.push(format!("{} mapped", sizes.of(coverage.mapped_bytes)));
    }
    if coverage.is_low() {
        parts.push(format!("{} NOT SEEN", sizes.of(coverage.rest_bytes())));
    }
    Some((parts, coverage.is_low()))
}

/// Libraries whose calls are not recorded, as the recorder named them.
pub fn past_us(log: &Log) -> Vec<(&'static str, String)> {
    let texts = log.texts(Key::PastUs).filter_map(Past::of);
    let mut named: Vec<_> = texts
        .map(|(past, name)| {
            let reason = match past {
                Past::Namespace => "namespace",
                Past::OtherAllocator => "other-allocator",
                Past::Refused => "refused",
            };
            (reason, clean(name))
        })
        .collect();
    named.sort();
    named.dedup();
    named
}

/// The same in sentences, one a reason.
pub fn told_past_us(log: &Log) -> Vec<String> {
    const MOST_NAMED: usize = 4;
    let named = past_us(log);
    let groups = named.chunk_by(|one, other| one.0 == other.0);
    let sentences = groups.map(|group| {
        let names = group.iter().take(MOST_NAMED);
        let names: Vec<_> = names.map(|(_, name)| name.as_str()).collect();
        let mut names = names.join(", ");
        if group.len() > MOST_NAMED {
            names += &format!(" and {} more", group.len() - MOST_NAMED);
        }
        let why = match group[0].0 {
            "namespace" => {
                "dlmopen loads them into namespaces of their own, with a C library and a heap of \
                 their own; use dlopen while you record, if the program can"
            }
            "other-allocator" => {
                "RTLD_DEEPBIND may bind them to another allocator than the program's; record \
                 without that allocator preloaded, or link it to them"
            }
            _ => {
                "RTLD_DEEPBIND binds them past the recorder, and the system forbids to change \
                 that; leave RTLD_DEEPBIND out while you record"
            }
        };
        format!("calls of these and of what they load are not recorded: {names}: {why}")
    });
    sentences.collect()
}

/// Where most of it is not explained: who may hold it, and what to do.
pub fn holders(log: &Log, analysis: &Analysis) -> Vec<String> {
    let Some(coverage) = analysis.coverage.filter(Coverage::is_low) else {
        return Vec::new();
    };
    let rest = coverage.rest_bytes();
    let mut known: Vec<String> = Vec::new();
    if log.texts(Key::PastUs).next().is_some() {
        known.push("the libraries whose calls are not recorded, named above".into());
    }
    let is_rival = |text: &[u8]| text.starts_with(b"malloc is that of ");
    if log.texts(Key::Note).any(is_rival) {
        known.push("the malloc that comes before the recorder's, named above".into());
    }
    known.extend(runtime(log));
    let reserved = analysis.reserved_bytes;
    if reserved >= rest / 2 {
        known.push(format!(
            "{} of address space that the program reserved without access and may have opened \
             since, which is not recorded: an allocator or a runtime of its own",
            sized(reserved)
        ));
    }
    let rest = sized(rest);
    let sentence = match known.is_empty() {
        false => format!(
            "of {rest} no call was seen; may hold them: {}",
            known.join("; ")
        ),
        true => format!(
            "of {rest} no call was seen, and it is not known who holds them: code and data of \
             files, stacks, what the allocator keeps, or mappings made by system calls without \
             the C library; /proc/PID/smaps shows each mapping while the program runs, \
             `strace -f -k -e trace=mmap,mremap,brk` who makes them"
        ),
    };
    vec![sentence]
}

/// Runtimes that are known to go past the C library.
fn runtime(log: &Log) -> Option<String> {
    let paths = log.modules().iter().map(|module| module.path);
    if paths.into_iter().any(|path| path.ends_with(b"/libjvm.so")) {
        return Some(
            "Java's own memory: `-XX:NativeMemoryTracking=summary` and `jcmd PID \
             VM.native_memory` tell of it"
                .into(),
        );
    }
    let path = Path::new(std::ffi::OsStr::from_bytes(log.text(Key::Executable)?));
    is_go(path).then(|| {
        "Go's own heap, which it maps by system calls: `go tool pprof` and GODEBUG=gctrace=1 tell \
         of it"
            .into()
    })
}

/// Whether a program was linked by Go, if it is still there.
fn is_go(path: &Path) -> bool {
    let Ok(file) = File::open(path) else {
        return false;
    };
    let cache = ReadCache::new(file);
    let Ok(file) = object::File::parse(&cache) else {
        return false;
    };
    file.section_by_name(".go.buildinfo").is_some()
}
