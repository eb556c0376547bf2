//! What lies outside main: functions of the C library that start a program or
//! a thread. They are at the end of every stack and tell nothing.
//!
//! ```text
//! take <- main <- __libc_start_call_main <- __libc_start_main_impl <- _start
//!      take <- main
//! take <- run <- __libc_start_call_main <- ...    main ended in a jump to run
//!      take <- run
//! take <- work <- start_thread <- clone3
//!      take <- work
//! set <- call_init <- __libc_start_main_impl <- _start    before main: as it is
//! ```

use std::collections::HashMap;

use crate::{END, Line, Name};

/// Of glibc of all versions, and of musl.
const STARTS: [&str; 7] = [
    "_start",
    "_start_c",
    "__libc_start_main",
    "__libc_start_main_impl",
    "__libc_start_call_main",
    "generic_start_main",
    "libc_start_main_stage2",
];
/// Of those the ones that call nothing but main, and exit where that returns.
const CALLS_MAIN: [&str; 2] = ["__libc_start_call_main", "libc_start_main_stage2"];
const EXIT: &str = "exit";
const MAIN: &str = "main";
const THREADS: [&str; 6] = [
    "start_thread",
    "thread_start",
    "clone",
    "clone3",
    "__clone",
    "__clone3",
];

/// What a line is of which all is outside.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Outside {
    Start,
    /// The same, and what is next within is main or what that jumped to.
    CallsMain,
    Thread,
}

/// Ends every line at main, or at a thread's first function; and the new number
/// of each line, to which what it holds goes.
pub fn without_outside(lines: &[Line], names: &[Name]) -> (Vec<Line>, Vec<u32>) {
    let mut cut_lines = Vec::new();
    let mut numbers: Vec<u32> = Vec::with_capacity(lines.len());
    // Of each line before whether it is outside.
    let mut known: Vec<Option<Outside>> = Vec::with_capacity(lines.len());
    let mut index: HashMap<Line, u32> = HashMap::new();
    for line in lines {
        let name = names.get(line.label as usize);
        let callers = line.callers as usize;
        let is_first = known.is_empty() || line.callers == END;
        let around = known.get(callers).copied().flatten();
        let around = around.filter(|_| !is_first);
        let outside = match is_first {
            true => name.and_then(|name| of(name, None)),
            false => around.and_then(|around| of(name?, Some(around))),
        };
        let is_cut = outside.is_none() && name.zip(around).is_some_and(ends);
        let line = Line {
            label: line.label,
            callers: match numbers.get(callers) {
                Some(&number) if !is_first && !is_cut => number,
                _ => END,
            },
        };
        let next = cut_lines.len() as u32;
        // The first stands for the end of every line.
        let number = match known.is_empty() {
            true => next,
            false => *index.entry(line).or_insert(next),
        };
        if number == next {
            cut_lines.push(line);
        }
        numbers.push(number);
        known.push(outside);
    }
    (cut_lines, numbers)
}

/// What a function is whose callers are all outside, or which has none.
fn of(name: &Name, around: Option<Outside>) -> Option<Outside> {
    let function = name.function.as_str();
    let is_in_thread = matches!(around, None | Some(Outside::Thread));
    match () {
        () if is_of_nameless_libc(name) && is_in_thread => Some(Outside::Thread),
        () if is_of_nameless_libc(name) => Some(Outside::Start),
        () if THREADS.contains(&function) => is_in_thread.then_some(Outside::Thread),
        () if around == Some(Outside::Thread) => None,
        () if CALLS_MAIN.contains(&function) => Some(Outside::CallsMain),
        () => STARTS.contains(&function).then_some(Outside::Start),
    }
}

/// A C library without debug symbols names but what it exports. Where it is
/// outermost it started a thread, for programs begin in their own `_start`.
fn is_of_nameless_libc(name: &Name) -> bool {
    let files = ["libc.so.6+0x", "libc-2.", "libpthread"];
    let function = &name.function;
    let is_file = files.iter().any(|file| function.starts_with(file));
    name.module.is_none() && is_file && function.contains("+0x")
}

/// Whether a stack ends with a function that something outside called.
fn ends((name, around): (&Name, Outside)) -> bool {
    match around {
        Outside::Thread => true,
        Outside::Start => name.function == MAIN,
        // Main, or what it jumped to; it need have no name.
        Outside::CallsMain => !is_of_nameless_libc(name) && name.function != EXIT,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Held;

    /// What is left of stacks that are written outermost first.
    fn left(stacks: &[&str]) -> Vec<String> {
        let mut texts: Vec<&str> = Vec::new();
        let mut lines = vec![Line {
            label: u32::MAX,
            callers: END,
        }];
        let mut held = vec![Held::default()];
        for stack in stacks {
            let mut callers = END;
            for function in stack.split(' ') {
                let known = texts.iter().position(|text| *text == function);
                let label = known.unwrap_or(texts.len()) as u32;
                if known.is_none() {
                    texts.push(function);
                }
                let line = Line { label, callers };
                let known = lines.iter().position(|other| *other == line);
                callers = known.unwrap_or(lines.len()) as u32;
                if known.is_none() {
                    lines.push(line);
                    held.push(Held::default());
                }
            }
            held[callers as usize].bytes += 10;
            held[callers as usize].blocks += 1;
        }
        let name = |text: &&str| Name {
            function: (*text).to_owned(),
            location: None,
            module: (!text.contains("+0x")).then(|| "program".to_owned()),
        };
        let names: Vec<Name> = texts.iter().map(name).collect();
        let (lines, numbers) = without_outside(&lines, &names);
        let mut sums = vec![Held::default(); lines.len()];
        for (&held, &number) in held.iter().zip(&numbers) {
            sums[number as usize] = sums[number as usize].plus(held);
        }
        let held = sums;
        let full = |mut at: u32| {
            let mut words = Vec::new();
            while at != END {
                words.push(texts[lines[at as usize].label as usize]);
                at = lines[at as usize].callers;
            }
            words.reverse();
            words.join(" ")
        };
        let ends = (0..).zip(&held).filter(|(_, held)| held.blocks > 0);
        let mut left: Vec<_> = ends
            .map(|(at, held)| format!("{} {}", held.blocks, full(at)))
            .collect();
        left.sort();
        left
    }

    #[test]
    fn what_is_outside_main_goes() {
        let stacks = [
            "_start __libc_start_main_impl __libc_start_call_main main take",
            "_start __libc_start_main libc.so.6+0x27305 main take",
            "_start __libc_start_main_impl __libc_start_call_main run take",
            "_start __libc_start_main_impl __libc_start_call_main program+0x1234 take",
            "clone3 start_thread work take",
            "libc.so.6+0x1093dc libc.so.6+0x89134 work take",
            "clone libpthread-2.31.so+0x7ea7 work take",
        ];
        let expected = [
            "1 program+0x1234 take",
            "1 run take",
            "2 main take",
            "3 work take",
        ];
        assert_eq!(left(&stacks), expected);
    }

    #[test]
    fn what_is_not_main_stays_as_it_is() {
        let stacks = [
            "_start __libc_start_main_impl call_init set",
            "_start __libc_start_main_impl __libc_start_call_main exit close",
            "program+0x10d1 libc.so.6+0x27305 program+0x109b take",
            "above main take",
            "_start work start_thread clone",
            "_start __libc_start_main_impl",
            "clone3 start_thread",
            "libc.so.6+0x1093dc libc.so.6+0x89134 libc.so.6+0x89200",
        ];
        let mut expected = stacks.map(|stack| format!("1 {stack}"));
        expected.sort();
        assert_eq!(left(&stacks), expected);
    }
}
