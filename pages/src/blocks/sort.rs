//! What groups and single blocks are sorted by.

use std::cmp::Reverse;

use memlog_answers::{Group, Order};

/// A column.
#[allow(missing_docs)] // they are words of the command line
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub enum Sort {
    Bytes,
    Blocks,
    /// Bytes with those of what it called
    Below,
    Waste,
    Largest,
    Leaked,
    Temporary,
    Name,
    /// Of single blocks: bytes that the allocator gave
    Usable,
    Lifetime,
    Address,
    Born,
    Died,
    Thread,
    Kind,
    /// By its number in the log
    Stack,
    /// By the chain's first block
    Chain,
}

impl Sort {
    /// Whether groups have it.
    pub(super) fn is_of_groups(self) -> bool {
        use Sort::{Below, Blocks, Bytes, Largest, Leaked, Name, Temporary, Waste};
        matches!(
            self,
            Bytes | Blocks | Below | Waste | Largest | Leaked | Temporary | Name
        )
    }

    /// The same of single blocks, if those have it.
    pub(super) fn order(self) -> Option<Order> {
        Some(match self {
            Sort::Bytes => Order::Size,
            Sort::Usable => Order::Usable,
            Sort::Waste => Order::Waste,
            Sort::Lifetime => Order::Lifetime,
            Sort::Address => Order::Address,
            Sort::Born => Order::Born,
            Sort::Died => Order::Died,
            Sort::Thread => Order::Thread,
            Sort::Kind => Order::Kind,
            Sort::Stack => Order::Stack,
            Sort::Chain => Order::Chain,
            Sort::Name => Order::Name,
            Sort::Blocks | Sort::Below | Sort::Largest | Sort::Leaked | Sort::Temporary => {
                return None;
            }
        })
    }
}

/// Groups, what there is most of first.
pub(super) fn sort(groups: &mut [Group], by: Sort) {
    if by == Sort::Name {
        return groups.sort_by(|one, other| one.name.cmp(&other.name));
    }
    let key = |group: &Group| match by {
        Sort::Blocks => group.own.blocks,
        Sort::Below => group.below.bytes,
        Sort::Waste => group.own.waste,
        Sort::Largest => group.own.sizes.1,
        Sort::Leaked => group.own.leaked_bytes,
        Sort::Temporary => group.own.temporary_blocks,
        // What groups do not have was refused.
        _ => group.own.bytes,
    };
    groups.sort_by_cached_key(|group| {
        (
            Reverse(key(group)),
            Reverse((group.own.bytes, group.own.blocks)),
            group.name.clone(),
        )
    });
}
