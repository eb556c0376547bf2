//! Numbers of stacks that are the same wherever a stack is met.

use memlog_analysis::Name;
use sha2::{Digest, Sha256};

use crate::flame::{Label, Node};
use crate::shown::clean;

/// Of each place of a tree the id of the stack that ends there: of its function, line and
/// module, and of its caller's id. Of 64 bits, so that all engines have a type for it.
pub fn stack_ids(nodes: &[Node], names: &[Name]) -> Vec<i64> {
    let mut ids: Vec<i64> = Vec::with_capacity(nodes.len());
    for node in nodes {
        let caller = node.caller.and_then(|caller| ids.get(caller as usize));
        let name = match node.label {
            Label::Named(name) => names.get(name as usize),
            Label::Lesser(_) => None,
        };
        ids.push(id(caller.copied().unwrap_or(0), name));
    }
    ids
}

fn id(caller: i64, name: Option<&Name>) -> i64 {
    let mut hash = Sha256::new();
    hash.update(caller.to_le_bytes());
    let parts = name.map(|name| {
        let location = name.location.as_deref().unwrap_or_default();
        let module = name.module.as_deref().unwrap_or_default();
        [name.function.as_str(), location, module]
    });
    for part in parts.into_iter().flatten() {
        hash.update(clean(part.as_bytes()));
        hash.update([0]);
    }
    first_bytes(&hash.finalize())
}

/// Of the content of a file, as its name.
pub(super) fn name_of(content: &[u8]) -> String {
    format!("{:016x}", first_bytes(&Sha256::digest(content)) as u64)
}

fn first_bytes(hash: &[u8]) -> i64 {
    let mut first = [0; 8];
    first
        .iter_mut()
        .zip(hash)
        .for_each(|(to, from)| *to = *from);
    i64::from_le_bytes(first)
}
