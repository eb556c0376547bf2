//! The names of new frames: from the record behind their caller's, from this
//! thread's cache of the trie, or from the trie's index.

use super::Namer;
use super::frame::{FreshFrame, Name};
use crate::platform::sys::{Os, Sys};
use crate::unwind::share::Share;
use memlog_format::table::{CodeId, Node, StackId};
use memlog_lockfree::table::Tag;

/// Entries of a thread's own cache of the trie, at most.
const CHILDREN: usize = Os::SIZES.children;

/// A child in the trie, as this thread met it.
#[derive(Clone, Copy)]
#[repr(C, align(16))]
struct Child {
    node: u64,
    id: u32,
}

/// The children in the trie that this thread met last, by their tags.
#[repr(C)]
pub(super) struct Children {
    share: Share<Child, CHILDREN>,
    entries: [Child; CHILDREN],
}

impl Children {
    /// Forgets them: ids mean another thing now.
    pub(super) fn forget(&mut self) {
        let used = self.share.used();
        for child in self.entries.iter_mut().take(used) {
            *child = Child { node: 0, id: 0 };
        }
    }

    /// The name of a frame inside a named one; its id is 0 if there is no room.
    /// `inside`: the new frames further in.
    #[inline(always)]
    pub(super) fn name(
        &mut self,
        outer: Name,
        frame: &FreshFrame,
        inside: &[FreshFrame],
        namer: &impl Namer,
    ) -> Name {
        let code = frame.known.code;
        let node = Node {
            parent: StackId(outer.id),
            code: CodeId(code),
        };
        let tag = outer.tag.mixed(u64::from(code));
        let id = match namer.follows(node) {
            Some(id) => id,
            None => match self.share.entry(&self.entries, tag.0 as usize) {
                child if child.node == node.to_word() => child.id,
                _ => self.look_up(tag, node, inside, namer),
            },
        };
        Name { id, tag }
    }

    /// A node's id by the index, whose lines for the frames inside it are
    /// fetched meanwhile: what leads to an unknown path is seldom known.
    #[inline(never)]
    fn look_up(&mut self, tag: Tag, node: Node, inside: &[FreshFrame], namer: &impl Namer) -> u32 {
        const AHEAD: usize = 8;
        let mut next = tag;
        for frame in inside.iter().rev().take(AHEAD) {
            next = next.mixed(u64::from(frame.known.code));
            namer.expect(next);
        }
        let codes = inside.iter().rev().map(|frame| CodeId(frame.known.code));
        let id = namer.intern(tag, node, codes);
        if id != 0 {
            match self.share.miss() {
                0 => {}
                more => namer.took(more * size_of::<Child>()),
            }
            let child = self.share.entry_mut(&mut self.entries, tag.0 as usize);
            *child = Child {
                node: node.to_word(),
                id,
            };
        }
        id
    }

    /// Names frames that cannot be kept.
    #[cold]
    #[inline(never)]
    pub(super) fn name_all(
        &mut self,
        mut outer: Name,
        frames: &[FreshFrame],
        namer: &impl Namer,
    ) -> u32 {
        let mut inside = frames;
        while outer.id != 0
            && let Some((frame, rest)) = inside.split_last()
        {
            inside = rest;
            outer = self.name(outer, frame, inside, namer);
        }
        outer.id
    }
}
