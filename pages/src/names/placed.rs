//! The functions at a site, each with all that is known of it.

use memlog_analysis::{ModuleKey, Site};
use memlog_export::forms::file_and_line;

use super::Names;
use crate::words::clean;

/// A function at an address.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Placed {
    /// As people read it.
    pub function: Option<String>,
    /// As the linker has it.
    pub symbol: Option<String>,
    /// Its source file.
    pub file: Option<String>,
    /// The line there.
    pub line: Option<u32>,
}

impl Names<'_> {
    /// They are, the innermost first: as many as [`Names::of`] has. One without a name
    /// stands for an address of which nothing is known.
    pub fn placed(&mut self, site: &Site, module: Option<&ModuleKey>) -> Vec<Placed> {
        if let Some(names) = self.given.at(site, module) {
            let is_there = module.is_some_and(|module| self.is_in_file(site, module));
            if !is_there {
                let symbol = self.given.symbol(site).map(|symbol| symbol.name);
                let names = names.into_iter().map(|name| {
                    let location = name.location.as_deref().map(file_and_line);
                    Placed {
                        function: Some(name.function),
                        symbol: symbol.clone(),
                        file: location.map(|(file, _)| file.to_owned()),
                        line: location.and_then(|(_, line)| line),
                    }
                });
                return names.collect();
            }
        }
        let functions = module.map(|module| self.functions(site, module));
        let text = |text: String| clean(text.as_bytes());
        let placed = functions.into_iter().flatten().filter_map(|function| {
            Some(Placed {
                function: Some(text(function.name?)),
                symbol: function.symbol.map(text),
                file: function.source.map(text),
                line: function.line,
            })
        });
        let placed: Vec<_> = placed.collect();
        match placed.is_empty() {
            true => vec![Placed::default()],
            false => placed,
        }
    }
}
