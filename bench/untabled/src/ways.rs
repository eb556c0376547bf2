//! Follows all ways of all known functions, and finds more functions by their calls.
//!
//! ```text
//! a way ends: at a return, a jump to another function, what traps
//! a call: its way waits until the function is seen to return, which may be never
//! two ways that meet: what both say holds, until nothing changes
//! ```

use crate::image::{Image, Word};
use crate::jumps;
use crate::known::{Class, never_returns};
use crate::state::State;
use iced_x86::{Decoder, DecoderOptions, FlowControl, Instruction, InstructionInfoFactory};
use iced_x86::{Mnemonic, OpKind, Register};
use std::collections::{BTreeSet, HashMap};

/// Whom a call is for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Callee {
    Function(u64),
    /// One that nobody sees.
    Unknown,
    Never,
}

/// What comes after an instruction.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Flow {
    On,
    Jump(u64),
    Branch(u64),
    Call(Callee),
    /// Out of the function, to one that may return.
    Leave(Callee),
    /// The same through a register, if it is no case of the function.
    Away,
    Return,
    /// By a table of cases.
    Cases,
    /// Nobody knows where to.
    Unknown,
    End,
}

/// An instruction that a function comes to.
#[derive(Clone, Copy)]
pub struct Node {
    pub state: State,
    /// Where the first way came from.
    pub from: u64,
    pub bytes: u8,
    pub flow: Flow,
}

/// How sure it is that a function returns.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Returns {
    Unseen,
    /// If it is what it seems: a jump to nobody knows where.
    Perhaps,
    Seen,
}

pub struct Function {
    pub start: u64,
    pub class: Class,
    pub nodes: HashMap<u64, Node>,
    pub cases: HashMap<u64, Vec<u64>>,
    pub returns: Returns,
    /// Whether it returns with another stack pointer than it began with.
    pub is_crooked: bool,
    /// Whether another function's way came here past nothing but filling behind a
    /// call, which may never return then.
    pub is_behind_call: bool,
    /// Whose call it was found by, where that may be no function at all.
    pub finder: Option<usize>,
    waiting: Vec<(usize, u64)>,
    to_do: Vec<u64>,
}

pub struct Ways<'a> {
    pub image: &'a Image<'a>,
    pub functions: Vec<Function>,
    pub by_start: HashMap<u64, usize>,
    /// Functions that were known before the last reading.
    before: BTreeSet<u64>,
    /// Names of exported functions that never return.
    never: BTreeSet<u64>,
    /// Addresses that reached code takes.
    pub taken: BTreeSet<u64>,
    /// Instructions that some function came to.
    pub reached: HashMap<u64, usize>,
    work: Vec<usize>,
    infos: InstructionInfoFactory,
    pub decoded: u64,
}

impl<'a> Ways<'a> {
    /// `before`: where functions begin, as far as an earlier reading knew.
    pub fn new(image: &'a Image<'a>, before: BTreeSet<u64>) -> Self {
        let never = image
            .exported
            .iter()
            .filter(|(_, name)| never_returns(name))
            .map(|(at, _)| *at);
        Self {
            image,
            functions: Vec::new(),
            by_start: HashMap::new(),
            before,
            never: never.collect(),
            taken: BTreeSet::new(),
            reached: HashMap::new(),
            work: Vec::new(),
            infos: InstructionInfoFactory::new(),
            decoded: 0,
        }
    }

    /// Reads all that there is, the surest first.
    pub fn read(&mut self) {
        for (at, _) in &self.image.exported {
            self.add(*at, Class::Exported, None);
        }
        for at in &self.image.entries {
            self.add(*at, Class::Entry, None);
        }
        self.run();
        loop {
            let taken = self.taken.iter().chain(&self.image.pointers).copied();
            let new: Vec<u64> = taken.filter(|at| !self.by_start.contains_key(at)).collect();
            let count = self.functions.len();
            // One after the other: what one reaches is no beginning.
            for at in new {
                let is_behind_call = self.is_behind_call(at);
                if !self.reached.contains_key(&at) || is_behind_call {
                    if let Some(index) = self.add(at, Class::Pointed, None) {
                        self.functions[index].is_behind_call |= is_behind_call;
                    }
                    self.run();
                }
            }
            if self.functions.len() == count {
                return;
            }
        }
    }

    /// Whether the way to a place came past nothing but filling behind a call.
    fn is_behind_call(&self, at: u64) -> bool {
        let Some(function) = self.reached.get(&at).map(|index| &self.functions[*index]) else {
            return false;
        };
        let mut at = at;
        while at != function.start {
            let Some(before) = function.nodes.get(&at).map(|node| node.from) else {
                return false;
            };
            match function.nodes.get(&before) {
                Some(node) if matches!(node.flow, Flow::Call(_)) => {
                    return before + u64::from(node.bytes) == at;
                }
                Some(_) if before < at && is_filling(self.image, before) => at = before,
                _ => return false,
            }
        }
        false
    }

    /// The first way to a place.
    pub fn way_to(&self, at: u64) -> Vec<u64> {
        let mut way = vec![at];
        if let Some(function) = self.reached.get(&at).map(|index| &self.functions[*index]) {
            while let Some(node) = way
                .last()
                .and_then(|at| function.nodes.get(at))
                .filter(|node| !way.contains(&node.from))
            {
                way.push(node.from);
            }
        }
        way.reverse();
        way
    }

    fn add(&mut self, start: u64, class: Class, finder: Option<usize>) -> Option<usize> {
        if let Some(index) = self.by_start.get(&start) {
            return Some(*index);
        }
        if !self.image.is_code(start) {
            return None;
        }
        let index = self.functions.len();
        self.functions.push(Function {
            start,
            class,
            nodes: HashMap::new(),
            cases: HashMap::new(),
            returns: Returns::Unseen,
            is_crooked: false,
            is_behind_call: false,
            finder,
            waiting: Vec::new(),
            to_do: Vec::new(),
        });
        self.by_start.insert(start, index);
        self.reach(index, start, State::ENTRY, start);
        Some(index)
    }

    fn run(&mut self) {
        while let Some(index) = self.work.pop() {
            while let Some(at) = self.functions[index].to_do.pop() {
                self.step(index, at);
            }
        }
    }

    /// A way of a function comes to an instruction.
    fn reach(&mut self, index: usize, at: u64, state: State, from: u64) {
        let function = &mut self.functions[index];
        match function.nodes.get_mut(&at) {
            Some(node) => {
                let joined = node.state.joined(&state);
                if joined == node.state {
                    return;
                }
                node.state = joined;
            }
            None => {
                let node = Node {
                    state,
                    from,
                    bytes: 0,
                    flow: Flow::End,
                };
                function.nodes.insert(at, node);
                self.reached.entry(at).or_insert(index);
            }
        }
        if function.to_do.is_empty() {
            self.work.push(index);
        }
        function.to_do.push(at);
    }

    fn is_start(&self, at: u64) -> bool {
        self.by_start.contains_key(&at) || self.before.contains(&at)
    }

    fn step(&mut self, index: usize, at: u64) {
        let Some(code) = instruction(self.image, at) else {
            return;
        };
        self.decoded += 1;
        let Some(node) = self.functions[index].nodes.get(&at).copied() else {
            return;
        };
        let flow = match node.bytes {
            0 => self.flow(index, at, &code, &node.state),
            _ => node.flow,
        };
        if let Some(node) = self.functions[index].nodes.get_mut(&at) {
            (node.bytes, node.flow) = (code.len() as u8, flow);
        }
        let mut state = node.state;
        if matches!(flow, Flow::On) {
            state.obey(&code, &mut self.infos);
        }
        match flow {
            Flow::On => self.go_on(index, code.next_ip(), state, at),
            Flow::Jump(target) => self.go_to(index, target, state, at),
            Flow::Branch(target) => {
                self.go_to(index, target, state, at);
                self.go_on(index, code.next_ip(), state, at);
            }
            Flow::Call(callee) => {
                if self.comes_back(callee, index, at) {
                    self.go_on(index, code.next_ip(), state, at);
                }
            }
            Flow::Leave(callee) => {
                if self.comes_back(callee, index, at) {
                    self.returns(index, self.surety(callee));
                }
            }
            Flow::Away => self.returns(index, Returns::Seen),
            Flow::Return => match state.sp {
                None | Some(-8) => self.returns(index, Returns::Seen),
                _ => self.functions[index].is_crooked = true,
            },
            Flow::Cases => {
                for target in self.functions[index]
                    .cases
                    .get(&at)
                    .cloned()
                    .unwrap_or_default()
                {
                    self.reach(index, target, state, at);
                }
            }
            Flow::Unknown => self.returns(index, Returns::Perhaps),
            Flow::End => {}
        }
    }

    /// To the next instruction, unless another function begins there: then the call
    /// before it never returns.
    fn go_on(&mut self, index: usize, at: u64, state: State, from: u64) {
        match self.is_start(at) && at != self.functions[index].start {
            true if state.sp == Some(-8) => self.tail(index, at, from),
            true => {}
            false => self.reach(index, at, state, from),
        }
    }

    fn go_to(&mut self, index: usize, target: u64, state: State, from: u64) {
        let is_other = self.is_start(target) && target != self.functions[index].start;
        match state.sp == Some(-8) && is_other {
            true => self.tail(index, target, from),
            false if is_other => {}
            false if self.image.is_code(target) => self.reach(index, target, state, from),
            false => {}
        }
    }

    fn tail(&mut self, index: usize, target: u64, from: u64) {
        let callee = self.callee(target);
        if self.comes_back(callee, index, from) {
            self.returns(index, self.surety(callee));
        }
    }

    fn surety(&self, callee: Callee) -> Returns {
        match callee {
            Callee::Function(start) => self
                .by_start
                .get(&start)
                .map_or(Returns::Seen, |index| self.functions[*index].returns),
            _ => Returns::Seen,
        }
    }

    /// Whether the way goes on behind a call; if not yet, it waits.
    fn comes_back(&mut self, callee: Callee, index: usize, at: u64) -> bool {
        let Callee::Function(start) = callee else {
            return callee == Callee::Unknown;
        };
        let function = &self.functions[index];
        let finder =
            (function.class == Class::Pointed || function.finder.is_some()).then_some(index);
        let Some(called) = self.add(start, Class::Called, finder) else {
            return false;
        };
        let called = &mut self.functions[called];
        let is_back = called.returns != Returns::Unseen;
        if !is_back && !called.waiting.contains(&(index, at)) {
            called.waiting.push((index, at));
        }
        is_back
    }

    fn returns(&mut self, index: usize, how: Returns) {
        let function = &mut self.functions[index];
        if function.returns >= how || self.never.contains(&function.start) {
            return;
        }
        function.returns = how;
        for (other, at) in std::mem::take(&mut function.waiting) {
            let to_do = &mut self.functions[other].to_do;
            if to_do.is_empty() {
                self.work.push(other);
            }
            to_do.push(at);
        }
    }

    fn callee(&self, target: u64) -> Callee {
        match self.image.is_code(target) {
            true => Callee::Function(target),
            false => Callee::Never,
        }
    }

    /// Whom a word that lies there is the address of.
    fn callee_by(&self, place: u64) -> Callee {
        match self.image.words.get(&place) {
            Some(Word::Import(name)) if never_returns(name) => Callee::Never,
            Some(Word::Own(target)) if self.image.is_code(*target) => Callee::Function(*target),
            _ => Callee::Unknown,
        }
    }

    fn flow(&mut self, index: usize, at: u64, code: &Instruction, state: &State) -> Flow {
        self.note_taken(code);
        let is_word = code.is_ip_rel_memory_operand();
        let place = if is_word {
            code.ip_rel_memory_address()
        } else {
            0
        };
        match code.flow_control() {
            FlowControl::Next if matches!(code.mnemonic(), Mnemonic::Hlt) => Flow::End,
            FlowControl::Next => Flow::On,
            FlowControl::UnconditionalBranch => Flow::Jump(code.near_branch_target()),
            FlowControl::ConditionalBranch | FlowControl::XbeginXabortXend
                if code.op0_kind() == OpKind::NearBranch64 =>
            {
                Flow::Branch(code.near_branch_target())
            }
            FlowControl::Call if code.op0_kind() == OpKind::NearBranch64 => {
                Flow::Call(self.callee(code.near_branch_target()))
            }
            FlowControl::IndirectCall if is_word => Flow::Call(self.callee_by(place)),
            FlowControl::IndirectCall => Flow::Call(Callee::Unknown),
            FlowControl::IndirectBranch if is_word => Flow::Leave(self.callee_by(place)),
            FlowControl::IndirectBranch => {
                let cases = jumps::cases(self.image, &self.functions[index], at, code);
                match (cases, state.sp) {
                    (Some(cases), _) => {
                        self.functions[index].cases.insert(at, cases);
                        Flow::Cases
                    }
                    (None, Some(-8)) => Flow::Away,
                    (None, Some(_)) => Flow::Unknown,
                    // As longjmp does.
                    (None, None) => Flow::End,
                }
            }
            FlowControl::Return => Flow::Return,
            FlowControl::Exception => Flow::End,
            FlowControl::Interrupt if code.mnemonic() == Mnemonic::Int3 => Flow::End,
            _ => Flow::On,
        }
    }

    /// Addresses of code that an instruction takes.
    fn note_taken(&mut self, code: &Instruction) {
        let taken = match code.mnemonic() {
            Mnemonic::Lea if code.is_ip_rel_memory_operand() => code.ip_rel_memory_address(),
            Mnemonic::Mov | Mnemonic::Push if self.image.is_fixed => {
                let kinds = [code.op0_kind(), code.op1_kind()];
                let is_number = |kind: &OpKind| {
                    matches!(
                        kind,
                        OpKind::Immediate32 | OpKind::Immediate32to64 | OpKind::Immediate64
                    )
                };
                match kinds.iter().position(is_number) {
                    Some(operand) => code.immediate(operand as u32),
                    None => return,
                }
            }
            _ => return,
        };
        if self.image.is_code(taken) {
            self.taken.insert(taken);
        }
    }
}

fn is_filling(image: &Image, at: u64) -> bool {
    instruction(image, at).is_some_and(|code| code.mnemonic() == Mnemonic::Nop)
}

/// The instruction at an address.
pub fn instruction(image: &Image, at: u64) -> Option<Instruction> {
    let bytes = image.bytes(at).filter(|_| image.is_code(at))?;
    let bytes = bytes.get(..bytes.len().min(15))?;
    let code = Decoder::with_ip(64, bytes, at, DecoderOptions::NONE).decode();
    (!code.is_invalid() && code.op0_register() != Register::RIP).then_some(code)
}
