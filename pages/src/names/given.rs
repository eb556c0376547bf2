//! The names that a log itself has of its code: of code that the program made at run time,
//! and of all that another tool's file had names for.

use std::collections::HashMap;
use std::path::Path;

use memlog_analysis::{ModuleKey, Name, Site};
use memlog_format::meta::Key;
use memlog_read::Log;
use memlog_symbols::{Hint, demangle};

use super::{Symbol, base_name, jit};
use crate::words::clean;

/// By the addresses that are looked up.
pub(super) struct GivenNames {
    by_address: HashMap<u64, Vec<Given>>,
    /// Whether they are another tool's, which saw the files that the program had.
    is_imported: bool,
}

/// One function at an address.
struct Given {
    name: Name,
    /// As it was written.
    raw: String,
    /// From its beginning, where that is known.
    offset: u64,
}

impl GivenNames {
    /// Those of a log, or of what run-time compilers left beside it.
    pub(super) fn of(log: &Log, file: &Path) -> Self {
        let is_imported = log.text(Key::MadeFrom).is_some();
        let mut by_address: HashMap<u64, Vec<Given>> = HashMap::new();
        for code in log.code_names() {
            let names = by_address.entry(code.address).or_default();
            // What was compiled there last counts; what is inlined has a record of its own.
            if !is_imported {
                names.clear();
            }
            names.push(Given::new(code.name, code.file, code.line, is_imported));
        }
        if by_address.is_empty()
            && !is_imported
            && log.codes_of_no_file().next().is_some()
            && let Some(found) = jit::found(log, file)
        {
            let named = |made: &memlog_symbols::MadeCode| {
                vec![Given::new(&made.name, &made.file, made.line, false)]
            };
            by_address.extend(found.all().map(|(at, made)| (at, named(&made))));
        }
        Self {
            by_address,
            is_imported,
        }
    }

    /// The functions at a site, the innermost first, if the log is to be asked and knows.
    pub(super) fn at(&self, site: &Site, module: Option<&ModuleKey>) -> Option<Vec<Name>> {
        let names = match module {
            Some(_) if !self.is_imported => return None,
            _ => self.by_address.get(&looked_up(site))?,
        };
        let module = module.map(base_name);
        let names = names.iter().map(|given| Name {
            // A function that is called by its module and an offset tells that already.
            module: module.clone().filter(|module| {
                let rest = given.name.function.strip_prefix(module.as_str());
                rest.is_none_or(|rest| !rest.starts_with("+0x"))
            }),
            ..given.name.clone()
        });
        Some(names.collect())
    }

    /// The symbol at a site of a module.
    pub(super) fn symbol(&self, site: &Site) -> Option<Symbol> {
        if !self.is_imported {
            return None;
        }
        let given = self.by_address.get(&looked_up(site))?.last()?;
        Some(Symbol {
            name: clean(given.raw.as_bytes()),
            offset: given.offset,
        })
    }
}

impl Given {
    fn new(name: &[u8], file: &[u8], line: u32, is_imported: bool) -> Self {
        let raw = String::from_utf8_lossy(name).into_owned();
        let readable = is_imported.then(|| demangle(&raw, Hint::Unknown));
        let function = clean(readable.flatten().as_deref().unwrap_or(&raw).as_bytes());
        let location = match line {
            _ if file.is_empty() => None,
            0 if is_imported => Some(clean(file)),
            line => Some(format!("{}:{line}", clean(file))),
        };
        Self {
            name: Name {
                function,
                location,
                module: None,
            },
            raw,
            // Without a file it is no line.
            offset: if file.is_empty() { line.into() } else { 0 },
        }
    }
}

fn looked_up(site: &Site) -> u64 {
    site.address.wrapping_sub(u64::from(!site.exact))
}
