//! Which blocks, or which mappings: a tree of filters and sets of stacks.

use std::collections::HashSet;
use std::sync::Arc;

use memlog_answers::{Choice, Of, Test, World, in_mappings_of, needs_names};
use memlog_pages::blocks::{Desk, Failure};
use memlog_query::{Expr, Test as Asked};

/// Filters of one list, at most.
const MOST_FILTERS: usize = 2_000;
/// Lists in each other, at most.
const MOST_DEEP: usize = 100;

/// A stack as the log knows it: 0 for the log itself, 1 for its parent and so on, and its
/// number there.
pub(crate) type StackKey = (u32, u32);

/// Some stacks.
#[derive(Clone, Debug, Default)]
pub(crate) struct StackSet {
    /// By their keys.
    pub keys: HashSet<StackKey>,
    /// By their numbers, in whichever log.
    pub numbers: HashSet<u32>,
}

impl StackSet {
    pub fn len(&self) -> usize {
        self.keys.len() + self.numbers.len()
    }

    /// By a stack's number in the world whether it is one of them.
    fn marks(&self, world: &World) -> Vec<bool> {
        let mut marks = vec![false; world.stack_count()];
        for (&number, key) in world.numbers.iter().zip(world.table.stacks()) {
            let key = (key.log, key.id.0);
            marks[number as usize] |= self.keys.contains(&key) || self.numbers.contains(&key.1);
        }
        marks
    }
}

/// What is chosen.
#[derive(Clone, Debug)]
pub(crate) struct Chosen {
    tree: Arc<Tree>,
    filters: usize,
    deep: usize,
}

#[derive(Debug)]
enum Tree {
    Filter(Expr),
    /// The stack that asked is one of these.
    Stacks(Arc<StackSet>),
    /// The stack that released is.
    ReleaseStacks(Arc<StackSet>),
    /// Blocks that came to lie in these mappings.
    InMaps(Arc<Tree>),
    All(Vec<Arc<Tree>>),
    Any(Vec<Arc<Tree>>),
    Not(Arc<Tree>),
}

impl From<Expr> for Chosen {
    fn from(filter: Expr) -> Self {
        Self::of(Tree::Filter(filter), 1, 0)
    }
}

impl Chosen {
    fn of(tree: Tree, filters: usize, deep: usize) -> Self {
        Self {
            tree: Arc::new(tree),
            filters,
            deep,
        }
    }

    /// Everything.
    pub fn all() -> Self {
        Expr::all_of(Vec::new()).into()
    }

    /// What has one of these stacks.
    pub fn stacks(set: Arc<StackSet>, is_of_release: bool) -> Self {
        let tree = match is_of_release {
            true => Tree::ReleaseStacks(set),
            false => Tree::Stacks(set),
        };
        Self::of(tree, 1, 0)
    }

    /// Blocks in mappings.
    pub fn in_maps(maps: &Self) -> Self {
        let tree = Tree::InMaps(Arc::clone(&maps.tree));
        Self::of(tree, maps.filters, maps.deep + 1)
    }

    /// Whether it is everything.
    pub fn is_all(&self) -> bool {
        matches!(&*self.tree, Tree::Filter(Expr::Test(Asked::All)))
    }

    /// What both choose. `Err` is a sentence.
    pub fn and(&self, other: &Self) -> Result<Self, String> {
        match (self.is_all(), other.is_all()) {
            (true, _) => Ok(other.clone()),
            (_, true) => Ok(self.clone()),
            _ => self.joined(other, true),
        }
    }

    /// What one of both chooses.
    pub fn or(&self, other: &Self) -> Result<Self, String> {
        match self.is_all() || other.is_all() {
            true => Ok(Self::all()),
            false => self.joined(other, false),
        }
    }

    /// What this does not choose.
    pub fn negated(&self) -> Result<Self, String> {
        let tree = Tree::Not(Arc::clone(&self.tree));
        Self::of(tree, self.filters, self.deep + 1).checked()
    }

    fn joined(&self, other: &Self, is_all: bool) -> Result<Self, String> {
        // What is joined in the same way stays one list.
        let parts = |one: &Self| match (&*one.tree, is_all) {
            (Tree::All(list), true) | (Tree::Any(list), false) => (list.clone(), one.deep),
            _ => (vec![Arc::clone(&one.tree)], one.deep + 1),
        };
        let ((mut list, deep), (others, other_deep)) = (parts(self), parts(other));
        list.extend(others);
        let tree = match is_all {
            true => Tree::All(list),
            false => Tree::Any(list),
        };
        let deep = deep.max(other_deep);
        Self::of(tree, self.filters + other.filters, deep).checked()
    }

    fn checked(self) -> Result<Self, String> {
        if self.filters > MOST_FILTERS {
            return Err(format!(
                "a list is put together of {MOST_FILTERS} filters at most"
            ));
        }
        match self.deep > MOST_DEEP {
            true => Err(format!(
                "lists are put together of lists {MOST_DEEP} times at most"
            )),
            false => Ok(self),
        }
    }

    /// Whether names are looked up for it.
    pub fn needs_names(&self) -> bool {
        self.tree.needs_names()
    }

    /// The same in the language of filters, if it can be said there.
    pub fn filter(&self) -> Option<Expr> {
        self.tree.filter()
    }

    /// Which rows those are.
    pub fn choice(&self, desk: &Desk, of: Of) -> Result<Choice, Failure> {
        let choice = Choice::of(self.tree.test(desk, of)?);
        Ok(match of {
            Of::Blocks => choice,
            Of::Mappings => choice.and(Test::Not(Box::new(Test::Backing))),
        })
    }
}

impl Tree {
    fn needs_names(&self) -> bool {
        match self {
            Self::Filter(filter) => needs_names(filter),
            Self::Stacks(_) | Self::ReleaseStacks(_) => false,
            Self::InMaps(one) | Self::Not(one) => one.needs_names(),
            Self::All(list) | Self::Any(list) => list.iter().any(|one| one.needs_names()),
        }
    }

    fn filter(&self) -> Option<Expr> {
        let of = |list: &[Arc<Tree>]| -> Option<Vec<Expr>> {
            list.iter().map(|one| one.filter()).collect()
        };
        match self {
            Self::Filter(filter) => Some(filter.clone()),
            Self::All(list) => of(list).map(Expr::all_of),
            Self::Any(list) => of(list).map(Expr::any_of),
            Self::Not(one) => one.filter().map(Expr::negated),
            Self::Stacks(_) | Self::ReleaseStacks(_) | Self::InMaps(_) => None,
        }
    }

    fn test(&self, desk: &Desk, of: Of) -> Result<Test, Failure> {
        // All filters at once: what several of them ask of the whole log is read once.
        if let Some(filter) = self.filter() {
            return desk.test(of, &filter);
        }
        let tests = |list: &[Arc<Tree>]| -> Result<Vec<Test>, Failure> {
            list.iter().map(|one| one.test(desk, of)).collect()
        };
        let marks = |set: &StackSet| -> Result<Arc<Vec<bool>>, Failure> {
            Ok(Arc::new(set.marks(desk.world(of, false)?)))
        };
        Ok(match self {
            Self::Filter(filter) => desk.test(of, filter)?,
            Self::Stacks(set) => Test::Stack(marks(set)?),
            Self::ReleaseStacks(set) => Test::ReleaseStack(marks(set)?),
            Self::InMaps(maps) => {
                let choice = Choice::of(maps.test(desk, Of::Mappings)?);
                let maps = desk.world(Of::Mappings, false)?;
                in_mappings_of(desk.world(Of::Blocks, false)?, maps, &choice)?
            }
            Self::All(list) => {
                // Those that are filters together, and the rest.
                let (filters, others): (Vec<_>, Vec<_>) =
                    list.iter().cloned().partition(|one| one.filter().is_some());
                let filters = Expr::all_of(filters.iter().filter_map(|one| one.filter()).collect());
                let mut all = tests(&others)?;
                all.insert(0, desk.test(of, &filters)?);
                Test::All(all)
            }
            Self::Any(list) => Test::Any(tests(list)?),
            Self::Not(one) => Test::Not(Box::new(one.test(desk, of)?)),
        })
    }
}

/// What a list of a script chooses.
#[derive(Clone, Debug)]
pub struct Selection {
    pub(crate) of: Of,
    pub(crate) chosen: Chosen,
}

impl Selection {
    /// Whether it is of blocks or of mappings.
    pub fn of(&self) -> Of {
        self.of
    }

    /// What it asks of rows.
    pub fn test(&self, desk: &Desk) -> Result<Test, Failure> {
        self.chosen.tree.test(desk, self.of)
    }

    /// The same in the language of filters, if it can be said there.
    pub fn filter(&self) -> Option<Expr> {
        self.chosen.filter()
    }
}
