//! Pictures of lists over time, one upon the other: a block is shown once, in the first
//! series that has it.
//!
//! * `series`: what is drawn of which blocks
//! * `points`: the figures; `drawn`: the picture
//! * `colours`: colours as pages say them

mod colours;
mod drawn;
mod points;
mod series;

use memlog_answers::Of;
use memlog_export::stacked::Around;

use crate::env::{Made, refused};
use crate::groups::Groups;
use crate::list::List;
use crate::time::Duration;
pub(crate) use colours::colour;
use series::Layer;

/// What is shown over time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    MemoryUsage,
    LiveAllocations,
    NewAllocations,
    Deallocations,
    AddressSpace,
    Rss,
}

/// A picture that a script puts together.
#[derive(Clone, Default)]
pub(crate) struct Graph {
    layers: Vec<Layer>,
    kind: Option<Kind>,
    pub trims_left: bool,
    pub trims_right: bool,
    pub start: Option<Duration>,
    pub end: Option<Duration>,
    pub around: Around,
    pub gradient: Option<[[u8; 3]; 2]>,
}

impl Kind {
    fn of(self) -> Of {
        match self {
            Self::AddressSpace | Self::Rss => Of::Mappings,
            _ => Of::Blocks,
        }
    }

    /// As it stands beside the axis.
    fn told(self) -> &'static str {
        match self {
            Self::MemoryUsage => "Memory usage",
            Self::LiveAllocations => "Live allocations",
            Self::NewAllocations => "New allocations",
            Self::Deallocations => "Deallocations",
            Self::AddressSpace => "Address space",
            Self::Rss => "RSS",
        }
    }

    fn is_bytes(self) -> bool {
        matches!(self, Self::MemoryUsage | Self::AddressSpace | Self::Rss)
    }
}

impl Graph {
    /// What is shown, once that is known.
    fn kind(&self) -> Option<Kind> {
        let first = self.layers.first();
        self.kind.or_else(|| {
            first.map(|layer| match layer.list().of {
                Of::Blocks => Kind::MemoryUsage,
                Of::Mappings => Kind::AddressSpace,
            })
        })
    }

    /// A graph is of blocks or of maps.
    fn must_be_of(&self, of: Of) -> Made<()> {
        match self.kind() {
            Some(kind) if kind.of() != of => Err(refused(match of {
                Of::Blocks => "this graph is of maps, and allocations cannot be in it",
                Of::Mappings => "this graph is of allocations, and maps cannot be in it",
            })),
            _ => Ok(()),
        }
    }

    pub fn showing(&self, kind: Kind) -> Made<Self> {
        self.must_be_of(kind.of())?;
        Ok(Self {
            kind: Some(kind),
            ..self.clone()
        })
    }

    /// The same but for something.
    pub fn changed(&self, change: impl FnOnce(&mut Self)) -> Self {
        let mut changed = self.clone();
        change(&mut changed);
        changed
    }

    /// With a series more.
    pub fn with_list(&self, list: List, name: Option<String>) -> Made<Self> {
        self.with(Layer::List(list, name))
    }

    /// With a series more for each group.
    pub fn with_groups(&self, groups: Groups) -> Made<Self> {
        self.with(Layer::Groups(groups))
    }

    fn with(&self, layer: Layer) -> Made<Self> {
        self.must_be_of(layer.list().of)?;
        if let Some(first) = self.layers.first() {
            layer.list().log.must_be(&first.list().log)?;
        }
        let mut more = self.clone();
        more.layers.push(layer);
        series::check_count(&more.layers)?;
        Ok(more)
    }
}
