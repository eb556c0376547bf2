//! Our answers held against those of binutils, address by address.
#![allow(dead_code, reason = "not each test file compares")]

use std::collections::BTreeMap;
use std::path::Path;

use memlog_symbols::{Frame, ModuleSpec, Options, Store, Symbolizer};

use super::{Expected, disk, filter, oracle};

/// Binutils gives an inlined function that has no linkage name the name of the symbol around it.
fn same_function(ours: &Frame, theirs: &str) -> bool {
    // The two names that a constructor or destructor of a class without virtual bases has.
    let bare = |name: &str| {
        let name = name.split('.').next().unwrap();
        name.replace("D1E", "D2E").replace("C1E", "C2E")
    };
    let raw = ours.raw_name.as_deref().unwrap();
    bare(raw) == bare(theirs) || (ours.inlined && !raw.starts_with('_') && theirs.starts_with("_Z"))
}

fn same_file(ours: &str, theirs: &str) -> bool {
    let parts = |path: &str| {
        let mut parts: Vec<String> = Vec::new();
        for part in path.split('/') {
            match part {
                "." => {}
                ".." => drop(parts.pop()),
                part => parts.push(part.to_owned()),
            }
        }
        parts.join("/")
    };
    // Binutils takes the first file of the table for the one that has the code.
    parts(ours) == parts(theirs) || theirs.ends_with("/<artificial>")
}

fn agree(ours: &Frame, theirs: &Expected) -> bool {
    let function = match (&ours.raw_name, &theirs.function) {
        (Some(_), Some(theirs)) => same_function(ours, theirs),
        (ours, theirs) => ours == theirs,
    };
    let file = match (&ours.file, &theirs.file) {
        (Some(ours), Some(theirs)) => same_file(ours, theirs),
        (ours, theirs) => ours == theirs,
    };
    function && file && ours.line == theirs.line
}

/// The frames where the two differ; `None` stands for one that is missing.
type Difference = Vec<(Option<Frame>, Option<Expected>)>;

fn differences(ours: &[Frame], theirs: &[Expected]) -> Difference {
    (0..ours.len().max(theirs.len()))
        .map(|index| (ours.get(index), theirs.get(index)))
        .filter(|pair| !matches!(pair, (Some(ours), Some(theirs)) if agree(ours, theirs)))
        .map(|(ours, theirs)| (ours.cloned(), theirs.cloned()))
        .collect()
}

/// What is compared: our answers of a module with what binutils says of a file with the same code.
pub struct Comparison<'a> {
    pub module: ModuleSpec,
    pub options: Options,
    pub reference: &'a Path,
    /// What the names of the tools begin with: nothing, or `s390x-linux-gnu-`.
    pub tools: &'a str,
}

impl Comparison<'_> {
    /// Every address has to have the same functions, files and lines, inlined ones too; `least`
    /// so many have to have lines. Returns how many have inlined functions.
    pub fn judge(self, addresses: &[u64], least: usize) -> usize {
        let expected = oracle(self.tools, self.reference, addresses);
        let store = Store::new();
        let mut symbols = Symbolizer::new(&store, disk, self.options);
        let module = symbols.add_module(&self.module);
        let found = symbols.lookup_batch(module, addresses);
        let (mut compared, mut inlined, mut wrong) = (0, 0, Vec::new());
        for ((address, ours), theirs) in addresses.iter().zip(&found).zip(&expected) {
            assert_eq!(*ours, symbols.lookup(module, *address));
            for (index, frame) in ours.frames.iter().enumerate() {
                assert_eq!(frame.inlined, index + 1 < ours.frames.len());
            }
            // Start-up code has no lines; there the tools differ in which symbol they guess.
            if theirs.iter().all(|frame| frame.line.is_none()) {
                continue;
            }
            compared += 1;
            inlined += usize::from(theirs.len() > 1);
            let different = differences(&ours.frames, theirs);
            if !different.is_empty() {
                wrong.push((address, different));
            }
        }
        let name = String::from_utf8_lossy(&self.module.path);
        let name = name.rsplit('/').next().unwrap();
        println!(
            "{name}: {compared} addresses, {inlined} with inlined functions, {} differ",
            wrong.len()
        );
        for (address, different) in wrong.iter().take(12) {
            for (ours, theirs) in different {
                println!("{address:#x}\n  ours   {ours:?}\n  theirs {theirs:?}");
            }
        }
        assert!(compared >= least, "only {compared} addresses");
        assert!(wrong.is_empty(), "{} of {compared} differ", wrong.len());
        compare_names(found.iter().flat_map(|lookup| &lookup.frames));
        inlined
    }
}

/// The demangled names are c++filt's but for spaces, and for parameter packs, which the library
/// expands wrongly.
fn compare_names<'a>(frames: impl Iterator<Item = &'a Frame>) {
    let mut names = BTreeMap::new();
    for frame in frames {
        if let (Some(raw), Some(name)) = (&frame.raw_name, &frame.function)
            && (raw.starts_with("_Z") || raw.starts_with("_R"))
            && !raw.contains("Dp")
        {
            names.insert(raw, name);
        }
    }
    let expected = filter("c++filt", names.keys().map(|raw| raw.as_str()));
    let bare = |name: &str| {
        let name = name
            .split(" [clone")
            .next()
            .unwrap()
            .replace("(unsigned long)", "");
        name.replace(' ', "").replace("0ul", "0")
    };
    let hash = |name: &str| {
        let name = name.rsplit_once("::h").map_or(name, |(name, _)| name);
        // Crates of Rust's second mangling: `core[c1f1a4ba060b9bfa]`.
        let mut parts = name.split('[');
        let first = parts.next().unwrap_or_default().to_owned();
        parts.fold(first, |text, part| match part.split_once(']') {
            Some((digits, rest)) if digits.len() > 12 && !digits.contains(' ') => text + rest,
            _ => text + "[" + part,
        })
    };
    let different: Vec<_> = names
        .values()
        .zip(&expected)
        .filter(|(ours, theirs)| bare(ours) != bare(&hash(theirs)) && bare(ours) != bare(theirs))
        .collect();
    println!(
        "  {} names, {} differ from c++filt's",
        names.len(),
        different.len()
    );
    for (ours, theirs) in different.iter().take(5) {
        println!("  {ours:.300}\n  {theirs:.300}");
    }
    assert!(
        different.len() * 20 <= names.len(),
        "{} of {} differ",
        different.len(),
        names.len()
    );
}
