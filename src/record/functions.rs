//! Functions of other names whose calls are to be recorded: those that the user
//! named, and known ones that a library of the program defines and another
//! object asks for. No others: a program may test whether it has `mallocx`.

use std::collections::HashMap;
use std::path::{Path, PathBuf};

use memlog_pages::{Advice, clean, shown};
use object::elf::{SHT_DYNSYM, SHT_SYMTAB};

use super::allocator::each_symbol;
use crate::named::{self, Function, Functions, elf, known};
use crate::recorder;

/// The functions, and what is to be said of those that nobody called.
pub struct Wanted {
    functions: Vec<Function>,
    /// How many of them the user named.
    named: usize,
    /// Where each of those is.
    definitions: Vec<DefinedIn>,
}

/// Where a function is defined.
#[derive(Clone, Debug, PartialEq)]
enum DefinedIn {
    /// Nowhere that is known before the run.
    Nowhere,
    /// In the program's own file, which is asked before all libraries.
    Program,
    /// In a library, and another object asks for it.
    Library,
    /// In this library, and nobody else asks for it.
    Alone(PathBuf),
}

/// What the objects say of one name.
#[derive(Default)]
struct Uses {
    by_program: bool,
    library: Option<PathBuf>,
    is_asked_for: bool,
}

impl Wanted {
    /// Looks through the program's file and the objects that it will load.
    pub fn new(
        named: &[Functions],
        program: Option<&Path>,
        objects: &[PathBuf],
    ) -> anyhow::Result<Self> {
        let mut functions = named::once(named.iter().flatten())?;
        if let Some(why) = elf::refused() {
            // Known ones are left out where there are no stubs.
            return match functions.is_empty() {
                true => Ok(Self::none()),
                false => Err(Advice::error(why, "leave --alloc-func out")),
            };
        }
        let by_user = functions.len();
        let uses = uses_of(&functions, program, objects);
        let defined_in = |name: &str| {
            uses.get(name.as_bytes())
                .map_or(DefinedIn::Nowhere, Uses::defined_in)
        };
        let definitions = functions.iter().map(|function| defined_in(&function.name));
        let definitions = definitions.collect();
        for name in known::names().filter(|name| defined_in(name) == DefinedIn::Library) {
            if !functions.iter().any(|function| function.name == name) {
                functions.extend(known::find(&name));
            }
        }
        Ok(Self {
            functions,
            named: by_user,
            definitions,
        })
    }

    fn none() -> Self {
        Self {
            functions: Vec::new(),
            named: 0,
            definitions: Vec::new(),
        }
    }

    /// The library that has them, if there are any.
    pub fn library(&self) -> anyhow::Result<Option<PathBuf>> {
        if self.functions.is_empty() {
            return Ok(None);
        }
        let bytes = elf::library(&self.functions, recorder::NAMED);
        recorder::generated_file(recorder::NAMED, &bytes, true).map(Some)
    }

    /// What to say of those that the user named and nobody called.
    pub fn remarks(&self, called: &[&String]) -> Vec<String> {
        let named = self
            .functions
            .iter()
            .take(self.named)
            .zip(&self.definitions);
        let missed =
            named.filter(|(function, _)| !called.contains(&&clean(function.name.as_bytes())));
        let told = |(function, defined_in): (&Function, &DefinedIn)| {
            let name = clean(function.name.as_bytes());
            let why = match defined_in {
                DefinedIn::Nowhere => {
                    "no object that the program loads at its start has it (nm -D shows the names)"
                        .to_owned()
                }
                DefinedIn::Program => {
                    // --wrap takes the names that are known, and means by them what is known.
                    let flags = match known::find(&function.name).as_ref() == Some(function) {
                        true => format!("`memlog ldflags --dynamic --wrap {name}`"),
                        false => "`memlog ldflags --dynamic` and the same --alloc-func".to_owned(),
                    };
                    format!(
                        "the program has it itself, and calls to it do not leave the program. \
                         Link it with {flags}"
                    )
                }
                DefinedIn::Library => "no program called it".to_owned(),
                DefinedIn::Alone(library) => format!(
                    "only {} knows it, and calls within a library do not leave it",
                    shown(library)
                ),
            };
            format!("{name} was not recorded: {why}")
        };
        missed.map(told).collect()
    }
}

/// What the program's file and the objects say of these names, and of the known
/// ones.
fn uses_of(
    functions: &[Function],
    program: Option<&Path>,
    objects: &[PathBuf],
) -> HashMap<Vec<u8>, Uses> {
    let names = functions.iter().map(|function| function.name.clone());
    let names = names.chain(known::names());
    let mut uses: HashMap<Vec<u8>, Uses> = HashMap::new();
    for name in names {
        uses.entry(name.into_bytes()).or_default();
    }
    for object in objects {
        each_symbol(object, SHT_DYNSYM, |name, is_defined| {
            let Some(uses) = uses.get_mut(name) else {
                return;
            };
            match is_defined {
                true if uses.library.is_none() => uses.library = Some(object.clone()),
                true => {}
                false => uses.is_asked_for = true,
            }
        });
    }
    for table in [SHT_DYNSYM, SHT_SYMTAB] {
        let program = program.unwrap_or(Path::new(""));
        each_symbol(program, table, |name, is_defined| {
            if let Some(uses) = uses.get_mut(name) {
                uses.by_program |= is_defined;
                uses.is_asked_for |= !is_defined;
            }
        });
    }
    uses
}

impl Uses {
    fn defined_in(&self) -> DefinedIn {
        match (self.by_program, &self.library) {
            (true, _) => DefinedIn::Program,
            (false, None) => DefinedIn::Nowhere,
            (false, Some(_)) if self.is_asked_for => DefinedIn::Library,
            (false, Some(library)) => DefinedIn::Alone(library.clone()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::named::parse;

    /// `--wrap` would refuse a name that it does not know.
    #[test]
    fn the_way_to_link_a_function_is_one_that_works() {
        let texts = ["mi_malloc", "mine(size)", "mi_calloc(size,count)"];
        let functions = texts.map(|text| parse(text).expect(text).remove(0));
        let wanted = Wanted {
            named: functions.len(),
            definitions: functions.iter().map(|_| DefinedIn::Program).collect(),
            functions: functions.into(),
        };
        let remarks = wanted.remarks(&[]);
        for (remark, flags) in remarks.iter().zip([
            "`memlog ldflags --dynamic --wrap mi_malloc`",
            "`memlog ldflags --dynamic` and the same --alloc-func",
            "`memlog ldflags --dynamic` and the same --alloc-func",
        ]) {
            assert!(remark.ends_with(flags), "{remark}");
        }
        assert_eq!(remarks.len(), 3);
    }
}
