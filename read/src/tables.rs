//! From a stack's id to its frames: look-ups in the log's own bytes.

use memlog_format::chunk::CHUNK_SIZE;
use memlog_format::table::{Code, CodeId, Node, StackId};

/// The chunks of one table, by their index.
#[derive(Clone, Debug, Default)]
pub(crate) struct TableChunks<'a> {
    chunks: Vec<Option<&'a [u8]>>,
}

impl<'a> TableChunks<'a> {
    /// Adds a chunk; false if there is one of this index already. The index
    /// is at most the number of places in the log.
    pub(crate) fn add(&mut self, index: u32, chunk: &'a [u8]) -> bool {
        let index = index as usize;
        if index >= self.chunks.len() {
            self.chunks.resize(index + 1, None);
        }
        let is_new = self.chunks[index].is_none();
        self.chunks[index].get_or_insert(chunk);
        is_new
    }

    /// The bytes of a record, if the log holds all of them.
    fn record(&self, id: u32, size: usize, first: u32) -> Option<&'a [u8]> {
        let per_chunk = (CHUNK_SIZE / size) as u32;
        let place = id % per_chunk;
        if place < first {
            return None;
        }
        let at = place as usize * size;
        let chunk = (*self.chunks.get((id / per_chunk) as usize)?)?;
        chunk.get(at..at + size)
    }

    /// The node of this id: its parent's id is always lower, so that every
    /// walk ends.
    pub(crate) fn node(&self, id: StackId) -> Option<Node> {
        use memlog_format::table::{FIRST_NODE, NODE_SIZE};
        let node = Node::decode(self.record(id.0, NODE_SIZE, FIRST_NODE)?)?;
        (node.parent < id).then_some(node)
    }

    /// All nodes that are there.
    pub(crate) fn nodes(&self) -> impl Iterator<Item = Node> {
        let per_chunk = CHUNK_SIZE / memlog_format::table::NODE_SIZE;
        let ids = 0..(self.chunks.len() * per_chunk) as u32;
        ids.filter_map(|id| self.node(StackId(id)))
    }

    /// All codes that are there.
    pub(crate) fn codes(&self) -> impl Iterator<Item = Code> {
        let per_chunk = CHUNK_SIZE / memlog_format::table::CODE_SIZE;
        let ids = 0..(self.chunks.len() * per_chunk) as u32;
        ids.filter_map(|id| self.code(CodeId(id)))
    }

    /// The code of this id.
    pub(crate) fn code(&self, id: CodeId) -> Option<Code> {
        use memlog_format::table::{CODE_SIZE, FIRST_CODE};
        Code::decode(self.record(id.0, CODE_SIZE, FIRST_CODE)?)
    }
}

/// The frames of a stack, innermost first.
pub struct Frames<'l, 'a> {
    pub(crate) nodes: &'l TableChunks<'a>,
    pub(crate) codes: &'l TableChunks<'a>,
    pub(crate) next: StackId,
    pub(crate) whole: bool,
}

impl Frames<'_, '_> {
    /// Once the frames are through: the root they ended in, or nothing if the
    /// log lacks a record of this stack.
    pub fn root(&self) -> Option<StackId> {
        (self.whole && self.next.is_root()).then_some(self.next)
    }
}

impl Iterator for Frames<'_, '_> {
    type Item = Code;

    fn next(&mut self) -> Option<Code> {
        if !self.whole || self.next.is_root() {
            return None;
        }
        let frame = self.nodes.node(self.next).and_then(|node| {
            let code = self.codes.code(node.code)?;
            Some((node.parent, code))
        });
        match frame {
            Some((parent, code)) => {
                self.next = parent;
                Some(code)
            }
            None => {
                self.whole = false;
                None
            }
        }
    }
}
