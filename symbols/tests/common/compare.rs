//! Our answers held against those of binutils, address by address.
#![allow(dead_code, reason = "not each test file compares")]

use std::collections::BTreeMap;
use std::path::Path;

use memlog_symbols::{Frame, ModuleSpec, Options, Store, Symbolizer};

use super::{Expected, all, disk, filter, llvm, oracle};

/// Binutils gives an inlined function that has no linkage name the name of the symbol around it.
fn same_function(ours: &Frame, theirs: &str) -> bool {
    // The two names that a constructor or destructor of a class without virtual bases has, and
    // those that a function of the C library has for itself and for others.
    let bare = |name: &str| {
        let name = name.split(['.', '@']).next().unwrap();
        let name = name.strip_prefix("__GI_").unwrap_or(name);
        name.replace("D1E", "D2E").replace("C1E", "C2E")
    };
    let raw = ours.raw_name.as_deref().unwrap();
    // Of what only one file can see, and of Rust's functions where lines alone were written, the
    // symbol has the whole name, and each of us may take either.
    let is_bare_of = |name: &str, symbol: &str| {
        let name = name.split('<').next().unwrap();
        let name = name.trim_start_matches('{').split(['#', '}', '_']).next();
        symbol.starts_with('_') && symbol.contains(name.unwrap())
    };
    let is_mangled = theirs.starts_with("_Z") || theirs.starts_with("_R");
    bare(raw) == bare(theirs)
        || (ours.inlined && !raw.starts_with('_') && is_mangled)
        || is_bare_of(theirs, raw)
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
    // Binutils puts a unit's relative folder before its folder once more.
    let is_doubled = || match (ours.rsplit_once('/'), theirs.rsplit_once('/')) {
        (Some((folder, _)), Some(_)) if folder.starts_with('.') => {
            let mut folders = folder.match_indices('/').map(|(at, _)| &folder[..at]);
            let mut folders = folders.by_ref().chain([folder]);
            folders.any(|first| theirs == format!("{first}/{ours}"))
        }
        _ => false,
    };
    // Binutils takes the first file of the table for the one that has the code.
    parts(ours) == parts(theirs) || theirs.ends_with("/<artificial>") || is_doubled()
}

fn agree(ours: &Frame, theirs: &Expected) -> bool {
    let function = match (&ours.raw_name, &theirs.function) {
        (Some(_), Some(theirs)) => same_function(ours, theirs),
        (ours, theirs) => ours.as_deref() == theirs.as_deref(),
    };
    let file = match (&ours.file, &theirs.file) {
        (Some(ours), Some(theirs)) => same_file(ours, theirs),
        (ours, theirs) => ours.as_deref() == theirs.as_deref(),
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
    pub fn judge(&self, addresses: &[u64], least: usize) -> usize {
        let expected = oracle(self.tools, self.reference, addresses);
        let store = Store::new();
        let mut symbols = Symbolizer::new(&store, disk, self.options.clone());
        let module = symbols.add_module(&self.module);
        let found = all(&symbols, module, addresses);
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
                wrong.push((*address, different));
            }
        }
        let name = String::from_utf8_lossy(&self.module.path);
        let name = name.rsplit('/').next().unwrap();
        println!(
            "{name}: {compared} addresses, {inlined} with inlined functions, {} differ",
            wrong.len()
        );
        self.ask_llvm(&mut wrong);
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

    /// Where only the file is another, and LLVM's is ours, binutils is wrong: of version 5 it
    /// takes a unit's own file for one that the unit includes.
    fn ask_llvm(&self, wrong: &mut Vec<(u64, Difference)>) {
        if wrong.is_empty() {
            return;
        }
        let addresses: Vec<u64> = wrong.iter().map(|(address, _)| *address).collect();
        let Some(told) = llvm(self.reference, &addresses) else {
            return println!("  there is no llvm-symbolizer to ask");
        };
        let is_file = |of: &(Option<Frame>, Option<Expected>), llvm: &[Expected]| match of {
            (Some(ours), Some(theirs)) => {
                let only_file = Expected {
                    file: None,
                    ..theirs.clone()
                };
                let without = Frame {
                    file: None,
                    ..ours.clone()
                };
                let file = ours.file.as_deref().unwrap_or_default();
                let same = |llvm: &Expected| {
                    let theirs = llvm.file.as_deref().unwrap_or_default();
                    llvm.line == ours.line && same_file(file, theirs)
                };
                agree(&without, &only_file) && llvm.iter().any(same)
            }
            _ => false,
        };
        let before = wrong.len();
        let mut told = told.into_iter();
        wrong.retain(|(_, different)| {
            let llvm = told.next().unwrap();
            !different.iter().all(|of| is_file(of, &llvm))
        });
        println!("  LLVM has our files in {} of them", before - wrong.len());
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
    let expected = filter("c++filt", names.keys().map(|raw| &***raw));
    let bare = |name: &str| {
        let name = name
            .split(" [clone")
            .next()
            .unwrap()
            .replace("(unsigned long)", "");
        name.replace(' ', "").replace("0ul", "0")
    };
    let hash = |name: &str| {
        let is_hash = |rest: &str| rest.len() == 16 && rest.bytes().all(|b| b.is_ascii_hexdigit());
        let name = match name.rsplit_once("::h") {
            Some((name, rest)) if is_hash(rest) => name,
            _ => name,
        };
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
