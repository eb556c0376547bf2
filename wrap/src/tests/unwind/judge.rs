//! Every row of many real files, against gimli.

use super::loaded::Loaded;
use super::same::{Slice, difference};
use crate::platform::arch::RA;
use crate::platform::rules::Saved;
use crate::tests::memory::Zeroed;
use crate::unwind::cfi::{FrameIndexes, describe};
use crate::unwind::row::Machine;
use gimli::{BaseAddresses, CieOrFde, EhFrame, FrameDescriptionEntry, NativeEndian};
use gimli::{UnwindContext, UnwindSection};
use std::path::{Path, PathBuf};
use std::process::Command;

/// Descriptions compared of one file, at most: cc1plus has 60,000.
const MOST: usize = 6_000;

/// Reads one file both ways.
struct Judge<'a> {
    loaded: &'a Loaded,
    section: EhFrame<Slice>,
    bases: BaseAddresses,
    context: UnwindContext<usize>,
    index: Box<FrameIndexes>,
    machine: Box<Machine>,
    compared: usize,
    differences: Vec<String>,
}

impl<'a> Judge<'a> {
    fn new(loaded: &'a Loaded) -> Self {
        Self {
            loaded,
            section: EhFrame::new(loaded.frames(), NativeEndian),
            bases: BaseAddresses::default().set_eh_frame(loaded.frames),
            context: UnwindContext::new(),
            index: FrameIndexes::zeroed(),
            machine: Machine::zeroed(),
            compared: 0,
            differences: Vec::new(),
        }
    }

    /// All descriptions that cover code.
    fn descriptions(&self) -> Vec<FrameDescriptionEntry<Slice>> {
        let mut found = Vec::new();
        let mut entries = self.section.entries(&self.bases);
        while let Some(entry) = entries.next().unwrap() {
            if let CieOrFde::Fde(partial) = entry {
                found.push(partial.parse(EhFrame::cie_from_offset).unwrap());
            }
        }
        found.retain(|description| description.len() > 0);
        found.sort_by_key(FrameDescriptionEntry::initial_address);
        found
    }

    /// Compares one address, of which gimli knows the description and the row.
    fn compare(
        &mut self,
        theirs: &FrameDescriptionEntry<Slice>,
        row: &super::same::TheirRow,
        address: u64,
    ) {
        let problem = match describe(&self.loaded.module, address, &mut self.index) {
            None => Some("no description".to_string()),
            Some(ours)
                if (ours.start, ours.end) != (theirs.initial_address(), theirs.end_address()) =>
            {
                Some(format!("described by {:#x}..{:#x}", ours.start, ours.end))
            }
            Some(ours) => {
                assert_eq!(ours.common.is_signal, theirs.is_signal_trampoline());
                assert_eq!(
                    ours.common.return_register,
                    u64::from(theirs.cie().return_address_register().0)
                );
                match self.machine.run(&ours, address) {
                    None => Some("no row".to_string()),
                    // The return address is always mentioned in real files.
                    Some(mine) if mine.of(RA) == Saved::Unset => {
                        Some("no return address".to_string())
                    }
                    Some(mine) => difference(&self.section, mine, row),
                }
            }
        };
        self.compared += 1;
        if let Some(problem) = problem {
            let place = address.wrapping_sub(self.loaded.module.image.bias);
            self.differences.push(format!("{place:#x}: {problem}"));
        }
    }

    /// Compares the edges and the middle of each row.
    fn walk(&mut self, description: &FrameDescriptionEntry<Slice>) {
        let mut context = std::mem::replace(&mut self.context, UnwindContext::new());
        let (section, bases) = (self.section, self.bases.clone());
        let mut rows = description.rows(&section, &bases, &mut context).unwrap();
        while let Some(row) = rows.next_row().unwrap() {
            let (start, end) = (row.start_address(), row.end_address());
            if start >= end {
                continue;
            }
            let row = row.clone();
            for address in [start, start + 1, start + (end - start) / 2, end - 1] {
                if address < end {
                    self.compare(description, &row, address);
                }
            }
        }
        self.context = context;
    }

    /// Between descriptions there is none.
    fn gaps(&mut self, descriptions: &[FrameDescriptionEntry<Slice>]) {
        for two in descriptions.windows(2) {
            let (end, next) = (two[0].end_address(), two[1].initial_address());
            if end < next {
                for address in [end, next - 1] {
                    assert!(describe(&self.loaded.module, address, &mut self.index).is_none());
                }
            }
        }
    }
}

/// Compares a file, every n-th description of a large one; how many addresses.
fn judge(path: &Path) -> Option<usize> {
    let loaded = Loaded::map(path)?;
    let mut judge = Judge::new(&loaded);
    let descriptions = judge.descriptions();
    let every = descriptions.len().div_ceil(MOST).max(1);
    for description in descriptions.iter().step_by(every) {
        judge.walk(description);
    }
    judge.gaps(&descriptions);
    let wrong = judge.differences.len();
    let first: Vec<_> = judge.differences.iter().take(9).collect();
    assert_eq!(wrong, 0, "{path:?}, of {}: {first:#?}", judge.compared);
    println!(
        "{}: {} descriptions, {} addresses",
        path.display(),
        descriptions.len(),
        judge.compared
    );
    Some(judge.compared)
}

/// The program and its libraries; other tests map other files meanwhile.
fn own_files() -> Vec<PathBuf> {
    let maps = std::fs::read_to_string("/proc/self/maps").unwrap();
    let paths = maps
        .lines()
        .filter_map(|line| line.split_whitespace().nth(5));
    let libraries = paths.filter(|path| path.starts_with("/usr/lib") && path.contains(".so"));
    let mut files: Vec<_> = libraries.map(PathBuf::from).collect();
    files.push(std::env::current_exe().unwrap());
    files.sort();
    files.dedup();
    files
}

/// The same, programs that nobody here wrote, and those of `MEMLOG_FILES`, which has
/// blanks between them.
pub fn files_to_judge() -> Vec<PathBuf> {
    let mut files = own_files();
    let programs = ["git", "gdb", "perl", "python3"];
    files.extend(programs.map(|name| Path::new("/usr/bin").join(name)));
    let more = std::env::var("MEMLOG_FILES").unwrap_or_default();
    files.extend(more.split_whitespace().map(PathBuf::from));
    files
}

/// What a compiler driver says of a program or library of its own.
fn gcc_file(name: &str) -> Option<PathBuf> {
    let option = format!(
        "{name}={}",
        if name.contains("prog") {
            "cc1plus"
        } else {
            "libstdc++.so.6"
        }
    );
    let said = Command::new("gcc").arg(option).output().ok()?;
    Some(PathBuf::from(String::from_utf8(said.stdout).ok()?.trim()))
}

#[test]
fn the_files_of_this_process() {
    let judged = own_files().into_iter().filter_map(|file| judge(&file));
    let counts: Vec<_> = judged.collect();
    assert!(
        counts.len() >= 4,
        "the test, libc, ld.so, libgcc_s: {}",
        counts.len()
    );
    assert!(counts.iter().sum::<usize>() > 20_000);
}

#[test]
fn programs_of_other_compilers_and_times() {
    let programs = [
        "git", "python3", "perl", "bash", "node", "gdb", "jq", "sqlite3", "gcc", "ld",
    ];
    let mut files: Vec<_> = programs
        .iter()
        .map(|name| Path::new("/usr/bin").join(name))
        .collect();
    files.extend(gcc_file("-print-prog-name"));
    files.extend(gcc_file("-print-file-name"));
    let judged = files.iter().filter_map(|file| judge(file)).count();
    if judged == 0 {
        println!("SKIPPED unwind tables of programs: none of {programs:?} is installed");
    }
}

/// Without --eh-frame-hdr there is no table to search: the recorder makes its
/// own index, of the section that only the file's section table names.
#[test]
fn a_static_program_without_a_search_table() {
    let folder = std::env::temp_dir().join(format!("memlog-static-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    let (source, program) = (folder.join("a.c"), folder.join("a"));
    std::fs::write(&source, "int main(void) { return 0; }\n").unwrap();
    let built = Command::new("gcc")
        .args(["-static", "-Wl,--no-eh-frame-hdr", "-o"])
        .args([&program, &source])
        .output();
    if !built.is_ok_and(|built| built.status.success()) {
        println!("SKIPPED a static program: gcc -static does not work here");
        return;
    }
    let loaded = Loaded::map(&program).unwrap();
    let image = &loaded.module.image;
    assert_eq!(image.header, 0);
    assert_eq!(
        (image.frames, image.frames_bytes),
        (loaded.frames, loaded.frames_bytes)
    );
    assert!(judge(&program).unwrap() > 1_000);
    std::fs::remove_dir_all(folder).unwrap();
}
