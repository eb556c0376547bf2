//! Files of other tools, and what their logs say. The files in golden/imports are from one
//! small program, tables.c there; its sums are known from its text.

mod bytehound;
mod dhat;
mod heap_text;
mod hostile;
mod massif;
mod memtrail;
mod pprof;

use std::collections::BTreeMap;
use std::path::Path;

use memlog_format::meta::{Key, Lack};
use memlog_format::table::StackId;
use memlog_import::{Error, Made, Settings, convert};
use memlog_read::{Kind, Log};

/// Blocks and bytes of each stack: the names of its functions, the innermost first.
type Sums = BTreeMap<String, (u64, u64)>;

/// What a log says, found the plain way.
#[derive(Debug, Default)]
struct Seen {
    /// All that came.
    came: Sums,
    live: Sums,
    /// Live when the sum was largest for the first time.
    peak: Sums,
    /// The sum of live bytes at each tick, behind its events.
    curve: BTreeMap<u64, u64>,
}

fn golden(name: &str) -> Vec<u8> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../golden/imports");
    std::fs::read(path.join(name)).expect(name)
}

fn import(file: &[u8]) -> Result<(Made, Vec<u8>), Error> {
    let mut log = Vec::new();
    let made = convert(&mut &file[..], b"a file", &mut log, Settings::default())?;
    Ok((made, log))
}

/// What the log of a file says, and what was made of it.
fn seen(file: &[u8]) -> (Made, Seen) {
    let (made, bytes) = import(file).expect("a log");
    let log = Log::open(&bytes).expect("a log");
    assert!(log.findings().list().is_empty(), "{:?}", log.findings());
    let lacks: Vec<_> = log.texts(Key::Lacks).filter_map(Lack::of).collect();
    assert_eq!(lacks, made.lacks);
    let mut seen = Seen::default();
    let mut live = BTreeMap::new();
    let (mut sum, mut largest) = (0, 0);
    let mut events = log.events();
    for item in events.by_ref() {
        match item.kind {
            Kind::Alloc(alloc) => {
                let stack = names(&log, alloc.stack);
                assert!(
                    live.insert(alloc.address, (stack.clone(), alloc.size))
                        .is_none()
                );
                add(&mut seen.came, &stack, alloc.size);
                add(&mut seen.live, &stack, alloc.size);
                sum += alloc.size;
            }
            Kind::Release(release) => {
                let (stack, size) = live.remove(&release.address).expect("a live block");
                let held = seen.live.get_mut(&stack).expect("its stack");
                *held = (held.0 - 1, held.1 - size);
                if held.0 == 0 {
                    seen.live.remove(&stack);
                }
                sum -= size;
            }
            _ => {}
        }
        seen.curve.insert(item.tick, sum);
        if sum > largest {
            (largest, seen.peak) = (sum, seen.live.clone());
        }
    }
    assert!(
        events.findings().list().is_empty(),
        "{:?}",
        events.findings()
    );
    (made, seen)
}

fn add(sums: &mut Sums, stack: &str, size: u64) {
    let sum = sums.entry(stack.to_owned()).or_default();
    *sum = (sum.0 + 1, sum.1 + size);
}

/// The functions of a stack, or the distance from its module's beginning of each frame that
/// has no name.
fn names(log: &Log, stack: StackId) -> String {
    let mut names = Vec::new();
    for code in log.frames(stack) {
        let given = log.code_names().iter();
        let given = given.filter(|name| name.address == code.lookup_address());
        let given = given.map(|name| String::from_utf8_lossy(name.name).into_owned());
        let before = names.len();
        names.extend(given);
        if names.len() == before {
            let module = log.modules().iter().find(|module| module.id == code.module);
            let bias = module.map_or(0, |module| module.bias);
            let path = module.map_or(&b"?"[..], |module| module.path);
            let path = String::from_utf8_lossy(path);
            let file = path.rsplit('/').next().unwrap_or_default();
            names.push(format!("{file}+{:x}", code.address.wrapping_sub(bias)));
        }
    }
    names.join(" < ")
}

/// All together.
fn total(sums: &Sums) -> (u64, u64) {
    let add = |(blocks, bytes), sum: &(u64, u64)| (blocks + sum.0, bytes + sum.1);
    sums.values().fold((0, 0), add)
}

/// Of the stacks with a function in them.
fn within(sums: &Sums, function: &str) -> (u64, u64) {
    let has = |stack: &str| stack.split(" < ").any(|name| name == function);
    let of = sums.iter().filter(|(stack, _)| has(stack));
    total(&of.map(|(stack, &sum)| (stack.clone(), sum)).collect())
}

fn sentence(file: &[u8]) -> String {
    match import(file) {
        Ok(_) => "no error".to_owned(),
        Err(error) => error.to_string(),
    }
}
