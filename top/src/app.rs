//! What the user looks at, and what keys do.

use std::cmp::Reverse;
use std::path::PathBuf;

use crossterm_keys::{KeyCode, KeyEvent, KeyModifiers};
use memlog_pages::live::{SiteRow, ThreadRow};
use ratatui::crossterm::event as crossterm_keys;

use crate::reader::Request;
use crate::view::{LogRow, View};

/// Which table is shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Table {
    Logs,
    Sites,
    Threads,
    /// Of a site.
    Stacks(u32),
}

/// By what sites are sorted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Key {
    Live,
    Blocks,
    Grown,
    SinceFirst,
    Rate,
    Temporary,
    Name,
}

/// In the order of the columns.
pub const KEYS: [Key; 7] = [
    Key::Live,
    Key::Blocks,
    Key::Grown,
    Key::SinceFirst,
    Key::Rate,
    Key::Temporary,
    Key::Name,
];

/// What a key asks the terminal's owner to do.
#[derive(Debug, PartialEq, Eq)]
pub enum Act {
    Nothing,
    Quit,
    Suspend,
    Ask(Request),
}

/// All of it.
pub struct App {
    pub view: View,
    pub table: Table,
    pub key: Key,
    pub is_reversed: bool,
    /// The line that Enter goes into.
    pub selected: usize,
    /// Only names with this in them are shown.
    pub filter: String,
    pub is_typing: bool,
    pub is_paused: bool,
    pub shows_help: bool,
    /// Of the stacks, how far they are scrolled.
    pub scroll: u16,
    /// Whether somebody chooses lines: in plain text nobody does.
    pub has_cursor: bool,
    /// What is selected, so that it stays so when others overtake it.
    anchor: Option<Anchor>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum Anchor {
    Log(PathBuf),
    Site(u32),
    Thread(u32),
}

impl App {
    pub fn new(is_folder: bool) -> Self {
        Self {
            view: View::default(),
            table: if is_folder { Table::Logs } else { Table::Sites },
            key: Key::Live,
            is_reversed: false,
            selected: 0,
            filter: String::new(),
            is_typing: false,
            is_paused: false,
            shows_help: false,
            scroll: 0,
            has_cursor: true,
            anchor: None,
        }
    }

    /// The next view came.
    pub fn take(&mut self, view: View) {
        self.view = view;
        let rows = self.anchors();
        let kept = self
            .anchor
            .as_ref()
            .and_then(|anchor| rows.iter().position(|row| row == anchor));
        self.selected = kept
            .unwrap_or(self.selected)
            .min(rows.len().saturating_sub(1));
        self.anchor = rows.get(self.selected).cloned();
    }

    /// A key was pressed.
    pub fn press(&mut self, key: KeyEvent) -> Act {
        let is_control = key.modifiers.contains(KeyModifiers::CONTROL);
        match key.code {
            KeyCode::Char('c') if is_control => return Act::Quit,
            KeyCode::Char('z') if is_control => return Act::Suspend,
            KeyCode::Char(_) if is_control => return Act::Nothing,
            _ => {}
        }
        if self.is_typing {
            self.type_filter(key.code);
            return Act::Nothing;
        }
        if std::mem::take(&mut self.shows_help) {
            return Act::Nothing;
        }
        self.command(key.code)
    }

    fn type_filter(&mut self, code: KeyCode) {
        match code {
            KeyCode::Enter => self.is_typing = false,
            KeyCode::Esc => {
                self.is_typing = false;
                self.filter.clear();
            }
            KeyCode::Backspace => drop(self.filter.pop()),
            KeyCode::Char(letter) if !letter.is_control() => self.filter.push(letter),
            _ => return,
        }
        self.select(0);
    }

    fn command(&mut self, code: KeyCode) -> Act {
        match code {
            KeyCode::Char('q') => return Act::Quit,
            KeyCode::Char('?' | 'h') | KeyCode::F(1) => self.shows_help = true,
            KeyCode::Char('/') => self.is_typing = true,
            KeyCode::Char('p' | ' ') => {
                self.is_paused = !self.is_paused;
                return Act::Ask(Request::Pause(self.is_paused));
            }
            KeyCode::Char('s') => self.sort_by(1),
            KeyCode::Char('S') => self.sort_by(KEYS.len() - 1),
            KeyCode::Char('r') => self.is_reversed = !self.is_reversed,
            KeyCode::Tab | KeyCode::Char('t') => self.turn(),
            KeyCode::Down | KeyCode::Char('j') => self.step(1),
            KeyCode::Up | KeyCode::Char('k') => self.step(-1),
            KeyCode::PageDown => self.step(10),
            KeyCode::PageUp => self.step(-10),
            KeyCode::Home | KeyCode::Char('g') => self.step(isize::MIN),
            KeyCode::End | KeyCode::Char('G') => self.step(isize::MAX),
            KeyCode::Enter | KeyCode::Right => return self.enter(),
            KeyCode::Esc | KeyCode::Backspace | KeyCode::Left => return self.leave(),
            _ => {}
        }
        Act::Nothing
    }

    fn sort_by(&mut self, steps: usize) {
        let at = KEYS.iter().position(|key| *key == self.key).unwrap_or(0);
        self.key = KEYS[(at + steps) % KEYS.len()];
        self.select(0);
    }

    fn turn(&mut self) {
        self.table = match self.table {
            Table::Sites => Table::Threads,
            Table::Threads => Table::Sites,
            other => other,
        };
        self.select(0);
    }

    fn step(&mut self, by: isize) {
        if let Table::Stacks(_) = self.table {
            let by = by.clamp(-10_000, 10_000) as i32;
            self.scroll = (i32::from(self.scroll) + by).clamp(0, 10_000) as u16;
            return;
        }
        let last = self.anchors().len().saturating_sub(1);
        self.select(self.selected.saturating_add_signed(by).min(last));
    }

    fn select(&mut self, index: usize) {
        self.selected = index;
        self.anchor = self.anchors().get(index).cloned();
    }

    fn enter(&mut self) -> Act {
        match (self.table, self.anchor.clone()) {
            (Table::Logs, Some(Anchor::Log(path))) => {
                self.show(Table::Sites);
                Act::Ask(Request::Open(Some(path)))
            }
            (Table::Sites, Some(Anchor::Site(label))) => {
                self.scroll = 0;
                self.table = Table::Stacks(label);
                Act::Ask(Request::Stacks(Some(label)))
            }
            _ => Act::Nothing,
        }
    }

    fn leave(&mut self) -> Act {
        if !self.filter.is_empty() && !matches!(self.table, Table::Stacks(_)) {
            self.filter.clear();
            self.select(0);
            return Act::Nothing;
        }
        match self.table {
            Table::Stacks(_) => {
                self.table = Table::Sites;
                Act::Ask(Request::Stacks(None))
            }
            Table::Sites | Table::Threads if self.view.logs.is_some() => {
                self.show(Table::Logs);
                Act::Ask(Request::Open(None))
            }
            Table::Threads => {
                self.show(Table::Sites);
                Act::Nothing
            }
            Table::Logs | Table::Sites => Act::Nothing,
        }
    }

    fn show(&mut self, table: Table) {
        self.table = table;
        self.filter.clear();
        self.select(0);
    }

    fn anchors(&self) -> Vec<Anchor> {
        match self.table {
            Table::Logs => {
                let logs = self.logs().into_iter();
                logs.map(|log| Anchor::Log(log.path.clone())).collect()
            }
            Table::Sites | Table::Stacks(_) => {
                let sites = self.sites().into_iter();
                sites.map(|(site, _)| Anchor::Site(site.label)).collect()
            }
            Table::Threads => {
                let threads = self.threads().into_iter();
                threads.map(|thread| Anchor::Thread(thread.tid)).collect()
            }
        }
    }

    fn lets_through(&self, text: &str) -> bool {
        self.filter.is_empty() || text.to_lowercase().contains(&self.filter.to_lowercase())
    }

    /// The logs that are shown, in their order.
    pub fn logs(&self) -> Vec<&LogRow> {
        let logs = self.view.logs.iter().flatten();
        let mut logs: Vec<_> = logs
            .filter(|log| self.lets_through(&log_words(log)))
            .collect();
        logs.sort_by_key(|log| match self.key {
            Key::Blocks => Reverse(log.live.blocks as i64),
            Key::Grown | Key::SinceFirst => Reverse(log.grown),
            Key::Rate | Key::Temporary => Reverse(log.rate as i64),
            _ => Reverse(log.live.bytes as i64),
        });
        if self.key == Key::Name {
            logs.sort_by(|a, b| a.path.cmp(&b.path));
        }
        self.turned(logs)
    }

    /// The sites that are shown, in their order, each with its place in the look.
    pub fn sites(&self) -> Vec<(&SiteRow, usize)> {
        let Some(detail) = &self.view.detail else {
            return Vec::new();
        };
        let sites = detail.look.sites.iter().zip(0..);
        let mut sites: Vec<_> = sites
            .filter(|(_, index)| {
                let name = &detail.names[*index];
                let location = name.location.as_deref().unwrap_or_default();
                self.lets_through(&format!("{} {location}", name.function))
            })
            .collect();
        sites.sort_by_key(|(site, _)| {
            let first = match self.key {
                Key::Live | Key::Name => site.live.bytes as i64,
                Key::Blocks => site.live.blocks as i64,
                Key::Grown => site.grown,
                Key::SinceFirst => site.grown_since_first,
                Key::Rate => site.came.blocks as i64,
                Key::Temporary => site.temporary.blocks as i64,
            };
            (Reverse(first), Reverse(site.live.bytes), site.label)
        });
        if self.key == Key::Name {
            sites.sort_by(|a, b| detail.names[a.1].function.cmp(&detail.names[b.1].function));
        }
        self.turned(sites)
    }

    /// The threads that are shown, in their order.
    pub fn threads(&self) -> Vec<&ThreadRow> {
        let threads = self
            .view
            .detail
            .iter()
            .flat_map(|detail| &detail.look.threads);
        let mut threads: Vec<_> = threads
            .filter(|thread| self.lets_through(&format!("{} {}", thread.tid, thread.name)))
            .collect();
        threads.sort_by_key(|thread| {
            let first = match self.key {
                Key::Blocks => thread.live.blocks as i64,
                Key::Grown | Key::SinceFirst | Key::Rate => thread.grown,
                _ => thread.live.bytes as i64,
            };
            (Reverse(first), thread.tid)
        });
        if self.key == Key::Name {
            threads.sort_by(|a, b| a.name.cmp(&b.name));
        }
        self.turned(threads)
    }

    fn turned<T>(&self, mut rows: Vec<T>) -> Vec<T> {
        if self.is_reversed {
            rows.reverse();
        }
        rows
    }
}

fn log_words(log: &LogRow) -> String {
    let name = crate::reader::short(&log.path);
    format!(
        "{} {} {} {name}",
        log.seen.program, log.seen.pid, log.seen.host
    )
}
