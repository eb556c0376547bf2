//! Functions, files, lines and inlined callers from debug information.

use std::cell::{OnceCell, RefCell};
use std::collections::HashMap;
use std::rc::Rc;
use std::sync::Arc;

use addr2line::{Context, LookupContinuation, LookupResult};
use gimli::{DwLang, UnitHeader, UnitOffset, UnitRef, UnitType};

use crate::elf_file::ElfFile;
use crate::intervals::Intervals;
use crate::source::{FileSource, Store};
use crate::split::Split;
use crate::units::{Slice, Unit};

/// More ranges of units than this are not believed.
const MAX_UNIT_RANGES: usize = 16 << 20;
/// Inlined functions at one address that are reported.
const MAX_FRAMES: usize = 512;

pub(crate) struct DebugInfo<'a> {
    context: Context<Slice<'a>>,
    split: Split<'a>,
    guard: Guard<'a>,
    /// Units by the address of their file's sections and their offset.
    units: RefCell<HashMap<UnitKey, Option<Rc<Unit<'a>>>>>,
}

type UnitKey = (usize, usize);

/// A function as the debug information has it.
pub(crate) struct RawFrame<'a> {
    pub name: Option<&'a [u8]>,
    pub language: Option<DwLang>,
    pub entry: Option<UnitOffset>,
    pub file: Option<String>,
    pub line: Option<u32>,
}

impl<'a> DebugInfo<'a> {
    /// Reads the units' headers; `common` is dwz's file.
    pub(crate) fn open(
        image: &ElfFile<'a>,
        common: Option<&ElfFile<'a>>,
        split: Split<'a>,
        store: &'a Store,
        notes: &mut Vec<String>,
    ) -> Option<Self> {
        let mut dwarf = gimli::Dwarf::load(|id| {
            // Without .debug_aranges there is one truth about which unit has an address,
            // and the guard knows it.
            let name = if id == gimli::SectionId::DebugAranges {
                ""
            } else {
                id.name()
            };
            Ok::<_, gimli::Error>(image.reader(name, store, notes))
        })
        .ok()?;
        if let Some(common) = common {
            dwarf
                .load_sup(|id| Ok::<_, gimli::Error>(common.reader(id.name(), store, notes)))
                .ok()?;
        }
        dwarf.populate_abbreviations_cache(gimli::AbbreviationsCacheStrategy::Duplicates);
        let dwarf = Arc::new(dwarf);
        let opened = Guard::new(dwarf.clone()).and_then(|guard| {
            let context = Context::from_arc_dwarf(dwarf).map_err(|error| error.to_string())?;
            Ok((guard, context))
        });
        match opened {
            Ok((guard, context)) => Some(Self {
                context,
                split,
                guard,
                units: RefCell::default(),
            }),
            Err(error) => {
                let path = crate::paths::show(&image.path);
                notes.push(format!(
                    "the debug information of {path} is damaged: {error}"
                ));
                None
            }
        }
    }

    pub(crate) fn notes(&self) -> Vec<String> {
        self.split.notes()
    }

    /// The functions at an address, innermost first; empty if nothing is known.
    pub(crate) fn frames(&self, source: &impl FileSource, address: u64) -> Vec<RawFrame<'a>> {
        if address == u64::MAX || !self.guard.allows(address) {
            return Vec::new();
        }
        let Ok(mut found) = self.resolve(source, self.context.find_frames(address)) else {
            return Vec::new();
        };
        let mut frames = Vec::new();
        let mut language = None;
        while frames.len() < MAX_FRAMES
            && let Ok(Some(frame)) = found.next()
        {
            let location = frame.location.as_ref();
            if let Some(function) = &frame.function
                && language.is_none()
            {
                language = function.language.or_else(|| self.language(source, address));
            }
            frames.push(RawFrame {
                name: frame
                    .function
                    .as_ref()
                    .map(|function| function.name.slice()),
                language,
                entry: frame.dw_die_offset,
                file: location.and_then(|at| at.file).map(str::to_owned),
                line: location.and_then(|at| at.line).filter(|line| *line > 0),
            });
        }
        frames
    }

    /// The name of a frame at `address` with its namespaces, types and modules.
    pub(crate) fn qualified(
        &self,
        source: &impl FileSource,
        address: u64,
        frame: &RawFrame<'a>,
    ) -> Option<String> {
        let unit = self.resolve(source, self.context.find_dwarf_and_unit(address))?;
        let offset = unit.header.offset();
        let key = (std::ptr::from_ref(unit.dwarf).addr(), offset.0);
        let scan = || Unit::scan(unit, is_fortran(frame.language)).map(Rc::new);
        let scanned = self
            .units
            .borrow_mut()
            .entry(key)
            .or_insert_with(scan)
            .clone()?;
        scanned.qualified(unit, frame.entry?)
    }

    /// The language of a split unit; the library looks for it in the part that was not split off.
    fn language(&self, source: &impl FileSource, address: u64) -> Option<DwLang> {
        let unit = self.resolve(source, self.context.find_dwarf_and_unit(address))?;
        let root = unit.entry(unit.header.root_offset()).ok()?;
        match root.attr_value(gimli::DW_AT_language)? {
            gimli::AttributeValue::Language(language) => Some(language),
            _ => None,
        }
    }

    /// Answers the library's questions for split files.
    fn resolve<L>(&self, source: &impl FileSource, mut result: LookupResult<L>) -> L::Output
    where
        L: LookupContinuation<Buf = Slice<'a>>,
    {
        loop {
            match result {
                LookupResult::Output(output) => return output,
                LookupResult::Load { load, continuation } => {
                    result = continuation.resume(self.split.load(source, &load));
                }
            }
        }
    }
}

pub(crate) fn is_fortran(language: Option<DwLang>) -> bool {
    matches!(
        language,
        Some(
            gimli::DW_LANG_Fortran77
                | gimli::DW_LANG_Fortran90
                | gimli::DW_LANG_Fortran95
                | gimli::DW_LANG_Fortran03
                | gimli::DW_LANG_Fortran08
                | gimli::DW_LANG_Fortran18
        )
    )
}

/// Whether functions of a language live in scopes; C's do not.
pub(crate) fn has_scopes(language: Option<DwLang>) -> bool {
    !matches!(
        language,
        None | Some(
            gimli::DW_LANG_C
                | gimli::DW_LANG_C89
                | gimli::DW_LANG_C99
                | gimli::DW_LANG_C11
                | gimli::DW_LANG_C17
                | gimli::DW_LANG_ObjC
                | gimli::DW_LANG_Mips_Assembler
        )
    )
}

/// Looks through a unit before the library does: the library follows nested inlined functions
/// by recursion without a limit, and a crafted file would end the process.
struct Guard<'a> {
    dwarf: Arc<gimli::Dwarf<Slice<'a>>>,
    headers: Vec<UnitHeader<Slice<'a>>>,
    /// Which units claim an address.
    ranges: Intervals<usize>,
    /// Units without ranges: they may turn up at any address.
    everywhere: Vec<usize>,
    everywhere_safe: OnceCell<bool>,
    /// What was found, by unit.
    safe: RefCell<Vec<Option<bool>>>,
}

impl<'a> Guard<'a> {
    fn new(dwarf: Arc<gimli::Dwarf<Slice<'a>>>) -> Result<Self, String> {
        let mut headers = Vec::new();
        let mut all = Vec::new();
        let mut everywhere = Vec::new();
        let mut units = dwarf.units();
        while let Some(header) = units.next().map_err(|error| error.to_string())? {
            if !has_code(&header) {
                continue;
            }
            let (index, before) = (headers.len(), all.len());
            headers.push(header);
            if let Ok(unit) = dwarf.unit(header)
                && let Ok(mut ranges) = dwarf.unit_ranges(&unit)
            {
                while let Ok(Some(range)) = ranges.next() {
                    all.push((range.begin, range.end, index));
                    if all.len() > MAX_UNIT_RANGES {
                        return Err("its units have too many address ranges".to_owned());
                    }
                }
            }
            if all[before..].iter().all(|(begin, end, _)| begin >= end) {
                everywhere.push(index);
            }
        }
        Ok(Self {
            dwarf,
            safe: RefCell::new(vec![None; headers.len()]),
            headers,
            ranges: Intervals::new(all),
            everywhere,
            everywhere_safe: OnceCell::new(),
        })
    }

    fn allows(&self, address: u64) -> bool {
        let everywhere = || self.everywhere.iter().all(|index| self.is_safe(*index));
        let mut safe = self.safe.borrow_mut();
        let mut claims = self.ranges.holding(address).map(|range| range.value);
        claims.all(|index| *safe[index].get_or_insert_with(|| self.is_safe(index)))
            && *self.everywhere_safe.get_or_init(everywhere)
    }

    fn is_safe(&self, index: usize) -> bool {
        let Ok(unit) = self.dwarf.unit(self.headers[index]) else {
            // The library skips it too.
            return true;
        };
        Unit::scan(UnitRef::new(&self.dwarf, &unit), false).is_some()
    }
}

/// Partial and type units are referred to, never looked up by address.
fn has_code(header: &UnitHeader<Slice<'_>>) -> bool {
    !matches!(
        header.type_(),
        UnitType::Partial | UnitType::Type { .. } | UnitType::SplitType { .. }
    )
}
