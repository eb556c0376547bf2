//! Functions, files, lines and inlined callers from debug information.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

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
pub(crate) const MAX_FRAMES: usize = 512;

/// What the debug information of a module says of itself: any thread may ask.
pub(crate) struct DebugInfo<'a> {
    dwarf: Arc<gimli::Dwarf<Slice<'a>>>,
    split: Split<'a>,
    guard: Guard<'a>,
    /// For the first reader.
    context: Mutex<Option<Context<Slice<'a>>>>,
}

/// A function as the debug information has it.
pub(crate) struct RawFrame<'a> {
    pub name: Option<&'a [u8]>,
    pub language: Option<DwLang>,
    pub entry: Option<UnitOffset>,
    pub file: Option<Arc<str>>,
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
            let context = Context::from_arc_dwarf(dwarf.clone());
            Ok((guard, context.map_err(|error| error.to_string())?))
        });
        match opened {
            Ok((guard, context)) => Some(Self {
                dwarf,
                split,
                guard,
                context: Mutex::new(Some(context)),
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

    /// Whether anything asked so far is in files of split debug information.
    pub(crate) fn is_split(&self) -> bool {
        self.split.is_asked()
    }
}

/// Reads debug information for one thread, and keeps what it has read.
pub(crate) struct Reader<'a> {
    context: Context<Slice<'a>>,
    /// Units by the address of their file's sections and their offset.
    units: HashMap<UnitKey, Option<Unit<'a>>>,
    /// By the address of their text in the context, which stays there.
    files: HashMap<(usize, usize), Arc<str>>,
    /// Names with what stands around them, by unit and entry.
    qualified: HashMap<(UnitKey, UnitOffset), Option<Arc<str>>>,
}

pub(crate) type UnitKey = (usize, usize);

impl<'a> Reader<'a> {
    /// A further one reads the units' headers again.
    pub(crate) fn new(debug: &DebugInfo<'a>) -> Option<Self> {
        let first = debug.context.lock().unwrap_or_else(PoisonError::into_inner);
        let first = { first }.take();
        let context = first.or_else(|| Context::from_arc_dwarf(debug.dwarf.clone()).ok())?;
        Some(Self {
            context,
            units: HashMap::new(),
            files: HashMap::new(),
            qualified: HashMap::new(),
        })
    }

    /// The functions at an address, innermost first; empty if nothing is known.
    pub(crate) fn frames(
        &mut self,
        debug: &DebugInfo<'a>,
        source: &impl FileSource,
        address: u64,
    ) -> Vec<RawFrame<'a>> {
        if address == u64::MAX || !debug.guard.allows(address) {
            return Vec::new();
        }
        let found = self.context.find_frames(address);
        let Ok(mut found) = debug.resolve(source, found) else {
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
                let of_unit = || language_at(&self.context, debug, source, address);
                language = function.language.or_else(of_unit);
            }
            let file = location.and_then(|at| at.file).map(|file| {
                let key = (file.as_ptr().addr(), file.len());
                self.files.entry(key).or_insert_with(|| file.into()).clone()
            });
            frames.push(RawFrame {
                name: frame
                    .function
                    .as_ref()
                    .map(|function| function.name.slice()),
                language,
                entry: frame.dw_die_offset,
                file,
                line: location.and_then(|at| at.line).filter(|line| *line > 0),
            });
        }
        frames
    }

    /// The name of a frame at `address` with its namespaces, types and modules. `unit` is that
    /// of the address, once it is known.
    pub(crate) fn qualified(
        &mut self,
        debug: &DebugInfo<'a>,
        source: &impl FileSource,
        (address, unit): (u64, &mut Option<UnitKey>),
        frame: &RawFrame<'a>,
    ) -> Option<Arc<str>> {
        let entry = frame.entry?;
        if let Some(unit) = *unit
            && let Some(known) = self.qualified.get(&(unit, entry))
        {
            return known.clone();
        }
        let found = self.context.find_dwarf_and_unit(address);
        let found = debug.resolve(source, found)?;
        let key = (
            std::ptr::from_ref(found.dwarf).addr(),
            found.header.offset().0,
        );
        *unit = Some(key);
        let name = || {
            let scan = || Unit::scan(found, is_fortran(frame.language));
            let scanned = self.units.entry(key).or_insert_with(scan).as_ref()?;
            scanned.qualified(found, entry).map(Arc::from)
        };
        let known = self.qualified.entry((key, entry));
        known.or_insert_with(name).clone()
    }
}

/// The language of a split unit; the library looks for it in the part that was not split off.
fn language_at<'a>(
    context: &Context<Slice<'a>>,
    debug: &DebugInfo<'a>,
    source: &impl FileSource,
    address: u64,
) -> Option<DwLang> {
    let unit = debug.resolve(source, context.find_dwarf_and_unit(address))?;
    let root = unit.entry(unit.header.root_offset()).ok()?;
    match root.attr_value(gimli::DW_AT_language)? {
        gimli::AttributeValue::Language(language) => Some(language),
        _ => None,
    }
}

impl<'a> DebugInfo<'a> {
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
    everywhere_safe: OnceLock<bool>,
    /// What was found, by unit.
    safe: Vec<OnceLock<bool>>,
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
            safe: headers.iter().map(|_| OnceLock::new()).collect(),
            headers,
            ranges: Intervals::new(all),
            everywhere,
            everywhere_safe: OnceLock::new(),
        })
    }

    fn allows(&self, address: u64) -> bool {
        let everywhere = || self.everywhere.iter().all(|index| self.is_safe(*index));
        let mut claims = self.ranges.holding(address).map(|range| range.value);
        claims.all(|index| *self.safe[index].get_or_init(|| self.is_safe(index)))
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
