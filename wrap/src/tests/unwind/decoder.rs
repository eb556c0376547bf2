//! What instructions do to the stack and frame pointers and where they lead, against
//! iced: each instruction of the functions of real files. `MEMLOG_FILES` names more.

use super::judge::files_to_judge;
use super::loaded::{Loaded, bytes_at};
use super::reading::functions;
use crate::platform::arch::code;
use crate::platform::rules::Effect;
use crate::tests::memory::Zeroed;
use crate::unwind::cfi::{FrameIndexes, describe};
use iced_x86::{Decoder, DecoderOptions, FlowControl, Instruction, InstructionInfoFactory};
use iced_x86::{Mnemonic, OpAccess, OpKind, Register};
use std::collections::BTreeMap;
use std::path::Path;

/// Instructions of a file, at most.
const MOST: usize = 1_000_000;

/// What came out: how many, and of what differs how often, with the first of each.
#[derive(Default)]
struct Counts {
    compared: usize,
    /// What the reader does not know.
    unknown: BTreeMap<String, usize>,
    /// What is lost to it, and need not be.
    cautious: usize,
    wrong: BTreeMap<String, (usize, String)>,
}

/// DWARF's number of a register that is pushed, loaded or the like.
fn dwarf(register: Register) -> Option<u8> {
    const NUMBERS: [u8; 16] = [0, 2, 1, 3, 7, 6, 4, 5, 8, 9, 10, 11, 12, 13, 14, 15];
    register.is_gpr64().then(|| NUMBERS[register.number()])
}

/// A place by the stack or frame pointer alone.
fn place(code: &Instruction) -> Option<(Register, i64)> {
    let base = code.memory_base();
    let is_plain =
        code.memory_index() == Register::None && matches!(base, Register::RSP | Register::RBP);
    is_plain.then_some((base, code.memory_displacement64() as i64))
}

/// What it does, as iced knows it.
fn expected(code: &Instruction, infos: &mut InstructionInfoFactory) -> Effect {
    let distance = |target: u64| target.wrapping_sub(code.next_ip()) as i64;
    let target = || distance(code.near_branch_target());
    let is_relative = code.is_ip_rel_memory_operand();
    let by = || distance(code.ip_rel_memory_address());
    let (to, from) = (code.op0_register(), code.op1_register());
    match code.flow_control() {
        FlowControl::UnconditionalBranch => return Effect::Jump(target()),
        FlowControl::ConditionalBranch => return Effect::Branch(target()),
        FlowControl::IndirectBranch => return Effect::Away(is_relative.then(by)),
        FlowControl::IndirectCall if is_relative => return Effect::CallAt(by()),
        FlowControl::IndirectCall => return Effect::Call(None),
        FlowControl::Call if code.op0_kind() == OpKind::NearBranch64 => {
            return Effect::Call(Some(target()));
        }
        FlowControl::Return => return Effect::Return,
        FlowControl::Exception => return Effect::Dead,
        _ => {}
    }
    match code.mnemonic() {
        Mnemonic::Hlt | Mnemonic::Int3 => Effect::Dead,
        Mnemonic::Leave => Effect::Leave,
        Mnemonic::Push => Effect::Push(dwarf(to)),
        Mnemonic::Pushfq => Effect::Push(None),
        Mnemonic::Popfq => Effect::Pop(None),
        Mnemonic::Pop if to == Register::RSP => Effect::SpLost,
        Mnemonic::Pop => Effect::Pop(dwarf(to)),
        Mnemonic::Mov if to == Register::RSP && from == Register::RBP => Effect::SpFromFp(0),
        Mnemonic::Mov if to == Register::RBP && from == Register::RSP => Effect::FpFromSp(0),
        Mnemonic::Mov if to.is_gpr64() && to != Register::RSP && place(code).is_some() => {
            match place(code) {
                Some((Register::RSP, at)) => Effect::LoadBySp(dwarf(to).unwrap(), at),
                Some((_, at)) => Effect::LoadByFp(dwarf(to).unwrap(), at),
                None => Effect::Nothing,
            }
        }
        Mnemonic::Mov if from.is_gpr64() && place(code).is_some() => match place(code) {
            Some((Register::RSP, at)) => Effect::StoreBySp(dwarf(from).unwrap(), at),
            Some((_, at)) => Effect::StoreByFp(dwarf(from).unwrap(), at),
            None => Effect::Nothing,
        },
        Mnemonic::Lea if to == Register::RSP && place(code).is_some() => match place(code) {
            Some((Register::RSP, at)) => Effect::Add(at),
            Some((_, at)) => Effect::SpFromFp(at),
            None => Effect::SpLost,
        },
        Mnemonic::Lea if to == Register::RBP && matches!(place(code), Some((Register::RSP, _))) => {
            Effect::FpFromSp(code.memory_displacement64() as i64)
        }
        Mnemonic::Add | Mnemonic::Sub
            if to == Register::RSP
                && matches!(
                    code.op1_kind(),
                    OpKind::Immediate8to64 | OpKind::Immediate32to64
                ) =>
        {
            let number = code.immediate(1) as i64;
            Effect::Add(if code.mnemonic() == Mnemonic::Add {
                number
            } else {
                -number
            })
        }
        _ => written(code, infos),
    }
}

/// Which of the two it writes to.
fn written(code: &Instruction, infos: &mut InstructionInfoFactory) -> Effect {
    let writes = |access| {
        matches!(
            access,
            OpAccess::Write | OpAccess::CondWrite | OpAccess::ReadWrite | OpAccess::ReadCondWrite
        )
    };
    let used = infos.info(code).used_registers();
    let has = |name| {
        used.iter()
            .any(|one| writes(one.access()) && one.register().full_register() == name)
    };
    match (has(Register::RSP), has(Register::RBP)) {
        (true, _) => Effect::SpLost,
        (_, true) => Effect::FpLost,
        _ => Effect::Nothing,
    }
}

fn compare(path: &Path, counts: &mut Counts) -> Option<()> {
    let loaded = Loaded::map(path)?;
    let mut index = FrameIndexes::zeroed();
    let mut infos = InstructionInfoFactory::new();
    let mut left = MOST;
    for start in functions(&loaded) {
        let description = describe(&loaded.module, start, &mut index)?;
        let bytes = bytes_at(start, (description.end - start) as usize);
        let mut decoder = Decoder::with_ip(64, &bytes, start, DecoderOptions::NONE);
        while decoder.can_decode() && left > 0 {
            let at = decoder.position();
            let theirs = decoder.decode();
            if theirs.is_invalid() {
                break;
            }
            left -= 1;
            counts.compared += 1;
            let end = bytes.len().min(at + code::LONGEST);
            let place = start + at as u64 - loaded.module.image.bias;
            counts.see(&theirs, code::decode(&bytes[at..end]), &mut infos, || {
                format!(
                    "{}: {place:#x}: {:02x?}",
                    path.display(),
                    &bytes[at..at + theirs.len()]
                )
            });
        }
    }
    Some(())
}

impl Counts {
    fn see(
        &mut self,
        theirs: &Instruction,
        ours: Option<(usize, Effect)>,
        infos: &mut InstructionInfoFactory,
        place: impl Fn() -> String,
    ) {
        let Some((length, effect)) = ours else {
            *self
                .unknown
                .entry(format!("{:?}", theirs.mnemonic()))
                .or_default() += 1;
            return;
        };
        let right = expected(theirs, infos);
        // What says where tables are, and what changes nothing else.
        let effect = match effect {
            Effect::Compare(_) | Effect::AddressOf(_) => Effect::Nothing,
            effect => effect,
        };
        if length != theirs.len() || effect != right {
            if length == theirs.len()
                && right == Effect::Nothing
                && matches!(effect, Effect::FpLost | Effect::SpLost)
            {
                self.cautious += 1;
                return;
            }
            let what = format!(
                "{:?}: {:?} for {:?}, length {length} for {}",
                theirs.mnemonic(),
                kind(effect),
                kind(right),
                theirs.len()
            );
            self.wrong.entry(what).or_insert_with(|| (0, place())).0 += 1;
        }
    }
}

/// An effect's name.
fn kind(effect: Effect) -> String {
    let name = format!("{effect:?}");
    name.split('(').next().unwrap_or_default().to_string()
}

#[test]
fn instructions_do_what_another_decoder_says() {
    if !code::READS_CODE {
        println!("SKIPPED this processor's instructions are not read");
        return;
    }
    let mut counts = Counts::default();
    for file in &files_to_judge() {
        compare(file, &mut counts);
    }
    println!(
        "{} compared, {} with too much caution; not known: {:?}",
        counts.compared, counts.cautious, counts.unknown
    );
    assert!(counts.compared > 100_000, "{}", counts.compared);
    assert!(counts.wrong.is_empty(), "{:#?}", counts.wrong);
    let unknown: usize = counts.unknown.values().sum();
    assert!(unknown * 500 < counts.compared, "{:?}", counts.unknown);
}

/// What compilers seldom or never write, but may.
#[test]
fn rare_instructions_are_known() {
    if !code::READS_CODE {
        return;
    }
    let cases: [(&str, &[u8], Effect); 8] = [
        ("movzx %ah,%ebp", &[0x0f, 0xb6, 0xec], Effect::FpLost),
        ("movsx %ah,%ecx", &[0x0f, 0xbe, 0xcc], Effect::Nothing),
        ("sete %ah", &[0x0f, 0x94, 0xc4], Effect::Nothing),
        ("ud1", &[0x67, 0x0f, 0xb9, 0x40, 0x06], Effect::Dead),
        (
            "cmovle %rax,%rsp",
            &[0x48, 0x0f, 0x4e, 0xe0],
            Effect::SpLost,
        ),
        ("imul $21,%esp,%ebp", &[0x6b, 0xec, 0x15], Effect::FpLost),
        ("movslq (%rdi),%rsp", &[0x48, 0x63, 0x27], Effect::SpLost),
        (
            "data16 or $1,%rax",
            &[0x66, 0x48, 0x0d, 1, 0, 0, 0],
            Effect::Nothing,
        ),
    ];
    for (name, bytes, effect) in cases {
        assert_eq!(code::decode(bytes), Some((bytes.len(), effect)), "{name}");
    }
}
