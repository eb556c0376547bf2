//! The scopes that a stream's thread is in.
//!
//! A scope is told when the next record comes, and not when it begins: a scope in which
//! nothing happens takes nothing of the log, nor does one of a time when nothing is
//! recorded. So a change takes the room away that the next record looks for; whoever
//! looks for room finds the scope that is untold. No usual record does more for it.

use super::{ROOM_INSIDE, Stream};
use core::sync::atomic::{Ordering, compiler_fence};
use memlog_format::ext::{Ext, MAX_TEXT};

/// Scopes within each other that have a place in the tag. Of those further in only the
/// number is known, so that each end belongs to its beginning.
pub const DEEPEST: usize = 16;

/// What is put between two names.
const BETWEEN: u8 = b'/';

/// The scopes of a thread, the outermost first.
///
/// A signal's handler may read them at any moment: a name is there before it counts.
#[derive(Clone, Copy)]
pub struct Scopes {
    /// Their names with slashes between.
    path: [u8; MAX_TEXT],
    /// By scope where its name ends.
    ends: [u8; DEEPEST],
    depth: u32,
    /// Whether the stream's records are in one now, for a reader.
    is_told: bool,
    /// Whether the next record is of others than the reader knows.
    is_untold: bool,
}

impl Scopes {
    /// None.
    pub const NONE: Self = Self {
        path: [0; MAX_TEXT],
        ends: [0; DEEPEST],
        depth: 0,
        is_told: false,
        is_untold: false,
    };

    /// The names of all.
    pub fn path(&self) -> &[u8] {
        self.path.get(..self.end()).unwrap_or(&[])
    }

    /// Where the innermost name ends.
    fn end(&self) -> usize {
        let innermost = (self.depth as usize).min(DEEPEST).checked_sub(1);
        let end = innermost.and_then(|place| self.ends.get(place));
        end.copied().unwrap_or(0).into()
    }

    /// One within the others.
    fn enter(&mut self, name: &[u8]) {
        let start = self.end();
        let mut end = start;
        let before = if start > 0 { 1 } else { 0 };
        let name = fitting(name, MAX_TEXT.saturating_sub(start + before));
        if let Some(place) = self.ends.get_mut(self.depth as usize) {
            let between = if before > 0 { &[BETWEEN][..] } else { &[] };
            let room = self.path.iter_mut().skip(start);
            if !name.is_empty() {
                for (to, from) in room.zip(between.iter().chain(name)) {
                    *to = *from;
                    end += 1;
                }
            }
            *place = end as u8;
        }
        compiler_fence(Ordering::SeqCst);
        self.depth = self.depth.saturating_add(1);
    }

    /// Without the innermost, if there is one.
    fn leave(&mut self) {
        self.depth = self.depth.saturating_sub(1);
    }
}

/// As much of a name as fits; a letter is not cut in half.
fn fitting(name: &[u8], most: usize) -> &[u8] {
    let mut length = name.len().min(most);
    let is_amid = |at: usize| name.get(at).is_some_and(|byte| byte & 0xc0 == 0x80);
    while length > 0 && is_amid(length) {
        length -= 1;
    }
    name.get(..length).unwrap_or(&[])
}

impl Stream {
    /// A scope begins.
    pub fn enter_scope(&mut self, name: &[u8]) {
        self.scopes.enter(name);
        self.scopes_changed();
    }

    /// The innermost scope ends.
    pub fn leave_scope(&mut self) {
        self.scopes.leave();
        self.scopes_changed();
    }

    /// The scopes that its thread is in.
    pub fn scopes(&self) -> &Scopes {
        &self.scopes
    }

    /// Its thread is in these.
    pub fn take_scopes(&mut self, scopes: &Scopes) {
        self.scopes = Scopes {
            is_told: self.scopes.is_told,
            ..*scopes
        };
        self.scopes_changed();
    }

    /// Its thread is in none: it is another than before.
    pub(super) fn forget_scopes(&mut self) {
        self.scopes.depth = 0;
        self.scopes_changed();
    }

    /// A THREAD was written, behind which a reader knows of none.
    pub(super) fn thread_told(&mut self) {
        self.scopes.is_told = false;
        self.scopes_changed();
    }

    fn scopes_changed(&mut self) {
        self.scopes.is_untold = self.scopes.is_told || self.scopes.end() > 0;
        if self.scopes.is_untold {
            // Whoever writes next asks for room.
            self.full_at = 0;
        }
    }

    /// Makes room for what comes next, and tells before it of which scope it is: also
    /// between the halves of a realloc, where the thread may just have got a name. False if
    /// the chunk has no room for a whole group.
    pub(super) fn make_room(&mut self) -> bool {
        if self.chunk.is_null() {
            return false;
        }
        self.set_ready(self.ready);
        let has_room = self.committed < self.full_at || self.reach_further();
        let behind = self.committed as usize + 2 * ROOM_INSIDE;
        let is_amid = self.announced && behind <= self.ready as usize;
        if !self.scopes.is_untold || !has_room && !is_amid {
            return has_room;
        }
        self.tell_scopes();
        !self.chunk.is_null() && (self.committed < self.full_at || self.reach_further())
    }

    /// Tells them anew, at the beginning of a chunk.
    pub(super) fn tell_scopes_of_chunk(&mut self) {
        (self.scopes.is_told, self.scopes.is_untold) = (false, false);
        if self.scopes.end() > 0 {
            self.tell_scopes();
        }
    }

    #[inline(never)]
    fn tell_scopes(&mut self) {
        let scopes = self.scopes;
        let path = scopes.path();
        (self.scopes.is_told, self.scopes.is_untold) = (!path.is_empty(), false);
        self.put(|deltas, out| deltas.put_ext(out, &Ext::Scope(path)));
    }
}

#[cfg(test)]
mod tests {
    use super::{DEEPEST, Scopes};

    fn of(names: &[&str]) -> Scopes {
        let mut scopes = Scopes::NONE;
        names.iter().for_each(|name| scopes.enter(name.as_bytes()));
        scopes
    }

    #[test]
    fn names_stand_within_each_other() {
        let mut scopes = of(&["load", "parse", "", "tree"]);
        assert_eq!(scopes.path(), b"load/parse/tree");
        for left in ["load/parse", "load/parse", "load", "", "", ""] {
            scopes.leave();
            assert_eq!(scopes.path(), left.as_bytes());
        }
        assert_eq!(of(&["", "a"]).path(), b"a");
    }

    /// However deep they are and however long, each end is that of its beginning.
    #[test]
    fn what_has_no_place_is_counted() {
        let long = "x".repeat(100);
        let mut scopes = of(&[&long, &long, "y"]);
        assert_eq!(scopes.path().len(), 128);
        scopes.leave();
        scopes.leave();
        assert_eq!(scopes.path(), long.as_bytes());
        let mut deep = of(&["a"; DEEPEST + 9]);
        let path = deep.path().to_vec();
        assert_eq!(path.len(), 2 * DEEPEST - 1);
        (0..9).for_each(|_| deep.leave());
        assert_eq!(deep.path(), path);
        (0..DEEPEST).for_each(|_| deep.leave());
        assert_eq!(deep.path(), b"");
    }

    /// A letter that does not fit is left out as a whole.
    #[test]
    fn no_letter_is_cut() {
        let before = "x".repeat(125);
        assert_eq!(of(&[&before, "\u{20ac}"]).path(), before.as_bytes());
        assert_eq!(of(&[&before, "ab\u{20ac}"]).path().len(), 128);
        let two = "y".repeat(127) + "\u{e9}";
        assert_eq!(of(&[&two]).path().len(), 127);
    }
}
