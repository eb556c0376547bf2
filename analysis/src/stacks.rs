//! Each stack once. The recorder may write a stack or a code address twice
//! when threads race for it, and a forked child's log has tables of its own;
//! here equal paths get one index, in all logs that are taken together.

use foldhash::fast::RandomState;
use hashbrown::HashMap;
use memlog_format::meta::Module;
use memlog_format::table::{Code, CodeId, Node, StackId};

use crate::arch::prefetch;

/// A log's tables, as the analysis asks for them. A node's parent has a lower
/// id than the node, and ids are dense: at most one in 8192 records of a table
/// chunk that is there.
pub trait Tables {
    /// The node of this id.
    fn node(&self, id: StackId) -> Option<Node>;
    /// The code of this id.
    fn code(&self, id: CodeId) -> Option<Code>;
    /// The module instance of this id.
    fn module(&self, id: u32) -> Option<Module<'_>>;
}

/// A module instance, the same in every log of a family of forks.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
#[allow(missing_docs)] // as in the log
pub struct ModuleKey {
    pub bias: u64,
    pub low: u64,
    pub high: u64,
    pub build_id: Vec<u8>,
    pub path: Vec<u8>,
}

impl From<&Module<'_>> for ModuleKey {
    fn from(module: &Module) -> Self {
        Self {
            bias: module.bias,
            low: module.low,
            high: module.high,
            build_id: module.build_id.to_vec(),
            path: module.path.to_vec(),
        }
    }
}

/// A code address in its module.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Site {
    /// The return address, or the instruction itself if `exact`.
    pub address: u64,
    /// The instruction itself.
    pub exact: bool,
    /// Index of the module, if one is known.
    pub module: Option<u32>,
}

/// A frame of a stack: the index of its site, to keep what is known about it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Frame {
    /// Index of the site.
    pub index: u32,
    /// The site.
    pub site: Site,
}

/// Root of stacks of which the log lacks a record; those below are the log's.
pub(crate) const DAMAGED: u32 = 8;
const ROOTS: u32 = 9;

#[derive(Clone, Copy, Debug)]
struct StackNode {
    parent: u32,
    site: u32,
    root: u32,
}

/// All stacks, by index. Indexes below 8 are the roots of the log's format.
#[derive(Clone, Debug)]
pub struct StackTable {
    entries: Vec<StackNode>,
    index: HashMap<(u32, u32), u32, RandomState>,
    sites: Vec<Site>,
    site_index: HashMap<Site, u32, RandomState>,
    modules: Vec<ModuleKey>,
    module_index: HashMap<ModuleKey, u32, RandomState>,
    /// Of the log at hand: from its ids to ours, 0 where not known yet.
    log_stacks: Vec<u32>,
    log_sites: HashMap<u32, u32, RandomState>,
    log_modules: HashMap<u32, Option<u32>, RandomState>,
    path: Vec<Node>,
    path_ids: Vec<u32>,
}

impl Default for StackTable {
    fn default() -> Self {
        let root = |root| StackNode {
            parent: root,
            site: 0,
            root,
        };
        Self {
            entries: (0..ROOTS).map(root).collect(),
            index: HashMap::default(),
            sites: Vec::new(),
            site_index: HashMap::default(),
            modules: Vec::new(),
            module_index: HashMap::default(),
            log_stacks: Vec::new(),
            log_sites: HashMap::default(),
            log_modules: HashMap::default(),
            path: Vec::new(),
            path_ids: Vec::new(),
        }
    }
}

impl StackTable {
    /// Ids are of another log from now on.
    pub fn change_log(&mut self) {
        self.log_stacks.clear();
        self.log_sites.clear();
        self.log_modules.clear();
    }

    /// The index of the stack with this id in the log at hand.
    #[inline]
    pub fn stack(&mut self, id: StackId, tables: &impl Tables) -> u32 {
        match self.log_stacks.get(id.0 as usize) {
            Some(&stack) if stack != 0 => stack,
            _ if id.is_root() => id.0,
            _ => self.enter(id, tables),
        }
    }

    /// A stack comes soon.
    #[inline(always)]
    pub(crate) fn soon(&self, id: StackId) {
        if let Some(stack) = self.log_stacks.get(id.0 as usize) {
            prefetch(stack);
        }
    }

    /// Walks outwards to what is known, and back.
    #[cold]
    fn enter(&mut self, id: StackId, tables: &impl Tables) -> u32 {
        self.path.clear();
        self.path_ids.clear();
        let mut next = id;
        let mut stack = loop {
            match self.log_stacks.get(next.0 as usize) {
                Some(&stack) if stack != 0 => break stack,
                _ if next.is_root() => break next.0,
                _ => {}
            }
            match tables.node(next) {
                Some(node) if node.parent < next => {
                    self.path.push(node);
                    self.path_ids.push(next.0);
                    next = node.parent;
                }
                _ => break DAMAGED,
            }
        };
        while let (Some(node), Some(id)) = (self.path.pop(), self.path_ids.pop()) {
            let site = self.site(node.code, tables);
            stack = self.intern(stack, site);
            let place = id as usize;
            if place >= self.log_stacks.len() {
                self.log_stacks.resize(place + 1, 0);
            }
            self.log_stacks[place] = stack;
        }
        stack
    }

    fn intern(&mut self, parent: u32, site: u32) -> u32 {
        let next = self.entries.len() as u32;
        let stack = *self.index.entry((parent, site)).or_insert(next);
        if stack == next {
            let root = self.root(parent);
            self.entries.push(StackNode { parent, site, root });
        }
        stack
    }

    fn site(&mut self, id: CodeId, tables: &impl Tables) -> u32 {
        if let Some(&site) = self.log_sites.get(&id.0) {
            return site;
        }
        let site = match tables.code(id) {
            Some(code) => Site {
                address: code.address,
                exact: code.exact,
                module: self.module(code.module, tables),
            },
            None => Site {
                address: 0,
                exact: true,
                module: None,
            },
        };
        let next = self.sites.len() as u32;
        let index = *self.site_index.entry(site).or_insert(next);
        if index == next {
            self.sites.push(site);
        }
        self.log_sites.insert(id.0, index);
        index
    }

    fn module(&mut self, id: u32, tables: &impl Tables) -> Option<u32> {
        if let Some(&module) = self.log_modules.get(&id) {
            return module;
        }
        let module = tables.module(id).map(|module| {
            let key = ModuleKey::from(&module);
            let next = self.modules.len() as u32;
            let index = *self.module_index.entry(key.clone()).or_insert(next);
            if index == next {
                self.modules.push(key);
            }
            index
        });
        self.log_modules.insert(id, module);
        module
    }

    /// The root of a stack: how its walk ended.
    pub(crate) fn root(&self, stack: u32) -> u32 {
        self.entries
            .get(stack as usize)
            .map_or(DAMAGED, |entry| entry.root)
    }

    /// The root of a stack as the log names it; nothing where the log lacks a
    /// record of the stack.
    pub fn root_of(&self, stack: u32) -> Option<StackId> {
        Some(StackId(self.root(stack))).filter(|root| root.is_root())
    }

    /// The site of each stack's outermost frame, by the stack's index; a root
    /// has none. A parent's index is lower than its children's.
    pub(crate) fn outermost(&self) -> Vec<Option<u32>> {
        let mut sites: Vec<Option<u32>> = Vec::with_capacity(self.entries.len());
        for (stack, entry) in (0u32..).zip(&self.entries) {
            let outer = sites.get(entry.parent as usize).copied().flatten();
            let own = (stack >= ROOTS).then_some(entry.site);
            sites.push(outer.or(own));
        }
        sites
    }

    /// The innermost frame of a stack, and the stack of its caller.
    pub fn split(&self, stack: u32) -> Option<(Frame, u32)> {
        if stack < ROOTS {
            return None;
        }
        let entry = self.entries.get(stack as usize)?;
        let site = *self.sites.get(entry.site as usize)?;
        let frame = Frame {
            index: entry.site,
            site,
        };
        Some((frame, entry.parent))
    }

    /// The frames of a stack, innermost first.
    pub fn frames(&self, stack: u32) -> impl Iterator<Item = Frame> {
        let mut next = stack;
        std::iter::from_fn(move || {
            let (frame, parent) = self.split(next)?;
            next = parent;
            Some(frame)
        })
    }

    /// All sites, by index.
    pub fn sites(&self) -> &[Site] {
        &self.sites
    }

    /// All modules that a site lies in, by index.
    pub fn modules(&self) -> &[ModuleKey] {
        &self.modules
    }
}
