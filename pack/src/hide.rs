//! What a log tells of its user, left out: where his files lie, on which machine, who he is,
//! what he told his program. Or all names too.
//!
//! What takes a name's place is a number in the order in which names come, so nobody can
//! tell the name from it; the same name has the same number in one packed file.

mod texts;

use std::collections::HashMap;

use memlog_format::meta::{CodeName, Key, Module, Record};
use memlog_format::resident::Mapped;

use crate::metas::{each, encoded, places};
pub(crate) use texts::masked;
use texts::{base_name, hosts, is_figure, replaced, tokens, users};

/// The kernel's own names of mappings. A program may give others: `[anon:NAME]`.
const KERNELS: [&[u8]; 7] = [
    b"[heap]",
    b"[stack]",
    b"[vdso]",
    b"[vvar]",
    b"[vvar_vclock]",
    b"[vsyscall]",
    b"[uprobes]",
];

/// How much is left out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Hidden {
    /// Nothing.
    Nothing,
    /// Folders, hosts, users, variables of the environment.
    Partial,
    /// Names of functions, files and libraries too, arguments, the job, notes.
    Full,
}

/// Numbers in place of names.
#[derive(Default)]
struct Numbers(HashMap<Vec<u8>, usize>);

impl Numbers {
    fn of(&mut self, word: &str, name: &[u8]) -> Vec<u8> {
        let next = self.0.len() + 1;
        let number = self.0.entry(name.to_vec()).or_insert(next);
        format!("{word}_{number}").into_bytes()
    }
}

/// What is shown of a function's name where names are hidden.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Shown {
    /// A number.
    Nothing,
    /// All of it: every program has it.
    All,
    /// A number between these.
    Amid(&'static str, &'static str),
}

/// What every program has. Trees are joined by it, and it tells nothing of anybody.
#[derive(Clone, Copy)]
pub struct Public {
    /// Functions.
    pub function: fn(&[u8]) -> Shown,
    /// Source files, by their paths.
    pub source: fn(&[u8]) -> Shown,
    /// Libraries, by their names without folders.
    pub module: fn(&[u8]) -> bool,
}

/// Leaves out.
pub struct Hider {
    hidden: Hidden,
    public: Public,
    hosts: Vec<Vec<u8>>,
    users: Vec<Vec<u8>>,
    secrets: Vec<Vec<u8>>,
    functions: Numbers,
    symbols: Numbers,
    sources: Numbers,
    modules: Numbers,
}

impl Hider {
    /// Leaves so much out.
    pub fn new(hidden: Hidden, public: Public) -> Self {
        Self {
            hidden,
            public,
            hosts: Vec::new(),
            users: Vec::new(),
            secrets: Vec::new(),
            functions: Numbers::default(),
            symbols: Numbers::default(),
            sources: Numbers::default(),
            modules: Numbers::default(),
        }
    }

    /// Learns from a log which hosts and users are not to be named, in whichever text.
    pub fn learn(&mut self, log: &[u8]) {
        if self.hidden == Hidden::Nothing {
            return;
        }
        for (place, header) in places(log) {
            each(log, place, &header, |record, _| match record {
                Record::Text(Key::Host, host) => hosts(&mut self.hosts, host),
                Record::Text(_, text) => users(&mut self.users, text),
                Record::Module(module) => users(&mut self.users, module.path),
                Record::Mapped(mapped) => users(&mut self.users, mapped.path),
                Record::Word(word) => users(&mut self.users, word.text),
                _ => {}
            });
        }
        self.secrets = [&self.hosts[..], &self.users].concat();
        // What has another in it goes first.
        self.secrets
            .sort_by_key(|secret| std::cmp::Reverse(secret.len()));
    }

    /// How much it leaves out.
    pub fn hidden(&self) -> Hidden {
        self.hidden
    }

    /// The name of a log's file, or of anything that is no path.
    pub fn file_name(&self, name: &[u8]) -> Vec<u8> {
        match self.hidden {
            Hidden::Nothing => name.to_vec(),
            Hidden::Partial => self.without_names(name),
            Hidden::Full => b"log.memlog".to_vec(),
        }
    }

    pub(crate) fn secrets(&self) -> &[Vec<u8>] {
        &self.secrets
    }

    /// How a log says it.
    pub(crate) fn word(&self) -> Option<&'static [u8]> {
        match self.hidden {
            Hidden::Nothing => None,
            Hidden::Partial => Some(b"partial"),
            Hidden::Full => Some(b"full"),
        }
    }

    pub(crate) fn function(&mut self, name: &[u8]) -> Vec<u8> {
        let shown = (self.public.function)(name);
        match (self.hidden, shown) {
            (Hidden::Full, Shown::Nothing) => self.functions.of("fn", name),
            (Hidden::Full, Shown::Amid(start, end)) => {
                let number = self.functions.of("fn", name);
                [start.as_bytes(), &number, end.as_bytes()].concat()
            }
            _ => name.to_vec(),
        }
    }

    pub(crate) fn symbol(&mut self, name: &[u8]) -> Vec<u8> {
        let is_public = (self.public.function)(name) == Shown::All;
        match self.hidden == Hidden::Full && !is_public {
            true => self.symbols.of("sym", name),
            false => name.to_vec(),
        }
    }

    pub(crate) fn source(&mut self, path: &[u8]) -> Vec<u8> {
        match (self.hidden, (self.public.source)(path)) {
            (Hidden::Nothing, _) | (_, Shown::All) => path.to_vec(),
            _ if path.is_empty() => Vec::new(),
            (Hidden::Partial, _) => self.without_folder(path),
            (Hidden::Full, Shown::Nothing) => self.sources.of("src", path),
            (Hidden::Full, Shown::Amid(start, end)) => {
                let number = self.sources.of("src", path);
                [start.as_bytes(), &number, end.as_bytes()].concat()
            }
        }
    }

    pub(crate) fn module(&mut self, path: &[u8]) -> Vec<u8> {
        let base = base_name(path);
        match self.hidden {
            Hidden::Nothing => path.to_vec(),
            _ if path.is_empty() || KERNELS.contains(&path) => path.to_vec(),
            // The kernel's own names, and those that a program gave its mappings.
            Hidden::Partial if path.starts_with(b"[") => self.without_names(path),
            Hidden::Partial => self.without_folder(path),
            Hidden::Full if (self.public.module)(base) => base.to_vec(),
            Hidden::Full => self.modules.of("lib", path),
        }
    }

    /// By a build-id everybody can find out which file it is.
    pub(crate) fn build_id<'b>(&self, id: &'b [u8]) -> &'b [u8] {
        match self.hidden {
            Hidden::Full => &[],
            _ => id,
        }
    }

    /// A record of a log as it may be seen. Names that were kept are left out: they come anew.
    /// `bytes` are those of the record.
    pub(crate) fn record(&mut self, record: Record, bytes: &[u8]) -> Option<Vec<u8>> {
        let is_hidden = self.hidden != Hidden::Nothing;
        Some(match record {
            Record::Word(_) | Record::KeptFile(_) | Record::Place(_) => return None,
            Record::Text(Key::Packed, _) => return None,
            Record::Text(Key::Anonymized, _) if is_hidden => return None,
            // What a newer memlog wrote is as harmless as nobody knows.
            Record::Unknown(_) if is_hidden => return None,
            Record::Unknown(_) => bytes.to_vec(),
            Record::Text(key, text) if is_hidden => {
                encoded(&Record::Text(key, &self.text(key, text)?))
            }
            Record::Module(module) => encoded(&Record::Module(Module {
                path: &self.module(module.path),
                build_id: self.build_id(module.build_id),
                ..module
            })),
            Record::Mapped(mapped) => encoded(&Record::Mapped(Mapped {
                path: &self.module(mapped.path),
                ..mapped
            })),
            Record::CodeName(code) => encoded(&Record::CodeName(CodeName {
                name: &self.function(code.name),
                file: &self.source(code.file),
                ..code
            })),
            Record::Start(_)
            | Record::Text(..)
            | Record::Unload { .. }
            | Record::Parent { .. }
            | Record::ForkPoint(_)
            | Record::End(_)
            | Record::Death(_)
            | Record::Census(_)
            | Record::Tuned(_) => encoded(&record),
        })
    }

    fn text(&mut self, key: Key, text: &[u8]) -> Option<Vec<u8>> {
        let is_full = self.hidden == Hidden::Full;
        Some(match key {
            Key::Executable => self.module(text),
            Key::Rank if is_full && !text.iter().all(u8::is_ascii_digit) => return None,
            Key::Recorder | Key::RankParent | Key::Rank | Key::Lacks => text.to_vec(),
            // The tool, and its file.
            Key::MadeFrom if is_full => text.split(|&byte| byte == 0).next()?.to_vec(),
            Key::Named if is_full => self.function(text),
            Key::Named => text.to_vec(),
            Key::PastUs => {
                let (&reason, name) = text.split_first()?;
                [&[reason], &self.module(name)[..]].concat()
            }
            Key::Setting if is_full => {
                let value = text.splitn(2, |&byte| byte == b'=').nth(1)?;
                is_figure(value).then(|| text.to_vec())?
            }
            Key::Host if !is_full => b"host_1".to_vec(),
            Key::Job
            | Key::CommandLine
            | Key::Setting
            | Key::Note
            | Key::LogPath
            | Key::ParentLog
            | Key::MadeFrom
                if !is_full =>
            {
                self.without_names(&tokens(text))
            }
            _ => return None,
        })
    }

    fn without_folder(&self, path: &[u8]) -> Vec<u8> {
        self.without_names(base_name(path))
    }

    /// Without the names of hosts and users.
    fn without_names(&self, text: &[u8]) -> Vec<u8> {
        let text = replaced(text, &self.hosts, "host");
        replaced(&text, &self.users, "user")
    }
}
