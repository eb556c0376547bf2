//! A host that keeps all in memory: no file is written, and no other log is opened.

use std::collections::HashSet;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use crate::host::{Asked, Host};
use crate::outcome::Output;

/// Folders that a script may make up.
const MOST_FOLDERS: usize = 1_000;

/// What a script prints and draws, and the folders that it made up.
pub struct Collected {
    log: Arc<dyn Asked>,
    output: Mutex<Vec<Output>>,
    folders: Mutex<HashSet<PathBuf>>,
    is_over: AtomicBool,
}

impl Collected {
    /// Nothing yet, of a log.
    pub fn new(log: Arc<dyn Asked>) -> Arc<Self> {
        Arc::new(Self {
            log,
            output: Mutex::default(),
            folders: Mutex::default(),
            is_over: AtomicBool::new(false),
        })
    }

    /// Has the script end: nobody waits for it any more.
    pub fn stop(&self) {
        self.is_over.store(true, Ordering::Relaxed);
    }

    /// What came so far, which is handed over.
    pub fn take(&self) -> Vec<Output> {
        std::mem::take(&mut self.output.lock().unwrap_or_else(PoisonError::into_inner))
    }

    fn push(&self, output: Output) {
        let mut all = self.output.lock().unwrap_or_else(PoisonError::into_inner);
        all.push(output);
    }
}

impl Host for Collected {
    fn log(&self) -> Result<Arc<dyn Asked>, String> {
        Ok(Arc::clone(&self.log))
    }

    fn load(&self, _: &str) -> Result<Arc<dyn Asked>, String> {
        Err("here a script has its log, and opens no other".to_owned())
    }

    fn println(&self, line: &str) -> Result<(), String> {
        self.push(Output::Line(line.to_owned()));
        Ok(())
    }

    fn note(&self, _: &str) -> Result<(), String> {
        Ok(())
    }

    fn make_folder(&self, path: &Path) -> Result<(), String> {
        let mut folders = self.folders.lock().unwrap_or_else(PoisonError::into_inner);
        folders.extend(path.ancestors().map(Path::to_owned));
        match folders.len() > MOST_FOLDERS {
            true => Err(format!("a script makes {MOST_FOLDERS} folders at most")),
            false => Ok(()),
        }
    }

    fn has_folder(&self, path: &Path) -> bool {
        let folders = self.folders.lock().unwrap_or_else(PoisonError::into_inner);
        folders.contains(path)
    }

    fn write(&self, path: &Path, svg: &str) -> Result<(), String> {
        let folder = path.parent().unwrap_or(Path::new(""));
        if !folder.as_os_str().is_empty() && !self.has_folder(folder) {
            return Err(format!("there is no folder `{}`", folder.display()));
        }
        self.push(Output::Picture {
            path: path.display().to_string(),
            svg: svg.to_owned(),
        });
        Ok(())
    }

    fn is_over(&self) -> bool {
        self.is_over.load(Ordering::Relaxed)
    }
}
