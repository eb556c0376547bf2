//! Stacks that are given, and the graph of them.

use memlog_analysis::{At, Frame, Moment, Options, Tables, Tally};
use memlog_export::{CallGraph, Named, Place};
use memlog_format::api::Api;
use memlog_format::event::Alloc;
use memlog_format::meta::Module;
use memlog_format::table::{Code, CodeId, FIRST_CODE, FIRST_NODE, Node, StackId};

/// Stacks of addresses, outermost first, as tables.
#[derive(Default)]
pub struct Stacks {
    nodes: Vec<Node>,
}

impl Stacks {
    pub fn add(&mut self, root: StackId, addresses: &[u8]) -> StackId {
        addresses.iter().fold(root, |parent, &address| {
            let code = CodeId(FIRST_CODE + u32::from(address));
            self.nodes.push(Node { parent, code });
            StackId(FIRST_NODE + self.nodes.len() as u32 - 1)
        })
    }
}

impl Tables for Stacks {
    fn node(&self, id: StackId) -> Option<Node> {
        let index = id.0.checked_sub(FIRST_NODE)?;
        self.nodes.get(index as usize).copied()
    }

    fn code(&self, id: CodeId) -> Option<Code> {
        Some(Code {
            address: u64::from(id.0 - FIRST_CODE),
            module: 0,
            exact: true,
        })
    }

    fn module(&self, _: u32) -> Option<Module<'_>> {
        None
    }
}

/// What is at an address: above 9 a function with another inlined into it,
/// 9 is operator new, and 7 and 8 are one place.
pub fn names(address: u64) -> Vec<String> {
    match address {
        8 => vec!["f7".into()],
        9 => vec!["operator new(unsigned long)".into()],
        10.. => vec![format!("f{}", address - 10), format!("f{address}")],
        _ => vec![format!("f{address}")],
    }
}

pub fn named(frame: &Frame) -> Named {
    let place = |function| Place {
        function,
        ..Place::default()
    };
    Named {
        places: names(frame.site.address).into_iter().map(place).collect(),
        address: format!("{:#x}", frame.site.address),
        symbol: None,
    }
}

pub const AT: At = At {
    stream: 0,
    tid: 1,
    tick: 0,
};

pub fn block(address: u64, size: u64, stack: StackId) -> Alloc {
    Alloc {
        api: Api::Malloc,
        address,
        size,
        usable: size,
        alignment_log2: 0,
        stack,
        order: None,
    }
}

pub fn built(tally: &Tally, named: impl FnMut(&Frame) -> Named) -> CallGraph {
    let held = tally.held(Moment::End);
    CallGraph::build(tally.stacks(), held, std::iter::empty(), named)
}

/// A stack and the blocks of it.
pub type Given = (bool, Vec<u8>, Vec<u64>);

pub fn graph(given: &[Given]) -> CallGraph {
    let mut stacks = Stacks::default();
    let mut tally = Tally::new(Options::default());
    let mut address = 0x1000;
    for (is_cut, addresses, sizes) in given {
        let root = if *is_cut {
            StackId::CUT_TOO_DEEP
        } else {
            StackId::COMPLETE
        };
        let stack = stacks.add(root, addresses);
        for &size in sizes {
            address += 0x10_0000;
            tally.alloc(AT, &block(address, size, stack), &stacks);
        }
    }
    built(&tally, named)
}
