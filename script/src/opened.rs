//! A log that is open on a thread of its own: what the desk borrows never leaves it.

use std::path::PathBuf;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Mutex, PoisonError};

use memlog_pages::blocks::{Failure, Opened};
use memlog_pages::{SymbolFiles, Watch};

use crate::host::{Asked, Job};

type Answer = Result<(), String>;

/// A log that is opened when it is first asked, and closed with this.
pub struct OpenLog {
    jobs: Mutex<Sender<(Job, Sender<Answer>)>>,
}

impl OpenLog {
    /// Of this file, with names from there.
    pub fn new(path: PathBuf, symbol_files: SymbolFiles) -> Result<Self, String> {
        let (sender, jobs) = channel();
        let thread = move || serve(&path, &symbol_files, &jobs);
        let thread = std::thread::Builder::new().spawn(thread);
        thread.map_err(|error| format!("cannot start a thread: {error}"))?;
        Ok(Self {
            jobs: Mutex::new(sender),
        })
    }
}

impl Asked for OpenLog {
    fn ask(&self, job: Job) -> Answer {
        let (sender, answer) = channel();
        let jobs = self.jobs.lock().unwrap_or_else(PoisonError::into_inner);
        let sent = jobs.send((job, sender));
        drop(jobs);
        let gone = || "the log could not be asked".to_owned();
        sent.map_err(|_| gone())?;
        answer.recv().unwrap_or_else(|_| Err(gone()))
    }
}

/// Answers until nobody can ask any more. A damaged table is made anew, once for each job
/// that saw it.
fn serve(
    path: &std::path::Path,
    symbol_files: &SymbolFiles,
    jobs: &Receiver<(Job, Sender<Answer>)>,
) {
    let mut next = jobs.recv().ok();
    let mut is_again = false;
    while let Some((job, answer)) = next.take() {
        let watch = Watch::begin();
        let opened = Opened {
            file: path,
            symbol_files,
            watch: &watch,
            is_again,
        };
        // The job at which the table turned out damaged is done again.
        let mut unfinished = None;
        let worked = opened.work(
            |_| Ok(()),
            |desk| {
                let mut current = Some((Job::clone(&job), answer.clone()));
                while let Some((job, answer)) = current.take() {
                    match job(desk) {
                        Ok(()) => drop(answer.send(Ok(()))),
                        Err(Failure::Said(error)) => drop(answer.send(Err(said(&error)))),
                        Err(Failure::Damaged) => {
                            unfinished = Some((job, answer));
                            return Err(Failure::Damaged);
                        }
                    }
                    current = jobs.recv().ok();
                }
                Ok(())
            },
        );
        match (worked, unfinished) {
            (Ok(Some(())), _) => return,
            // Nothing was asked yet: the table that was kept is damaged.
            (Ok(None), unfinished) if !is_again => {
                next = Some(unfinished.unwrap_or((job, answer)));
                is_again = true;
            }
            (Ok(None), unfinished) => {
                let (_, answer) = unfinished.unwrap_or((job, answer));
                let why = "the table of the log's blocks cannot be read";
                let _ = answer.send(Err(why.to_owned()));
                next = jobs.recv().ok();
            }
            (Err(error), _) => {
                let _ = answer.send(Err(said(&error)));
                next = jobs.recv().ok();
                is_again = false;
            }
        }
    }
}

fn said(error: &anyhow::Error) -> String {
    format!("{error:#}")
}
