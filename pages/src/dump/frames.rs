//! Stacks as `dump` prints them, each joined once as long as there is room for it.

use memlog_analysis::{ModuleKey, Site, Tables};
use memlog_format::table::{Code, StackId};
use memlog_read::Log;

use crate::names::Names;
use crate::open::LogTables;
use crate::words::clean;

/// Room for so many bytes of joined stacks.
const ROOM_BYTES: usize = 32 << 20;

/// All that were printed lately.
pub(super) struct StackTexts<'l, 'a, 's> {
    log: &'l Log<'a>,
    tables: LogTables<'l, 'a>,
    pub(super) names: Option<Names<'s>>,
    /// Each frame, by its code's id.
    frames: Vec<Option<Box<str>>>,
    /// Where each stack stands in the text, and how much of it that is; nothing where
    /// it is not there.
    stacks: Vec<(u32, u32)>,
    text: Vec<u8>,
    /// When it is longer all are joined anew.
    pub(super) room_bytes: usize,
}

impl<'l, 'a, 's> StackTexts<'l, 'a, 's> {
    pub(super) fn new(log: &'l Log<'a>, names: Option<Names<'s>>) -> Self {
        Self {
            log,
            tables: LogTables::new(log),
            names,
            frames: Vec::new(),
            stacks: Vec::new(),
            text: Vec::new(),
            room_bytes: ROOM_BYTES,
        }
    }

    /// Appends its frames, innermost first, each behind a tab.
    #[inline]
    pub(super) fn put(&mut self, out: &mut Vec<u8>, stack: StackId) {
        let (from, length) = match self.stacks.get(stack.0 as usize) {
            Some(&(from, length)) if length > 0 => (from, length),
            _ => self.join(stack),
        };
        let from = from as usize;
        out.extend_from_slice(&self.text[from..from + length as usize]);
    }

    #[cold]
    fn join(&mut self, stack: StackId) -> (u32, u32) {
        if self.text.len() > self.room_bytes {
            self.text.clear();
            self.stacks.fill((0, 0));
        }
        let from = self.text.len();
        let mut next = stack;
        while let Some(node) = self.log.node(next).filter(|_| !next.is_root())
            && let Some(code) = self.log.code(node.code)
        {
            let index = node.code.0 as usize;
            if index >= self.frames.len() {
                self.frames.resize(index + 1, None);
            }
            if self.frames[index].is_none() {
                self.frames[index] = Some(self.frame(&code).into());
            }
            self.text.push(b'\t');
            let text = self.frames[index].as_deref().unwrap_or_default();
            self.text.extend_from_slice(text.as_bytes());
            next = node.parent;
        }
        let found = (from as u32, (self.text.len() - from) as u32);
        // A stack that has no record has no place either.
        if found.1 > 0 {
            let index = stack.0 as usize;
            if index >= self.stacks.len() {
                self.stacks.resize(index + 1, (0, 0));
            }
            self.stacks[index] = found;
        }
        found
    }

    /// `FILE (SYMBOL+0xOFF) [0xPC (0xRELPC)]`
    fn frame(&mut self, code: &Code) -> String {
        let pc = code.address;
        let Some(module) = self.tables.module(code.module) else {
            return format!("? (?+0x0) [{pc:#x} ({pc:#x})]");
        };
        let relative = pc.wrapping_sub(module.bias);
        let site = Site {
            address: pc,
            exact: code.exact,
            module: None,
        };
        let names = self.names.as_mut();
        let symbol = names.and_then(|names| names.symbol(&site, &ModuleKey::from(&module)));
        let (name, offset) = match symbol {
            Some(symbol) => (symbol.name, symbol.offset),
            None => ("?".into(), relative),
        };
        let file = clean(module.path);
        format!("{file} ({name}+{offset:#x}) [{pc:#x} ({relative:#x})]")
    }
}
