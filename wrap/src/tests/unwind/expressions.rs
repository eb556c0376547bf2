//! Random expressions, evaluated by a step of the full unwinder and by gimli.

use super::programs::{START, described, sleb, uleb};
use crate::platform::arch::{REGISTERS, SP};
use crate::platform::bounds::Bounds;
use crate::tests::memory::Zeroed;
use crate::tests::random::Random;
use crate::unwind::full::{Registers, Step, step};
use crate::unwind::row::Machine;
use gimli::{Encoding, EndianSlice, EvaluationResult, Expression, Format, NativeEndian, Value};

/// A stack to read from, and registers that point around in it.
struct Scene {
    stack: Vec<u64>,
    registers: Registers,
}

impl Scene {
    fn new(random: &mut Random) -> Self {
        let stack: Vec<u64> = (0..64).map(|_| random.next()).collect();
        let low = stack.as_ptr() as u64;
        let mut registers = [0; REGISTERS];
        for register in &mut registers {
            *register = low + 8 * random.below(64);
        }
        Self { stack, registers }
    }

    fn bounds(&self) -> Bounds {
        let low = self.stack.as_ptr() as u64;
        Bounds {
            low,
            high: low + 8 * self.stack.len() as u64,
        }
    }

    /// A word of the stack; nothing else may be read.
    fn word(&self, address: u64) -> Option<u64> {
        let bytes = address.checked_sub(self.stack.as_ptr() as u64)?;
        let word = self.stack.get(bytes as usize / 8).copied();
        word.filter(|_| bytes % 8 == 0)
    }

    /// What gimli makes of an expression; `None` where it refuses, or where
    /// it wants what may not be read.
    fn judged(&self, expression: &[u8], initial: Option<u64>) -> Option<u64> {
        let encoding = Encoding {
            address_size: 8,
            format: Format::Dwarf32,
            version: 4,
        };
        let reader = EndianSlice::new(expression, NativeEndian);
        let mut evaluation = Expression(reader).evaluation(encoding);
        if let Some(initial) = initial {
            evaluation.set_initial_value(initial);
        }
        let mut result = evaluation.evaluate().ok()?;
        loop {
            result = match result {
                EvaluationResult::Complete => break,
                EvaluationResult::RequiresRegister { register, .. } => {
                    let value = *self.registers.get(usize::from(register.0))?;
                    evaluation
                        .resume_with_register(Value::Generic(value))
                        .ok()?
                }
                EvaluationResult::RequiresMemory { address, .. } => {
                    let value = self.word(address)?;
                    evaluation.resume_with_memory(Value::Generic(value)).ok()?
                }
                other => panic!("{other:?}"),
            };
        }
        match evaluation.value_result()? {
            Value::Generic(value) => Some(value),
            other => panic!("{other:?}"),
        }
    }
}

/// Appends one random operation of those that unwind tables use.
fn operation(out: &mut Vec<u8>, random: &mut Random) {
    const STACK: [u8; 3] = [0x12, 0x13, 0x14];
    const ONE: [u8; 3] = [0x06, 0x1f, 0x20];
    const TWO: [u8; 15] = [
        0x1a, 0x1c, 0x1e, 0x21, 0x22, 0x24, 0x25, 0x26, 0x27, 0x29, 0x2a, 0x2b, 0x2c, 0x2d, 0x2e,
    ];
    let word = random.next() >> random.below(64);
    let register = random.below(REGISTERS as u64);
    let distance = 8 * (random.below(32) as i64 - 16);
    let mut pick = |list: &[u8]| list[random.below(list.len() as u64) as usize];
    match word % 16 {
        0 => out.push(pick(&STACK)),
        1 => out.extend([0x15, pick(&[0, 1, 2, 3])]),
        2 | 3 => out.push(pick(&ONE)),
        4..=7 => out.push(pick(&TWO)),
        8 => out.push(0x30 + (word >> 4) as u8 % 32),
        9 => {
            let sizes = [1, 1, 2, 2, 4, 4, 8, 8];
            let kind = pick(&[0, 1, 2, 3, 4, 5, 6, 7]);
            out.push(0x08 + kind);
            out.extend(&word.to_ne_bytes()[..sizes[usize::from(kind)]]);
        }
        10 => {
            out.push(0x10);
            uleb(out, word);
        }
        11 => {
            out.push(0x11);
            sleb(out, word as i64);
        }
        12 => {
            out.push(0x23);
            uleb(out, word >> 4);
        }
        13 => {
            out.push(0x92);
            uleb(out, register);
            sleb(out, distance);
        }
        _ => {
            out.push(0x70 + register as u8);
            sleb(out, distance);
        }
    }
}

fn random_expression(random: &mut Random) -> Vec<u8> {
    let mut out = Vec::new();
    for _ in 0..1 + random.below(12) {
        operation(&mut out, random);
    }
    out
}

/// The value of an instruction's expression by a step, in this register.
fn stepped(machine: &mut Machine, scene: &Scene, program: &[u8], register: usize) -> Option<u64> {
    let mut registers = scene.registers;
    let description = described(program);
    match step(
        machine.run(&description, START),
        &mut registers,
        &scene.bounds(),
    ) {
        Step::Caller => Some(registers[register]),
        Step::Failed => None,
        Step::Outermost => panic!("nothing said so"),
    }
}

#[test]
fn random_expressions() {
    let mut random = Random::new(5);
    let mut machine = Machine::zeroed();
    let mut valued = 0;
    for _ in 0..40_000 {
        let scene = Scene::new(&mut random);
        let expression = random_expression(&mut random);
        let mut program = vec![0x0f];
        uleb(&mut program, expression.len() as u64);
        program.extend(&expression);
        let right = scene.judged(&expression, None);
        assert_eq!(
            stepped(&mut machine, &scene, &program, SP),
            right,
            "{expression:x?}"
        );

        // A register's expression finds the CFA on its stack: here sp.
        let mut program = vec![0x0c, SP as u8, 0, 0x16, 3];
        uleb(&mut program, expression.len() as u64);
        program.extend(&expression);
        let right = scene.judged(&expression, Some(scene.registers[SP]));
        assert_eq!(
            stepped(&mut machine, &scene, &program, 3),
            right,
            "{expression:x?}"
        );
        valued += usize::from(right.is_some());
    }
    println!("{valued} values");
    assert!(valued > 10_000);
}

/// Operations that could loop, or leave the stack of values, are refused.
#[test]
fn other_operations_are_refused() {
    let mut random = Random::new(6);
    let (scene, mut machine) = (Scene::new(&mut random), Machine::zeroed());
    let deep = [0x30; 17];
    let refused: [&[u8]; 8] = [
        &[],
        &[0x2f, 0xfd, 0xff],
        &[0x30, 0x28, 0xfc, 0xff],
        &[0x13],
        &[0x30, 0x22],
        &[0x97],
        &[0x81, 0],
        &deep,
    ];
    for expression in refused {
        let mut program = vec![0x0f, expression.len() as u8];
        program.extend(expression);
        assert_eq!(
            stepped(&mut machine, &scene, &program, SP),
            None,
            "{expression:x?}"
        );
    }
}
