//! Joins what debug information and symbol tables say of an address, for one thread.

use std::collections::{BTreeMap, HashMap};
use std::hash::{Hash, Hasher};
use std::sync::Arc;

use crate::demangle::{self, Hint, MAX_RAW_NAME, Outcome};
use crate::dwarf::{self, DebugInfo, RawFrame, Reader, UnitKey};
use crate::ground::{Ground, Module};
use crate::module::{Frame, Lookup, ModuleHandle};
use crate::source::FileSource;
use crate::symtab;

/// What one thread has read of the modules, and the texts that it has made.
#[derive(Default)]
pub(crate) struct Lane<'a> {
    readers: HashMap<ModuleHandle, Option<Reader<'a>>>,
    words: Words<'a>,
    /// Answers that the caller wants to keep.
    fresh: BTreeMap<(ModuleHandle, u64), Lookup>,
}

/// The same few thousand names come back at every address.
#[derive(Default)]
struct Words<'a>(HashMap<(InFile<'a>, Hint), Word>);

/// Bytes of a file, told from others by where they lie: names are long.
#[derive(Clone, Copy)]
struct InFile<'a>(&'a [u8]);

impl PartialEq for InFile<'_> {
    fn eq(&self, other: &Self) -> bool {
        std::ptr::eq(self.0, other.0)
    }
}

impl Eq for InFile<'_> {}

impl Hash for InFile<'_> {
    fn hash<H: Hasher>(&self, state: &mut H) {
        (self.0.as_ptr().addr(), self.0.len()).hash(state);
    }
}

#[derive(Clone)]
struct Word {
    raw: Arc<str>,
    outcome: Outcome,
}

/// An address of a module, with what is asked for its names.
struct Place<'p, 'a, S> {
    debug: &'p DebugInfo<'a>,
    source: &'p S,
    svma: u64,
    unit: Option<UnitKey>,
}

impl<'a> Lane<'a> {
    pub(crate) fn lookup<S: FileSource>(
        &mut self,
        ground: &Ground<'_, 'a, S>,
        handle: ModuleHandle,
        svma: u64,
    ) -> Lookup {
        let Some(module) = ground.modules.get(handle.0) else {
            return Lookup::default();
        };
        let known = module.cached.as_ref();
        if let Some(known) = known.and_then(|cached| cached.find(svma)) {
            return known;
        }
        let found = self.read(ground, (handle, module), svma);
        if module.is_cached {
            self.fresh.insert((handle, svma), found.clone());
        }
        found
    }

    /// What was not known of a module before.
    pub(crate) fn fresh(&self, module: ModuleHandle) -> impl Iterator<Item = (u64, &Lookup)> {
        let all = (module, 0)..=(module, u64::MAX);
        let all = self.fresh.range(all);
        all.map(|((_, svma), lookup)| (*svma, lookup))
    }

    /// Looks into the files.
    fn read<S: FileSource>(
        &mut self,
        ground: &Ground<'_, 'a, S>,
        (handle, module): (ModuleHandle, &Module<'a>),
        svma: u64,
    ) -> Lookup {
        let symbols = module.symbols();
        let symbol = symbols.find(svma);
        let hint = hint(symbols.fortran);
        let mut frames = match module.debug_info(ground) {
            None => Vec::new(),
            Some(debug) => {
                let place = Place {
                    debug,
                    source: ground.source,
                    svma,
                    unit: None,
                };
                let reader = self.readers.entry(handle);
                let reader = reader.or_insert_with(|| Reader::new(debug)).as_mut();
                let frames = reader.map(|reader| self.words.frames(reader, place));
                frames.unwrap_or_default()
            }
        };
        if let Some(symbol) = symbol {
            if frames.is_empty() {
                frames.push(Frame::default());
            }
            if let Some(outermost) = frames.last_mut() {
                self.words.complete(outermost, &symbol, hint);
            }
        }
        Lookup { frames }
    }
}

impl<'a> Words<'a> {
    /// The functions that debug information has.
    fn frames<S: FileSource>(
        &mut self,
        reader: &mut Reader<'a>,
        mut place: Place<'_, 'a, S>,
    ) -> Vec<Frame> {
        let raw = reader.frames(place.debug, place.source, place.svma);
        let inlined = raw.len().saturating_sub(1);
        let frames = raw.into_iter().enumerate().map(|(index, raw)| {
            let (function, raw_name) = self.function(reader, &mut place, &raw).unzip();
            Frame {
                function,
                raw_name,
                offset_in_symbol: None,
                file: raw.file,
                line: raw.line,
                inlined: index < inlined,
            }
        });
        frames.collect()
    }

    /// The name of a function in debug information, and as it stands there. It may be mangled
    /// or bare; bare names of languages with scopes are qualified.
    fn function<S: FileSource>(
        &mut self,
        reader: &mut Reader<'a>,
        place: &mut Place<'_, 'a, S>,
        frame: &RawFrame<'a>,
    ) -> Option<(Arc<str>, Arc<str>)> {
        let fortran = dwarf::is_fortran(frame.language);
        let Word { raw, outcome } = self.of(frame.name?, hint(fortran));
        let mut qualified = || {
            let at = (place.svma, &mut place.unit);
            reader.qualified(place.debug, place.source, at, frame)
        };
        let name = match outcome {
            Outcome::Named(name) if fortran => qualified().or(Some(name)),
            Outcome::Named(name) => Some(name),
            Outcome::Plain if !dwarf::has_scopes(frame.language) => None,
            Outcome::Plain | Outcome::Failed => qualified(),
        };
        Some((name.unwrap_or_else(|| raw.clone()), raw))
    }

    /// What the symbol table adds to the outermost function.
    fn complete(&mut self, frame: &mut Frame, symbol: &symtab::Found<'a>, hint: Hint) {
        frame.offset_in_symbol = Some(symbol.offset);
        // Of most functions both know the linkage name.
        let raw = frame.raw_name.as_deref();
        if raw.is_some_and(|raw| raw.as_bytes() == symbol.name) && frame.function.is_some() {
            return;
        }
        let word = self.of(symbol.name, hint);
        // GCC leaves the linkage name out for what only one file can see, and rustc does where
        // it writes lines alone; the symbol has it.
        let bare = raw.is_some_and(|raw| is_bare_name_of(raw, &word.raw));
        if frame.function.is_none() || bare {
            frame.function = Some(match word.outcome {
                Outcome::Named(name) => name,
                Outcome::Failed if bare => return,
                Outcome::Plain | Outcome::Failed => word.raw.clone(),
            });
            frame.raw_name = Some(word.raw);
        }
    }

    fn of(&mut self, raw: &'a [u8], hint: Hint) -> Word {
        let make = || Word {
            raw: text(raw),
            outcome: demangle::outcome(&String::from_utf8_lossy(raw), hint),
        };
        let word = self.0.entry((InFile(raw), hint));
        word.or_insert_with(make).clone()
    }
}

fn hint(is_fortran: bool) -> Hint {
    if is_fortran {
        Hint::Fortran
    } else {
        Hint::Unknown
    }
}

/// Whether a name is that of a symbol without what stands around it: `take`, or rustc's
/// `take<u8>` and `{closure#2}`, of which symbols have neither types nor numbers.
fn is_bare_name_of(raw: &str, symbol: &str) -> bool {
    let name = raw.split('<').next().unwrap_or(raw);
    let name = match name.strip_prefix('{') {
        Some(made) => made.split(['#', '}', '_']).next().unwrap_or(made),
        None => name.trim_start_matches('~'),
    };
    let is_mangled = symbol.starts_with("_Z") || symbol.starts_with("_R");
    !raw.starts_with('_') && is_mangled && !name.is_empty() && symbol.contains(name)
}

/// A name as text, cut if it is absurd.
fn text(raw: &[u8]) -> Arc<str> {
    String::from_utf8_lossy(&raw[..raw.len().min(MAX_RAW_NAME)]).into()
}
