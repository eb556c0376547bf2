//! Who made a file's code, and how much of that its unwind tables cover: what
//! to advise where stacks are cut in it.

use gimli::{BaseAddresses, CieOrFde, EhFrame, EndianSlice, RunTimeEndian, UnwindSection};
use object::read::{Object, ObjectSection};
use object::{SectionFlags, elf};

use crate::elf_file::ElfFile;

/// Whose code is in a file besides that of a C library's start files.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Compiler {
    /// GCC or clang, whatever the language.
    C,
    /// rustc.
    Rust,
    /// Go's own.
    Go,
    /// GHC, for Haskell.
    Haskell,
    /// The file does not say, as stripped ones may not.
    Unknown,
}

/// What a file says of its code.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Unwindable {
    /// Who made it.
    pub compiler: Compiler,
    /// Bytes of code.
    pub code_bytes: u64,
    /// Bytes of it that .eh_frame has rules for.
    pub covered_bytes: u64,
}

/// What there is in this many entries of .eh_frame stands for all.
const MOST_ENTRIES: usize = 4_000_000;

impl Unwindable {
    /// Looks at a file; `None` if it is no ELF file that can be read.
    pub fn of(file: &[u8]) -> Option<Self> {
        let image = ElfFile::parse(Vec::new(), file).ok()?;
        let code = image.elf.sections().filter(|section| {
            matches!(section.flags(),
                SectionFlags::Elf { sh_flags, .. } if sh_flags.contains(elf::SHF_EXECINSTR))
        });
        let sizes = code.map(|section| section.size());
        Some(Self {
            compiler: compiler(&image),
            code_bytes: sizes.fold(0, u64::saturating_add),
            covered_bytes: covered(&image),
        })
    }
}

fn compiler(image: &ElfFile) -> Compiler {
    let has = |name| image.elf.section_by_name(name).is_some();
    if has(".note.go.buildid") || has(".gopclntab") || has(".data.rel.ro.gopclntab") {
        return Compiler::Go;
    }
    let comment = image.elf.section_by_name(".comment");
    let comment = comment.and_then(|section| section.data().ok());
    let mut said = comment.unwrap_or(&[]).split(|&byte| byte == 0);
    let mut found = Compiler::Unknown;
    // Each file linked in says who made it; C is in all of them.
    said.by_ref().for_each(|text| {
        let begins = |with: &str| text.starts_with(with.as_bytes());
        let has = |word: &[u8]| text.windows(word.len()).any(|bytes| bytes == word);
        if begins("GHC ") {
            found = Compiler::Haskell;
        } else if begins("rustc ") && found != Compiler::Haskell {
            found = Compiler::Rust;
        } else if found == Compiler::Unknown && (begins("GCC: ") || has(b"clang version")) {
            found = Compiler::C;
        }
    });
    found
}

/// Bytes of code that the rules in .eh_frame are for; what is damaged in it ends the count.
fn covered(image: &ElfFile) -> u64 {
    let mut sum = 0u64;
    let sections = image.elf.sections();
    // Linkers other than GNU's may leave two.
    for section in sections.filter(|section| section.name() == Ok(".eh_frame")) {
        let data = section.data().unwrap_or(&[]);
        let mut frames: EhFrame<EndianSlice<RunTimeEndian>> = EhFrame::new(data, image.endian());
        frames.set_address_size(if image.elf.is_64() { 8 } else { 4 });
        let bases = BaseAddresses::default().set_eh_frame(section.address());
        let mut entries = frames.entries(&bases);
        for _ in 0..MOST_ENTRIES {
            let Ok(Some(entry)) = entries.next() else {
                break;
            };
            if let CieOrFde::Fde(partial) = entry
                && let Ok(fde) = partial.parse(EhFrame::cie_from_offset)
            {
                sum = sum.saturating_add(fde.len());
            }
        }
    }
    sum
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn this_test_is_rustcs_and_has_tables() {
        let file = std::fs::read("/proc/self/exe").expect("read");
        let seen = Unwindable::of(&file).expect("an ELF file");
        assert_eq!(seen.compiler, Compiler::Rust);
        assert!(seen.covered_bytes * 2 > seen.code_bytes, "{seen:?}");
        assert!(seen.covered_bytes <= seen.code_bytes * 2, "{seen:?}");
    }

    #[test]
    fn damage_is_no_panic() {
        assert_eq!(Unwindable::of(b"no ELF"), None);
        let mut file = std::fs::read("/proc/self/exe").expect("read");
        file.truncate(4096);
        let _ = Unwindable::of(&file);
    }
}
