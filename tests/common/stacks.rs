//! Call stacks as libunwind sees them (`tests/gold/stacks.c`), and memlog's.
//!
//! The rules of the comparison, none of them loose:
//!
//! * memlog's stack is COMPLETE: the two are equal, frame by frame, in length,
//!   in each address and in which frames a signal interrupted.
//! * memlog's stack is cut: what there is of it is the inner part of
//!   libunwind's. Such stacks are counted by their root.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use memlog_format::table::{Code, StackId};
use memlog_read::Log;
use memlog_symbols::{Bytes, ModuleSpec, Options, Store, Symbolizer};

use super::compare::compare;
use super::gold::{u32_at, u64_at};
use super::pairs::Pair;

const HEADER_BYTES: usize = 4096;
const EXACT: u64 = 1 << 63;

/// A stack as libunwind walked it.
pub struct Walked {
    /// The slot of its allocation in the second recorder's file.
    pub seq: u64,
    /// What the last step said: 0 the end, below it an error, above it more.
    pub end: i16,
    /// Return addresses, the innermost first; the top bit marks a frame that
    /// a signal interrupted.
    pub frames: Vec<u64>,
}

/// The stacks of an image, and how many did not fit.
pub fn read(gold: &Path) -> (Vec<Walked>, u64) {
    let mut path = gold.as_os_str().to_owned();
    path.push(".stacks");
    let Ok(file) = std::fs::File::open(PathBuf::from(path)) else {
        return (Vec::new(), 0);
    };
    // SAFETY: the process that wrote it has ended.
    let bytes = unsafe { memmap2::Mmap::map(&file) }.expect("the stacks map");
    assert_eq!(&bytes[..8], b"GOLDSTK1");
    let (used, lost) = (u64_at(&bytes, 8) as usize, u64_at(&bytes, 16));
    let mut walked = Vec::new();
    let mut at = HEADER_BYTES;
    while at < HEADER_BYTES + used {
        let count = u32_at(&bytes, at + 8) as usize;
        let is_valid = bytes[at + 14] != 0;
        let frames = bytes[at + 16..at + 16 + 8 * count].chunks_exact(8);
        if is_valid {
            walked.push(Walked {
                seq: u64_at(&bytes, at),
                end: i16::from_ne_bytes([bytes[at + 12], bytes[at + 13]]),
                frames: frames.map(|word| u64_at(word, 0)).collect(),
            });
        }
        at += 16 + 8 * count;
    }
    (walked, lost)
}

/// What came out of comparing the stacks of an image.
#[derive(Default)]
pub struct Outcome {
    /// Stacks compared.
    pub compared: u64,
    /// Frames compared.
    pub frames: u64,
    /// By memlog's root, for those that are not complete.
    pub cut: BTreeMap<&'static str, u64>,
    /// Allocations that memlog has no event for.
    pub unmatched: u64,
    /// The differences by their kind, with how many and one of them in full.
    pub differences: BTreeMap<String, (u64, String)>,
    /// What libunwind could not walk to the end, by its error.
    pub unwind_errors: BTreeMap<i16, u64>,
}

impl Outcome {
    /// Compares the stacks of one image.
    pub fn take(&mut self, pair: &Pair) {
        let (walked, lost) = read(&pair.gold.path);
        assert_eq!(lost, 0, "stacks that did not fit");
        let partner = compare(&pair.ours.heap, &pair.gold.heap).partner;
        let slots = pair.gold.heap.iter().map(|event| event.mark);
        let places: BTreeMap<u64, usize> = slots.zip(0..).collect();
        let log = pair.ours.log();
        for walked in walked {
            let ours = places.get(&walked.seq).and_then(|&place| partner[place]);
            let Some(ours) = ours else {
                self.unmatched += 1;
                continue;
            };
            self.take_stack(&log, StackId(pair.ours.heap[ours].mark as u32), &walked);
        }
    }

    fn take_stack(&mut self, log: &Log, stack: StackId, walked: &Walked) {
        self.compared += 1;
        self.frames += walked.frames.len() as u64;
        if walked.end != 0 {
            *self.unwind_errors.entry(walked.end).or_default() += 1;
        }
        let mut frames = log.frames(stack);
        let codes: Vec<Code> = frames.by_ref().collect();
        let ours: Vec<u64> = codes.iter().map(word).collect();
        let is_equal = match frames.root() {
            Some(StackId::COMPLETE) => ours == walked.frames,
            Some(root) => {
                *self.cut.entry(root.root_name()).or_default() += 1;
                walked.frames.starts_with(&ours)
            }
            None => false,
        };
        if !is_equal {
            let root = frames.root();
            let kind = kind_of(log, &ours, &walked.frames, root);
            let entry = self.differences.entry(kind);
            let first = entry.or_insert_with(|| (0, tell(log, &ours, walked, root)));
            first.0 += 1;
        }
    }

    /// Adds those of another image.
    pub fn add(&mut self, other: Outcome) {
        self.compared += other.compared;
        self.frames += other.frames;
        self.unmatched += other.unmatched;
        for (name, count) in other.cut {
            *self.cut.entry(name).or_default() += count;
        }
        for (error, count) in other.unwind_errors {
            *self.unwind_errors.entry(error).or_default() += count;
        }
        for (kind, (count, first)) in other.differences {
            self.differences.entry(kind).or_insert((0, first)).0 += count;
        }
    }
}

fn word(code: &Code) -> u64 {
    code.address | if code.exact { EXACT } else { 0 }
}

/// Where they part, in words that many differences share.
fn kind_of(log: &Log, ours: &[u64], walked: &[u64], root: Option<StackId>) -> String {
    let same = ours.iter().zip(walked).take_while(|(a, b)| a == b).count();
    let mut names = Names::new(log);
    let mut at = |frames: &[u64]| match frames.get(same) {
        Some(&frame) => names.name(frame),
        None => "the end".to_owned(),
    };
    let (our_next, their_next) = (at(ours), at(walked));
    let last = match same {
        0 => "the allocator".to_owned(),
        _ => names.name(ours[same - 1]),
    };
    let root = root.map_or("records missing", |root| root.root_name());
    format!("above {last}: memlog {our_next} ({root}), libunwind {their_next}")
}

fn tell(log: &Log, ours: &[u64], walked: &Walked, root: Option<StackId>) -> String {
    let mut names = Names::new(log);
    let mut text = format!("root {root:?}, libunwind ended with {}\n", walked.end);
    for index in 0..ours.len().max(walked.frames.len()) {
        let (a, b) = (ours.get(index), walked.frames.get(index));
        let mark = if a == b { ' ' } else { '!' };
        let mut show = |frame: Option<&u64>| match frame {
            Some(&frame) => format!("{frame:#x} {}", names.name(frame)),
            None => "-".to_owned(),
        };
        let (a, b) = (show(a), show(b));
        text += &format!("   {mark} {index:3} {a:60} {b}\n");
    }
    text
}

type Source = fn(&[u8]) -> std::io::Result<Bytes>;

/// Function names for the addresses of a log.
struct Names<'l, 'a> {
    log: &'l Log<'a>,
}

impl<'l, 'a> Names<'l, 'a> {
    fn new(log: &'l Log<'a>) -> Self {
        Self { log }
    }

    fn name(&mut self, frame: u64) -> String {
        let address = frame & !EXACT;
        let modules = self.log.modules().iter();
        let mut modules = modules.filter(|module| (module.low..module.high).contains(&address));
        let Some(module) = modules.next_back() else {
            return format!("{address:#x} in no module");
        };
        let offset = address.wrapping_sub(module.bias);
        let store = Store::new();
        let source: Source = |path| {
            use std::os::unix::ffi::OsStrExt;
            let path = Path::new(std::ffi::OsStr::from_bytes(path));
            Ok(Arc::new(std::fs::read(path)?))
        };
        let mut symbols = Symbolizer::new(&store, source, Options::default());
        let handle = symbols.add_module(&ModuleSpec {
            path: module.path.to_vec(),
            build_id: module.build_id.to_vec(),
        });
        let before = u64::from(frame & EXACT == 0);
        let found = symbols.lookup(handle, offset.wrapping_sub(before));
        let function = found
            .frames
            .into_iter()
            .last()
            .and_then(|frame| frame.function);
        let file = String::from_utf8_lossy(module.path);
        let file = file.rsplit('/').next().unwrap_or("").to_owned();
        match function {
            Some(function) => format!("{function} [{file}+{offset:#x}]"),
            None => format!("[{file}+{offset:#x}]"),
        }
    }
}
