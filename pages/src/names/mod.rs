//! Joins the addresses of an analysis with the names of the programs' files.

mod cached;
mod debuginfod;
mod given;
mod jit;
mod kept;
mod known;
mod labels;
mod placed;
mod remarks;
mod symbol_files;

use std::cell::RefCell;
use std::collections::{HashMap, HashSet};
use std::path::Path;
use std::rc::Rc;
use std::sync::Arc;

pub use memlog_analysis::Name;
use memlog_analysis::{ModuleKey, Site, StackTable};
use memlog_pack::Function;
use memlog_read::Log;
use memlog_symbols::{Lookup, Machine, ModuleHandle, ModuleSpec, ModuleStatus, Options, Store};

use crate::open::{Over, cache};
use crate::words::clean;
use cached::{CachedSymbols, Keeping};
use given::GivenNames;
pub use jit::{found as jit_names, may_be as may_have_jit_names};
use kept::Kept;
pub use known::KnownNames;
pub use labels::{Cursor, Labels, Rested};
pub use placed::Placed;
use remarks::Remarks;
pub use symbol_files::{SymbolFiles, machine, options as symbol_options, words as symbol_words};

/// Where the files of names stay while [`Names`] is in use.
#[derive(Default)]
pub struct NameStore(Store);

/// The symbol at an address, as the linker has it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Symbol {
    /// Its name, not demangled.
    pub name: String,
    /// Distance from its start to the address.
    pub offset: u64,
}

/// Files with names that were opened, for logs one after the other: each is opened once.
pub struct OpenFiles<'s> {
    store: &'s NameStore,
    by_machine: RefCell<HashMap<Option<Machine>, Rc<RefCell<Opened<'s>>>>>,
}

impl<'s> OpenFiles<'s> {
    /// None yet.
    pub fn new(store: &'s NameStore) -> Self {
        Self {
            store,
            by_machine: RefCell::default(),
        }
    }

    /// Those for the programs of a machine; options are the same each time but for that.
    fn of(&self, options: Options) -> Rc<RefCell<Opened<'s>>> {
        let mut all = self.by_machine.borrow_mut();
        let files = all.entry(options.machine);
        let files =
            files.or_insert_with(|| Rc::new(RefCell::new(Opened::new(self.store, options))));
        Rc::clone(files)
    }
}

/// Those of one machine's programs.
struct Opened<'s> {
    symbols: CachedSymbols<'s>,
    handles: HashMap<ModuleSpec, ModuleHandle>,
    /// What was looked up before anybody asked.
    looked_up: HashMap<(ModuleHandle, u64), Lookup>,
}

impl<'s> Opened<'s> {
    fn new(store: &'s NameStore, options: Options) -> Self {
        let keeping = Keeping {
            folder: cache().map(|folder| folder.join("names")),
            from_bytes: KEPT_FROM,
        };
        Self {
            symbols: CachedSymbols::new(&store.0, options, keeping),
            handles: HashMap::new(),
            looked_up: HashMap::new(),
        }
    }
}

/// Names for addresses.
pub struct Names<'s> {
    files: Rc<RefCell<Opened<'s>>>,
    /// The modules of which there are remarks.
    told: HashSet<ModuleHandle>,
    /// What the log itself calls code.
    given: GivenNames,
    /// What was put into the log.
    kept: Kept,
    /// Of code that other logs had too.
    known: Option<&'s KnownNames>,
    machine: Option<Machine>,
    /// Whether the user says where else names are.
    is_told: bool,
    remarks: Remarks,
    /// From when on no more are looked up.
    over: Over,
    was_cut_short: bool,
}

/// Bytes of a module's debug information from which on its names are kept: to open so much takes
/// longer than to read and write their file.
const KEPT_FROM: u64 = 1 << 20;

/// What is said where Ctrl-C came before the last name was found.
const CUT_SHORT: &str = "Ctrl-C ended the look-up of names: functions that were not looked up yet \
                         are shown as module and offset";

impl<'s> Names<'s> {
    /// Knows nothing yet. A log says what machine its programs are for.
    /// What run-time compilers wrote down is in the log, or still beside it.
    pub fn new(store: &'s NameStore, options: &Options, log: &Log, file: &Path) -> Self {
        Self::of_files(&OpenFiles::new(store), options, log, file)
    }

    /// The same with files that are opened for other logs too.
    pub fn of_files(files: &OpenFiles<'s>, options: &Options, log: &Log, file: &Path) -> Self {
        let options = Options {
            // None where the recorder did not know.
            machine: log
                .start()
                .map(machine)
                .filter(|machine| machine.number != 0),
            ..options.clone()
        };
        let is_told = !options.debug_files.is_empty()
            || !options.debug_dirs.is_empty()
            || options.last_dir.is_some();
        Self {
            machine: options.machine,
            remarks: Remarks::new(&options),
            files: files.of(options),
            told: HashSet::new(),
            given: GivenNames::of(log, file),
            kept: Kept::of(log),
            known: None,
            is_told,
            over: Over::default(),
            was_cut_short: false,
        }
    }

    /// Asks those first, and adds to them.
    pub fn with(self, known: &'s KnownNames) -> Self {
        // Each would read the same files, and write them.
        self.files.borrow_mut().symbols.leave_cache();
        let known = Some(known);
        Self { known, ..self }
    }

    /// Looks no more up after Ctrl-C.
    pub fn until(self, over: Over) -> Self {
        Self { over, ..self }
    }

    /// Who is going to ask for all frames of these stacks says so before: many at once are
    /// looked up by several threads.
    pub fn expect(&mut self, table: &StackTable, stacks: impl IntoIterator<Item = u32>) {
        let mut seen = HashSet::new();
        let mut sites = HashSet::new();
        let mut expected = Vec::new();
        for stack in stacks {
            let mut rest = stack;
            while seen.insert(rest)
                && let Some((frame, outer)) = table.split(rest)
            {
                rest = outer;
                if sites.insert(frame.index) {
                    expected.push(frame.site);
                }
            }
        }
        self.expect_sites(expected.iter().filter_map(|site| {
            let module = table.modules().get(site.module? as usize)?;
            Some((*site, module))
        }));
    }

    /// The same of all code of a log, a module after the other.
    pub fn expect_log(&mut self, log: &Log) {
        let mut by_module: HashMap<_, Vec<Site>> = HashMap::new();
        for code in log.codes() {
            by_module.entry(code.module).or_default().push(Site {
                address: code.address,
                exact: code.exact,
                module: None,
            });
        }
        let modules = log.modules().iter();
        let modules: Vec<_> = modules.map(|it| (it.id, ModuleKey::from(it))).collect();
        self.expect_sites(modules.iter().flat_map(|(id, module)| {
            let sites = by_module.remove(id).unwrap_or_default();
            sites.into_iter().map(move |site| (site, module))
        }));
    }

    /// The same of sites. What others know, of which a thread each asks, is left to them.
    pub fn expect_sites<'m>(&mut self, sites: impl IntoIterator<Item = (Site, &'m ModuleKey)>) {
        if self.known.is_some() {
            return;
        }
        let mut questions = Vec::new();
        for (site, module) in sites {
            let address = site.address.wrapping_sub(u64::from(!site.exact));
            let is_kept = self.kept.functions(module, address).is_some();
            if is_kept || self.given.at(&site, Some(module)).is_some() {
                continue;
            }
            let question = (self.handle(module), in_file(&site, module));
            if !self.files.borrow().looked_up.contains_key(&question) {
                questions.push(question);
            }
        }
        let over = &self.over;
        let mut files = self.files.borrow_mut();
        let answers = files.symbols.lookup_batch(&questions, || over.is_set());
        let answers = questions.into_iter().zip(answers);
        let found = answers.filter_map(|(question, answer)| Some((question, answer?)));
        files.looked_up.extend(found);
    }

    /// What to say where names are missing because Ctrl-C came.
    pub fn cut_short(&self) -> Option<&'static str> {
        self.was_cut_short.then_some(CUT_SHORT)
    }

    /// The functions at a site, the innermost first; always at least one.
    pub fn of(&mut self, site: &Site, module: Option<&ModuleKey>) -> Vec<Name> {
        if let Some(names) = self.given.at(site, module) {
            let is_there = module.is_some_and(|module| self.is_in_file(site, module));
            if !is_there {
                return names;
            }
        }
        let Some(module) = module else {
            return vec![Name {
                function: format!("{:#x}", site.address),
                location: None,
                module: None,
            }];
        };
        match self.known {
            // Names in a log are that log's own.
            Some(known) if self.kept.is_empty() && !self.over.is_set() => {
                known.of(self.machine, (site, module), || {
                    self.looked_up(site, module)
                })
            }
            _ => self.looked_up(site, module),
        }
    }

    fn looked_up(&mut self, site: &Site, module: &ModuleKey) -> Vec<Name> {
        let functions = self.functions(site, module).into_iter();
        let names = functions.filter_map(|function| {
            let location = function.source.map(|file| match function.line {
                Some(line) => format!("{}:{line}", clean(file.as_bytes())),
                None => clean(file.as_bytes()),
            });
            Some(Name {
                function: clean(function.name?.as_bytes()),
                location,
                module: Some(base_name(module)),
            })
        });
        let names: Vec<_> = names.collect();
        match names.is_empty() {
            false => names,
            true => vec![offset_name(site, module)],
        }
    }

    /// The symbol that covers a site, the inlined functions left out.
    pub fn symbol(&mut self, site: &Site, module: &ModuleKey) -> Option<Symbol> {
        let given = self.given.symbol(site);
        given.or_else(|| self.symbol_in_file(site, module))
    }

    /// Whether a module's file has the very symbol that was written down without a line:
    /// then it is the file of then, and knows lines and what is inlined.
    fn is_in_file(&mut self, site: &Site, module: &ModuleKey) -> bool {
        let given = self.given.symbol(site).filter(|given| given.offset > 0);
        given.is_some_and(|given| self.symbol_in_file(site, module) == Some(given))
    }

    fn symbol_in_file(&mut self, site: &Site, module: &ModuleKey) -> Option<Symbol> {
        let function = self.functions(site, module).into_iter().last()?;
        let name = function.symbol.or(function.name)?;
        // The look-up was made one byte before a return address.
        let before = u64::from(!site.exact);
        Some(Symbol {
            name: clean(name.as_bytes()),
            offset: function.offset?.checked_add(before)?,
        })
    }

    /// All that is known of a site, the innermost function first: as the log itself has
    /// it, or as the module's file has it.
    fn functions(&mut self, site: &Site, module: &ModuleKey) -> Vec<Function> {
        let looked_up = site.address.wrapping_sub(u64::from(!site.exact));
        if let Some(kept) = self.kept.functions(module, looked_up)
            && (!kept.is_empty() || !self.is_told)
        {
            return kept.to_vec();
        }
        if self.over.is_set() {
            self.was_cut_short = true;
            return Vec::new();
        }
        let handle = self.handle(module);
        let question = (handle, in_file(site, module));
        let files = self.files.borrow();
        let ready = files.looked_up.get(&question).cloned();
        let lookup = ready.unwrap_or_else(|| files.symbols.lookup(question.0, question.1));
        let text = |text: Option<Arc<str>>| text.map(|text| text.to_string());
        let functions = lookup.frames.into_iter().map(|frame| Function {
            name: text(frame.function),
            symbol: text(frame.raw_name),
            source: text(frame.file),
            line: frame.line,
            offset: frame.offset_in_symbol,
        });
        functions.collect()
    }

    /// The same to be put into a log; nothing where the module's file is not to be had, and
    /// somebody else may have it.
    pub fn to_keep(&mut self, site: &Site, module: &ModuleKey) -> Option<Vec<Function>> {
        let functions = self.functions(site, module);
        let looked_up = site.address.wrapping_sub(u64::from(!site.exact));
        if !functions.is_empty() || self.kept.functions(module, looked_up).is_some() {
            return Some(functions);
        }
        let handle = self.handle(module);
        let is_known = matches!(
            self.files.borrow().symbols.status(handle),
            ModuleStatus::Ok(_)
        );
        is_known.then_some(functions)
    }

    /// What is wrong with the modules asked for so far: a sentence each.
    pub fn remarks(&self) -> impl Iterator<Item = &str> {
        self.remarks.all()
    }

    fn handle(&mut self, module: &ModuleKey) -> ModuleHandle {
        let spec = spec_of(module);
        let mut files = self.files.borrow_mut();
        let known = files.handles.get(&spec).copied();
        let handle = known.unwrap_or_else(|| {
            let handle = files.symbols.add_module(&spec);
            files.handles.insert(spec.clone(), handle);
            handle
        });
        if self.told.insert(handle) {
            let status = files.symbols.status(handle);
            let refused = files.symbols.refused(handle);
            self.remarks.add(&spec, status, refused);
        }
        handle
    }
}

fn spec_of(module: &ModuleKey) -> ModuleSpec {
    ModuleSpec {
        path: module.path.clone(),
        build_id: module.build_id.clone(),
    }
}

/// The address to look up, in the file's own numbering.
fn in_file(site: &Site, module: &ModuleKey) -> u64 {
    let before = u64::from(!site.exact);
    site.address.wrapping_sub(before).wrapping_sub(module.bias)
}

fn offset_name(site: &Site, module: &ModuleKey) -> Name {
    let offset = site.address.wrapping_sub(module.bias);
    Name {
        function: format!("{}+{offset:#x}", base_name(module)),
        location: None,
        module: None,
    }
}

fn base_name(module: &ModuleKey) -> String {
    let path = &module.path;
    let name = path.rsplit(|&byte| byte == b'/').next();
    clean(name.unwrap_or(path))
}
