//! A number for each function that both sides may have.

use std::collections::{HashMap, HashSet};

use memlog_analysis::{Name, alike, bare, module_stem, nameless_in};

use super::side::{Side, file_name};

/// What the programs' own files are called where they have two names.
const PROGRAM: &str = "(the program)";

/// The modules of both sides by what they are called in both.
pub(super) struct Modules {
    keys: [HashMap<String, String>; 2],
    /// Those that are the same build on both sides.
    same: HashSet<String>,
}

impl Modules {
    pub(super) fn of(sides: [&Side; 2]) -> Self {
        let names = sides.map(files);
        let stems = names.each_ref().map(|names| {
            let mut stems: HashMap<String, u32> = HashMap::new();
            for name in names.keys() {
                *stems.entry(module_stem(name)).or_default() += 1;
            }
            stems
        });
        // Two versions in one process are two.
        let is_single = |stem: &str| stems.iter().all(|all| all.get(stem).is_none_or(|n| *n < 2));
        let key = |name: &str| {
            let stem = module_stem(name);
            if is_single(&stem) {
                stem
            } else {
                name.to_owned()
            }
        };
        let mut keys = names.each_ref().map(|names| {
            let keys = names.keys().map(|name| (name.clone(), key(name)));
            keys.collect::<HashMap<_, _>>()
        });
        if let [Some(before), Some(after)] = sides.map(|side| side.program.clone())
            && before != after
        {
            keys[0].insert(before, PROGRAM.to_owned());
            keys[1].insert(after, PROGRAM.to_owned());
        }
        let same = names[0].iter().filter(|(name, id)| {
            id.is_some_and(|id| !id.is_empty()) && names[1].get(*name) == Some(id)
        });
        let same = same.map(|(name, _)| name.clone()).collect();
        Self { keys, same }
    }

    /// What a file is called.
    pub(super) fn key(&self, side: usize, file: &str) -> String {
        let known = self.keys[side].get(file);
        known.map_or_else(|| module_stem(file), Clone::clone)
    }
}

/// The files of a side without their folders, and their builds where those are known.
fn files(side: &Side) -> HashMap<String, Option<&[u8]>> {
    let mut files: HashMap<String, Option<&[u8]>> = HashMap::new();
    for module in &side.modules {
        let id = Some(module.build_id.as_slice());
        let known = files
            .entry(file_name(&module.path).to_owned())
            .or_insert(id);
        if *known != id {
            *known = None;
        }
    }
    // Old logs, and what was put together by hand.
    for name in &side.names {
        let named = name.module.as_deref();
        if let Some(file) = named.or_else(|| nameless_in(&name.function)) {
            files.entry(file.to_owned()).or_insert(None);
        }
    }
    if let Some(program) = &side.program {
        files.entry(program.clone()).or_insert(None);
    }
    files
}

/// The functions of both sides.
pub(super) struct Names {
    /// By side and label.
    pub(super) of: [Vec<u32>; 2],
    /// By number.
    pub(super) texts: Vec<String>,
    pub(super) modules: Modules,
}

impl Names {
    pub(super) fn of(sides: [&Side; 2]) -> Self {
        let modules = Modules::of(sides);
        let texts = [0, 1].map(|side| {
            let names = sides[side].names.iter();
            let texts = names.map(|name| function(name, &modules, side));
            texts.collect::<Vec<String>>()
        });
        let whole = whole_names(&texts);
        let mut index: HashMap<&str, u32> = HashMap::new();
        let mut all: Vec<String> = Vec::new();
        let of = texts.each_ref().map(|texts| {
            let numbers = texts.iter().map(|text| {
                let text = whole.get(text.as_str()).copied().unwrap_or(text);
                *index.entry(text).or_insert_with(|| {
                    all.push(text.to_owned());
                    all.len() as u32 - 1
                })
            });
            numbers.collect()
        });
        Self {
            of,
            texts: all,
            modules,
        }
    }

    /// The number of a label.
    pub(super) fn key(&self, side: usize, label: u32) -> Option<u32> {
        self.of[side].get(label as usize).copied()
    }

    pub(super) fn text(&self, key: u32) -> &str {
        self.texts.get(key as usize).map_or("", String::as_str)
    }
}

fn function(name: &Name, modules: &Modules, side: usize) -> String {
    let function = name.function.as_str();
    match nameless_in(function) {
        Some(file) if modules.same.contains(file) => function.to_owned(),
        Some(file) => format!("unknown in {}", modules.key(side, file)),
        None if is_address(function) => "unknown code".to_owned(),
        None => alike(function),
    }
}

fn is_address(text: &str) -> bool {
    let digits = text.strip_prefix("0x");
    digits.is_some_and(|digits| {
        !digits.is_empty() && digits.bytes().all(|digit| digit.is_ascii_hexdigit())
    })
}

/// Of an inlined function that only one file can see, debug information of C++ has no
/// parameters. It is the one function of that name with some, if there is one alone, and
/// if no log has it both ways.
fn whole_names(texts: &[Vec<String>; 2]) -> HashMap<&str, &str> {
    let known = texts.each_ref().map(|texts| {
        let texts = texts.iter().map(String::as_str);
        texts.collect::<HashSet<&str>>()
    });
    let mut wholes: HashMap<&str, Option<&str>> = HashMap::new();
    for &text in known.iter().flatten() {
        if let Some(bare) = bare(text) {
            let one = wholes.entry(bare).or_insert(Some(text));
            if *one != Some(text) {
                *one = None;
            }
        }
    }
    let single = wholes.into_iter().filter_map(|(bare, whole)| {
        let whole = whole?;
        let is_both = |known: &HashSet<&str>| known.contains(bare) && known.contains(whole);
        let is_there = known.iter().any(|known| known.contains(bare));
        (is_there && !known.iter().any(is_both)).then_some((bare, whole))
    });
    single.collect()
}
