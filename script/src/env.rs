//! What all words of a running script share: the log, the host, and what is left of the
//! limits.

use std::cell::{Cell, RefCell};
use std::collections::HashMap;
use std::path::PathBuf;
use std::rc::Rc;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Instant;

use memlog_pages::blocks::{Desk, Failure};
use memlog_query::{Expr, ParseError};
use rhai::{EvalAltResult, Position};

use crate::host::{Asked, Host};
use crate::limits::Limits;
use crate::path::below;

/// What a word comes to, or the sentence that the script fails with.
pub(crate) type Made<T> = Result<T, Box<EvalAltResult>>;

/// A script fails with this sentence.
pub(crate) fn refused(why: impl Into<String>) -> Box<EvalAltResult> {
    EvalAltResult::ErrorRuntime(why.into().into(), Position::NONE).into()
}

/// The same of what only can fail with a sentence.
pub(crate) fn made<T>(result: Result<T, String>) -> Made<T> {
    result.map_err(refused)
}

/// Filters with regular expressions that a script may think of: each takes memory.
const MOST_PATTERNS: usize = 1_000;

pub(crate) struct Env {
    pub host: Arc<dyn Host>,
    pub argv: Vec<String>,
    limits: Limits,
    ends_at: Option<Instant>,
    log: RefCell<Option<Log>>,
    /// Below the host's, where names of files begin.
    folder: RefCell<PathBuf>,
    /// Filters that were made already, by what they were made of.
    filters: RefCell<HashMap<(String, String), Expr>>,
    patterns: Cell<usize>,
    output_bytes: Cell<usize>,
    held: Cell<u64>,
    graphs: Cell<u32>,
    flames: Cell<u32>,
    pub exit: Cell<Option<i64>>,
}

/// What a line or a picture takes of its host besides its own bytes.
const BESIDE: usize = 256;

/// A log, as a script has it.
#[derive(Clone)]
pub(crate) struct Log {
    asked: Arc<dyn Asked>,
    pub env: Rc<Env>,
}

impl Env {
    pub fn new(host: Arc<dyn Host>, argv: Vec<String>, limits: &Limits) -> Rc<Self> {
        Rc::new(Self {
            host,
            argv,
            limits: *limits,
            ends_at: limits
                .time
                .and_then(|time| Instant::now().checked_add(time)),
            log: RefCell::default(),
            folder: RefCell::default(),
            filters: RefCell::default(),
            patterns: Cell::new(0),
            output_bytes: Cell::new(0),
            held: Cell::new(0),
            graphs: Cell::new(0),
            flames: Cell::new(0),
            exit: Cell::new(None),
        })
    }

    /// The log that the script is about.
    pub fn log(self: &Rc<Self>) -> Made<Log> {
        if let Some(log) = &*self.log.borrow() {
            return Ok(log.clone());
        }
        let log = self.holding(made(self.host.log())?);
        *self.log.borrow_mut() = Some(log.clone());
        Ok(log)
    }

    /// Another one.
    pub fn load(self: &Rc<Self>, path: &str) -> Made<Log> {
        let log = self.holding(made(self.host.load(path))?);
        // It is opened now: what is wrong with it is said here.
        log.ask(|_| Ok(()))?;
        Ok(log)
    }

    fn holding(self: &Rc<Self>, asked: Arc<dyn Asked>) -> Log {
        Log {
            asked,
            env: Rc::clone(self),
        }
    }

    /// Why the script ends now, if it does.
    pub fn over(&self) -> Option<String> {
        if self.host.is_over() {
            return Some("it was interrupted".to_owned());
        }
        let is_late = self.ends_at.is_some_and(|end| Instant::now() >= end);
        is_late.then(|| {
            let time = self.limits.time.unwrap_or_default();
            format!("it took longer than {} seconds", time.as_secs_f64())
        })
    }

    /// A line goes out.
    pub fn println(&self, line: &str) -> Made<()> {
        self.puts_out(line.len() + BESIDE)?;
        made(self.host.println(line))
    }

    /// A picture goes out.
    pub fn write(&self, name: &str, svg: &str) -> Made<()> {
        self.puts_out(svg.len() + BESIDE)?;
        made(below(&self.folder.borrow(), name))?;
        // Pictures take the place of pictures, and of nothing else.
        let name = match name.to_ascii_lowercase().ends_with(".svg") {
            true => name.to_owned(),
            false => format!("{name}.svg"),
        };
        let path = made(below(&self.folder.borrow(), &name))?;
        made(self.host.write(&path, svg))
    }

    fn puts_out(&self, bytes: usize) -> Made<()> {
        let all = self.output_bytes.get().saturating_add(bytes);
        self.output_bytes.set(all);
        let most = self.limits.output_bytes;
        match most > 0 && all > most {
            true => Err(refused(format!(
                "a script prints and draws {} KiB at most",
                most >> 10
            ))),
            false => Ok(()),
        }
    }

    pub fn make_folder(&self, name: &str) -> Made<()> {
        let path = made(below(&self.folder.borrow(), name))?;
        made(self.host.make_folder(&path))
    }

    /// From now on names of files begin there.
    pub fn enter(&self, name: &str) -> Made<()> {
        let path = made(below(&self.folder.borrow(), name))?;
        if !path.as_os_str().is_empty() && !self.host.has_folder(&path) {
            return Err(refused(format!("there is no folder `{name}`")));
        }
        *self.folder.borrow_mut() = path;
        Ok(())
    }

    /// The script takes so many things more into its hands.
    pub fn takes(&self, count: usize) -> Made<()> {
        let all = self.held.get().saturating_add(count as u64);
        self.held.set(all);
        let most = self.limits.held;
        match most > 0 && all > most {
            true => Err(refused(format!(
                "a script takes {most} blocks, stacks and groups into its hands at most, all in all"
            ))),
            false => Ok(()),
        }
    }

    /// A filter of a text, which is made once.
    pub fn filter(
        &self,
        word: &str,
        text: &str,
        make: impl FnOnce() -> Result<Expr, ParseError>,
    ) -> Made<Expr> {
        let key = (word.to_owned(), text.to_owned());
        if let Some(known) = self.filters.borrow().get(&key) {
            return Ok(known.clone());
        }
        let filter = make().map_err(|error| refused(error.to_string()))?;
        // The text may have so many in it.
        let patterns = self.patterns.get() + 1 + text.matches('~').count();
        self.patterns.set(patterns);
        if patterns > MOST_PATTERNS {
            return Err(refused(format!(
                "a script has {MOST_PATTERNS} different regular expressions at most"
            )));
        }
        self.filters.borrow_mut().insert(key, filter.clone());
        Ok(filter)
    }

    /// The name of a picture that was given none.
    pub fn graph_name(&self) -> String {
        self.graphs.set(self.graphs.get() + 1);
        format!("Graph #{}.svg", self.graphs.get())
    }

    /// The same of a flame graph.
    pub fn flame_name(&self) -> String {
        self.flames.set(self.flames.get() + 1);
        format!("Flamegraph #{}.svg", self.flames.get())
    }
}

impl Log {
    /// Whether it is the same. One that is loaded twice is two.
    pub fn is(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.asked, &other.asked)
    }

    /// A sentence unless it is.
    pub fn must_be(&self, other: &Self) -> Made<()> {
        match self.is(other) {
            true => Ok(()),
            false => Err(refused("these are of different logs")),
        }
    }

    /// Something is made at its desk.
    pub fn ask<R: Send + 'static>(
        &self,
        make: impl Fn(&Desk) -> Result<R, Failure> + Send + Sync + 'static,
    ) -> Made<R> {
        if let Some(why) = self.env.over() {
            return Err(EvalAltResult::ErrorTerminated(why.into(), Position::NONE).into());
        }
        let answer = Arc::new(Mutex::new(None));
        let given = Arc::clone(&answer);
        let job = move |desk: &Desk| {
            let made = make(desk)?;
            *given.lock().unwrap_or_else(PoisonError::into_inner) = Some(made);
            Ok(())
        };
        made(self.asked.ask(Arc::new(job)))?;
        let answer = answer.lock().unwrap_or_else(PoisonError::into_inner).take();
        answer.ok_or_else(|| refused("the log gave no answer"))
    }
}
