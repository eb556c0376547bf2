//! Names from symbol tables: sorted once a module, one binary search a question.

use std::cmp::{Ordering, Reverse};

use object::read::{Architecture, Object, ObjectSection, ObjectSymbol};
use object::{SectionFlags, SymbolFlags, elf};

use crate::demangle;
use crate::elf_file::ElfFile;
use crate::intervals::Intervals;
use crate::opd::Descriptors;

pub(crate) struct SymbolTable<'a> {
    symbols: Intervals<Symbol<'a>>,
    /// Whether plain `proc_` is a Fortran name in this module.
    pub fortran: bool,
}

/// What the table says of one address.
pub(crate) struct Found<'a> {
    pub name: &'a [u8],
    pub offset: u64,
}

/// A symbol; the greatest of several at one address is the one to show.
#[derive(PartialEq, Eq)]
struct Symbol<'a> {
    rank: u8,
    name: &'a [u8],
}

/// So many symbols around one address are looked at; honest files have a handful.
const MAX_NESTED: usize = 64;

const IS_FUNCTION: u8 = 4;
const HAS_SIZE: u8 = 2;
const IS_SHARED: u8 = 1;

impl Ord for Symbol<'_> {
    /// After the rank, the friendlier of two aliases: `memalign` before `__libc_memalign`.
    fn cmp(&self, other: &Self) -> Ordering {
        let underscores = |name: &[u8]| name.iter().take_while(|&&b| b == b'_').count();
        let friendly = |name| Reverse((underscores(name), name.len(), name));
        let by_rank = self.rank.cmp(&other.rank);
        by_rank.then_with(|| friendly(self.name).cmp(&friendly(other.name)))
    }
}

impl PartialOrd for Symbol<'_> {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

/// A symbol before sizes are known; a size of zero reaches to the next symbol.
struct Raw<'a> {
    begin: u64,
    size: u64,
    section_end: u64,
    symbol: Symbol<'a>,
}

impl<'a> SymbolTable<'a> {
    /// Reads the full tables of `images` (the debug file, the module); if there is none, the
    /// dynamic symbols of the last one and the full table of `mini`.
    pub(crate) fn new(images: &[&ElfFile<'a>], mini: Option<&ElfFile<'a>>) -> Self {
        let descriptors = images.iter().rev().find_map(|image| Descriptors::of(image));
        let mut reading = Reading {
            descriptors,
            raw: Vec::new(),
            fortran: false,
        };
        for image in images {
            reading.read(image, image.elf.symbols());
        }
        if reading.raw.is_empty() {
            if let Some(mini) = mini {
                reading.read(mini, mini.elf.symbols());
            }
            if let Some(image) = images.last() {
                reading.read(image, image.elf.dynamic_symbols());
            }
        }
        let fortran = reading.fortran;
        Self {
            symbols: reading.into_intervals(),
            fortran,
        }
    }

    /// The symbol that covers an address. A function that says its size wins over labels inside
    /// it; an address in no function has no name.
    pub(crate) fn find(&self, address: u64) -> Option<Found<'a>> {
        let sure = IS_FUNCTION | HAS_SIZE;
        let mut label = None;
        let mut found = None;
        for item in self.symbols.holding(address).take(MAX_NESTED) {
            if item.value.rank & sure == sure {
                found = Some(item);
                break;
            }
            label = label.or(Some(item));
        }
        let item = found.or(label)?;
        Some(Found {
            name: item.value.name,
            offset: address - item.begin,
        })
    }
}

struct Reading<'a> {
    descriptors: Option<Descriptors<'a>>,
    raw: Vec<Raw<'a>>,
    fortran: bool,
}

impl<'a> Reading<'a> {
    fn read<'f, S>(&mut self, image: &'f ElfFile<'a>, symbols: impl Iterator<Item = S>)
    where
        S: ObjectSymbol<'a>,
    {
        let code = CodeSections::of(image, self.descriptors.is_some());
        let lacks_descriptors =
            self.descriptors.is_none() && image.elf.section_by_name(".opd").is_some();
        let thumb = image.elf.architecture() == Architecture::Arm;
        for symbol in symbols {
            let Ok(name) = symbol.name_bytes() else {
                continue;
            };
            self.fortran |= demangle::is_sure_sign_of_fortran(name);
            let Some(section_end) = symbol.section_index().and_then(|at| code.end(at.0)) else {
                continue;
            };
            let Some(rank) = rank(&symbol) else { continue };
            if name.is_empty() || name[0] == b'$' {
                // `$x`, `$d`: marks of the assembler on ARM and RISC-V.
                continue;
            }
            let name = &name[..name.len().min(demangle::MAX_RAW_NAME)];
            if lacks_descriptors && symbol.size() == 0 {
                // The functions that would end this label are not known.
                continue;
            }
            let mut raw = Raw {
                begin: symbol.address(),
                size: symbol.size(),
                section_end,
                symbol: Symbol { rank, name },
            };
            if let Some(descriptors) = &self.descriptors {
                let code_address = descriptors.code_address(raw.begin);
                if code_address != raw.begin {
                    (raw.begin, raw.section_end) =
                        (code_address, code.end_of_address(code_address));
                }
                // Old compilers also name the code itself, with a dot before.
                raw.symbol.name = name
                    .strip_prefix(b".")
                    .filter(|n| !n.is_empty())
                    .unwrap_or(name);
            } else if thumb && rank & IS_FUNCTION != 0 {
                raw.begin &= !1;
            }
            self.raw.push(raw);
        }
    }

    fn into_intervals(mut self) -> Intervals<Symbol<'a>> {
        self.raw.sort_unstable_by_key(|raw| raw.begin);
        let mut next = u64::MAX;
        let mut at = u64::MAX;
        // From the last symbol back: `next` is the first begin above the current one.
        for raw in self.raw.iter_mut().rev() {
            if raw.begin < at {
                (next, at) = (at, raw.begin);
            }
            if raw.size == 0 {
                raw.size = next.min(raw.section_end).saturating_sub(raw.begin);
            }
        }
        Intervals::new(
            self.raw
                .into_iter()
                .map(|raw| (raw.begin, raw.begin.saturating_add(raw.size), raw.symbol)),
        )
    }
}

/// Functions and labels have a rank; objects, files, sections and thread-local names have none.
fn rank<'a>(symbol: &impl ObjectSymbol<'a>) -> Option<u8> {
    let SymbolFlags::Elf { st_info, .. } = symbol.flags() else {
        return None;
    };
    let mut rank = match st_info.st_type() {
        elf::STT_FUNC | elf::STT_GNU_IFUNC => IS_FUNCTION,
        elf::STT_NOTYPE => 0,
        _ => return None,
    };
    if symbol.size() > 0 {
        rank |= HAS_SIZE;
    }
    if st_info.st_bind() != elf::STB_LOCAL {
        rank |= IS_SHARED;
    }
    Some(rank)
}

/// Which sections hold code, and where each ends.
struct CodeSections {
    /// By section index: begin and end, for code and for `.opd`, whose symbols stand for code.
    ranges: Vec<Option<(u64, u64)>>,
}

impl CodeSections {
    /// A file of debug information alone has the symbols of descriptors but not what they point
    /// at: without the module such a symbol says nothing of code.
    fn of(image: &ElfFile<'_>, has_descriptors: bool) -> Self {
        let mut ranges = Vec::new();
        for section in image.elf.sections() {
            let SectionFlags::Elf { sh_flags, .. } = section.flags() else {
                continue;
            };
            let index = section.index().0;
            let of_code = match section.name_bytes() {
                Ok(b".opd") => has_descriptors,
                _ => sh_flags.contains(elf::SHF_EXECINSTR),
            };
            if of_code {
                ranges.resize(ranges.len().max(index + 1), None);
                let begin = section.address();
                ranges[index] = Some((begin, begin.saturating_add(section.size())));
            }
        }
        Self { ranges }
    }

    fn end(&self, index: usize) -> Option<u64> {
        self.ranges
            .get(index)
            .copied()
            .flatten()
            .map(|(_, end)| end)
    }

    fn end_of_address(&self, address: u64) -> u64 {
        let holding = |(begin, end): &&(u64, u64)| (*begin..*end).contains(&address);
        self.ranges
            .iter()
            .flatten()
            .take(64)
            .find(holding)
            .map_or(address, |&(_, end)| end)
    }
}
