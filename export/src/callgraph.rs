//! The call graph of a moment: how much each place in the program holds, by
//! itself and through whom it called.
//!
//! **What a node is.** A function, its file and line, and its module, after
//! names were found, functions that were inlined being places of their own.
//! A return address would be finer than what a reader can tell apart: one line
//! that the compiler copied would fall into several boxes of the same text.
//! So it is as text, where the line that asks for the memory is looked for; in
//! a picture, which is to be seen at a glance, the lines of a function are one
//! place ([`CallGraph::by_function`]). Where there are no lines, function and
//! module remain; where there are no names, module and offset.
//!
//! **What the program mapped itself** is in no heap. One place stands for the
//! call that maps, below all who made it.
//!
//! **What it holds.** The bytes of the stacks that it stands in at least once;
//! a call, those of the stacks that have the step from caller to callee at
//! least once. So recursion counts nothing twice, and no share is above 1.
//!
//! * `trie`, `steps`: stacks to steps, and who stands in which
//! * `functions`: the lines of a function as one place
//! * `picture`: what of it goes onto a page, and how large
//! * `shown`, `runs`, `back`: which places, which of them are one box, and
//!   which calls lead back up
//!
//! Its time goes with the number of different frames under different callers,
//! not with the number of stacks times their depth.

mod back;
mod functions;
mod picture;
mod runs;
mod shown;
mod steps;
mod trie;

use std::collections::HashMap;

use memlog_analysis::{Frame, Held, Line, Name, StackTable};
use memlog_format::table::StackId;

pub use picture::{Picture, picture};
use steps::Steps;
use trie::Trie;

/// A place in the program.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Place {
    /// The function, or module and offset where it has no name.
    pub function: String,
    /// File and line.
    pub location: Option<String>,
    /// The program or library.
    pub module: Option<String>,
}

/// What is known about a frame.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Named {
    /// Its functions, innermost first: all but the last are inlined.
    pub places: Vec<Place>,
    /// The address for people.
    pub address: String,
    /// The linker's symbol and the distance from it.
    pub symbol: Option<String>,
}

/// A place and what it holds.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Entry {
    /// Where.
    pub place: Place,
    /// In stacks that it stands in.
    pub held: Held,
    /// By calling the allocator itself.
    pub own: Held,
    /// Its addresses, the lowest first.
    pub addresses: Vec<String>,
    /// The symbols of those, where known, each once.
    pub symbols: Vec<String>,
    /// It stands for what the program mapped itself: its blocks are mappings.
    pub is_mapped: bool,
}

/// A step from one place into another.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Call {
    /// Index of the caller.
    pub caller: usize,
    /// Index of the callee; the caller itself where a function calls itself.
    pub callee: usize,
    /// In stacks that have this step.
    pub held: Held,
}

/// The call graph of a moment.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CallGraph {
    /// Everything that was held.
    pub total: Held,
    /// What of it the program had mapped itself.
    pub mapped: Held,
    /// The places, those that hold most first.
    pub entries: Vec<Entry>,
    /// The calls, by caller and callee.
    pub calls: Vec<Call>,
    /// The stacks, without what holds nothing.
    steps: Steps,
}

impl CallGraph {
    /// Of what each stack held in the heap at a moment, and of what it had
    /// mapped. `name` is asked once a frame.
    pub fn build(
        stacks: &StackTable,
        held: impl Iterator<Item = (u32, Held)>,
        mapped: impl Iterator<Item = (u32, Held)>,
        name: impl FnMut(&Frame) -> Named,
    ) -> Self {
        let mut trie = Trie::new(Places::new(name));
        let [mut in_heap, mut in_mappings] = [Held::default(); 2];
        for (stack, held) in held {
            in_heap = in_heap.plus(held);
            trie.enter(stacks, stack);
            trie.hold(stack, held);
        }
        for (stack, held) in mapped {
            in_mappings = in_mappings.plus(held);
            trie.enter(stacks, stack);
            trie.map(stack, held);
        }
        let total = in_heap.plus(in_mappings);
        Self {
            mapped: in_mappings,
            ..trie.count(total)
        }
    }

    /// The same of stacks that are named already: `held` is what stacks hold, by the
    /// line that each begins at.
    pub fn of_lines(
        lines: &[Line],
        names: &[Name],
        held: impl Iterator<Item = (u32, Held)>,
    ) -> Self {
        let mut trie = Trie::new(Places::new(|_: &Frame| Named::default()));
        for (line, own) in (0u32..).zip(lines).skip(1) {
            let name = names.get(own.label as usize).cloned();
            trie.line(line, own.callers, name.map_or_else(no_frames, Place::from));
        }
        let mut total = Held::default();
        for (line, held) in held {
            total = total.plus(held);
            trie.hold(line, held);
        }
        trie.count(total)
    }
}

impl From<Name> for Place {
    fn from(name: Name) -> Self {
        Self {
            function: name.function,
            location: name.location,
            module: name.module,
        }
    }
}

/// What stands for a stack without any.
fn no_frames() -> Place {
    Place {
        function: "(no stack)".to_owned(),
        ..Place::default()
    }
}

impl CallGraph {
    /// What of it was in the heap.
    pub fn heap(&self) -> Held {
        self.total.minus(self.mapped)
    }
}

/// What stands innermost where the program mapped memory.
fn mapping() -> Place {
    Place {
        function: "mapped by the program itself".to_owned(),
        ..Place::default()
    }
}

/// What stands outermost where frames are missing.
fn end_of(stacks: &StackTable, root: u32) -> Option<Place> {
    let function = match stacks.root_of(root) {
        Some(StackId::COMPLETE) => return None,
        Some(StackId::NONE) => "(no stack)".to_owned(),
        Some(root) => format!("(stack cut: {})", root.root_name()),
        None => "(stack cut: not in the log)".to_owned(),
    };
    Some(Place {
        function,
        ..Place::default()
    })
}

/// Places by number, and the frames that they are found at.
struct Places<N> {
    name: N,
    index: HashMap<Place, u32>,
    /// In the order of their numbers; what they hold is not known yet.
    entries: Vec<Entry>,
    /// By the frame's index: its places, the outermost first.
    frames: HashMap<u32, Vec<u32>>,
    /// By place: the frames that it is found at.
    found_at: Vec<Vec<(u64, u32)>>,
    texts: HashMap<u32, (String, Option<String>)>,
}

impl<N: FnMut(&Frame) -> Named> Places<N> {
    fn new(name: N) -> Self {
        Self {
            name,
            index: HashMap::new(),
            entries: Vec::new(),
            frames: HashMap::new(),
            found_at: Vec::new(),
            texts: HashMap::new(),
        }
    }

    fn intern(&mut self, place: Place) -> u32 {
        let next = self.entries.len() as u32;
        let number = *self.index.entry(place.clone()).or_insert(next);
        if number == next {
            self.entries.push(Entry {
                place,
                ..Entry::default()
            });
            self.found_at.push(Vec::new());
        }
        number
    }

    /// The places of a frame, the outermost first.
    fn of(&mut self, frame: &Frame) -> &[u32] {
        if !self.frames.contains_key(&frame.index) {
            let named = (self.name)(frame);
            let mut numbers = Vec::with_capacity(named.places.len());
            for place in named.places.into_iter().rev() {
                let number = self.intern(place);
                self.found_at[number as usize].push((frame.site.address, frame.index));
                numbers.push(number);
            }
            self.texts
                .insert(frame.index, (named.address, named.symbol));
            self.frames.insert(frame.index, numbers);
        }
        self.frames.get(&frame.index).map_or(&[], Vec::as_slice)
    }

    /// The entries, told where they are found.
    fn finish(mut self) -> Vec<Entry> {
        for (entry, frames) in self.entries.iter_mut().zip(&mut self.found_at) {
            frames.sort_unstable();
            for (_, frame) in frames {
                let Some((address, symbol)) = self.texts.get(frame) else {
                    continue;
                };
                entry.addresses.push(address.clone());
                entry.symbols.extend(symbol.clone());
            }
            // A function inlined into itself stands twice in a frame.
            entry.addresses.dedup();
            entry.symbols.dedup();
        }
        self.entries
    }
}

/// What only stands between the allocator and who asked it: nobody asks about
/// these, but about their callers. `operator new(unsigned long)` and its
/// relatives, not a class's own; libmemlog_new.so's part of it; and what Rust's
/// global allocator and the buffers of its vectors go through.
pub fn is_part_of_allocator(function: &str) -> bool {
    const RUST: [&str; 15] = [
        "__rust_",
        "__rdl_",
        "__rg_",
        "__rustc::__",
        "alloc::alloc::",
        "<alloc::alloc::Global as ",
        "<alloc::alloc::Global>::",
        "<std::alloc::System as ",
        "<hashbrown::raw::alloc::inner::Global as ",
        "hashbrown::raw::alloc::inner::",
        "alloc::raw_vec::",
        "<alloc::raw_vec::",
        "std::sys::alloc::",
        "std::sys::pal::unix::alloc::",
        "std::sys::unix::alloc::",
    ];
    if function == "memlog_new" || RUST.iter().any(|start| function.starts_with(start)) {
        return !function.starts_with("alloc::alloc::handle_alloc_error");
    }
    let rest = function.strip_prefix("operator new");
    let rest = rest.map(|rest| rest.strip_prefix("[]").unwrap_or(rest));
    rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('('))
}

#[cfg(test)]
mod tests {
    use super::is_part_of_allocator;

    #[test]
    fn only_the_operator_itself_is_left_out() {
        assert!(is_part_of_allocator("operator new(unsigned long)"));
        assert!(is_part_of_allocator(
            "operator new[](unsigned long, std::align_val_t)"
        ));
        assert!(!is_part_of_allocator("Pool::operator new(unsigned long)"));
        assert!(!is_part_of_allocator("operator newest()"));
        assert!(!is_part_of_allocator("main"));
        for rust in [
            "memlog_new",
            "__rust_alloc",
            "__rustc::__rust_realloc",
            "alloc::alloc::alloc",
            "<alloc::alloc::Global as core::alloc::Allocator>::allocate",
            "std::sys::pal::unix::alloc::aligned_malloc",
            "std::sys::unix::alloc::<impl core::alloc::global::GlobalAlloc for std::alloc::System>::alloc",
            "std::sys::alloc::unix::<impl core::alloc::global::GlobalAlloc for std::alloc::System>::alloc",
        ] {
            assert!(is_part_of_allocator(rust), "{rust}");
        }
        assert!(is_part_of_allocator("alloc::raw_vec::finish_grow"));
        assert!(!is_part_of_allocator("alloc::vec::Vec<T,A>::push"));
        assert!(!is_part_of_allocator("alloc::alloc::handle_alloc_error"));
    }
}
