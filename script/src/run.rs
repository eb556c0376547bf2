//! A script runs on a thread of its own: its values never leave that.

use std::rc::Rc;
use std::sync::Arc;
use std::time::Instant;

use rhai::{Dynamic, Engine, EvalAltResult, Position};

use crate::chosen::Selection;
use crate::env::Env;
use crate::host::Host;
use crate::limits::Limits;
use crate::list::{AllocationList, List, MapList};
use crate::outcome::{End, Fault, Outcome};
use crate::words::teach;

/// Bytes of the thread's stack: functions that call each other and parentheses in each
/// other take it.
const STACK: usize = 256 << 20;
/// Parentheses, and calls behind points, in each other: outside of functions and inside.
const DEEP: (usize, usize) = (256, 128);
/// The clock is looked at after so many steps.
const STEPS: u64 = 1 << 10;

/// Runs a script to its end, or to that of its limits.
pub fn run(code: &str, host: Arc<dyn Host>, argv: &[String], limits: &Limits) -> Outcome {
    let began = Instant::now();
    let failed = |message: &str| Outcome {
        end: End::Failed(Fault {
            message: message.to_owned(),
            line: None,
            column: None,
            is_syntax: false,
        }),
        elapsed: began.elapsed(),
        selection: None,
    };
    let work = || {
        let (end, selection) = run_here(code, host, argv.to_vec(), limits);
        Outcome {
            end,
            elapsed: began.elapsed(),
            selection,
        }
    };
    std::thread::scope(|scope| {
        let thread = std::thread::Builder::new().stack_size(STACK);
        match thread.spawn_scoped(scope, work) {
            Ok(thread) => thread
                .join()
                .unwrap_or_else(|_| failed("the script could not go on")),
            Err(error) => failed(&format!("cannot start a thread: {error}")),
        }
    })
}

fn run_here(
    code: &str,
    host: Arc<dyn Host>,
    argv: Vec<String>,
    limits: &Limits,
) -> (End, Option<Selection>) {
    let env = Env::new(host, argv, limits);
    let engine = engine(&env, limits);
    let value = engine
        .compile(code)
        .map_err(Box::<EvalAltResult>::from)
        .and_then(|script| engine.eval_ast::<Dynamic>(&script));
    if let Some(code) = env.exit.get() {
        return (End::Exit(code), None);
    }
    match value {
        Ok(value) => (End::Done, selection(value)),
        Err(error) => (End::Failed(fault(*error)), None),
    }
}

fn engine(env: &Rc<Env>, limits: &Limits) -> Engine {
    let mut engine = Engine::new();
    engine
        .set_max_operations(limits.operations)
        .set_max_call_levels(limits.calls)
        .set_max_variables(limits.variables)
        .set_max_string_size(limits.text_bytes)
        .set_max_array_size(limits.members)
        .set_max_map_size(limits.members)
        .set_max_expr_depths(DEEP.0, DEEP.1);
    // Everything that runs stands in the script that was read.
    engine.disable_symbol("eval");
    let here = Rc::clone(env);
    engine.on_progress(move |steps| match steps % STEPS {
        0 => here.over().map(Dynamic::from),
        _ => None,
    });
    teach(&mut engine, env);
    engine
}

fn selection(value: Dynamic) -> Option<Selection> {
    let of = |list: List| Selection {
        of: list.of,
        chosen: list.chosen,
    };
    if let Some(list) = value.clone().try_cast::<AllocationList>() {
        return Some(of(list.0));
    }
    value.try_cast::<MapList>().map(|list| of(list.0))
}

/// What is wrong, and where: in the innermost function that was called.
fn fault(mut error: EvalAltResult) -> Fault {
    let mut place = error.position();
    while let EvalAltResult::ErrorInFunctionCall(_, _, inner, _) = error {
        error = *inner;
        if !error.position().is_none() {
            place = error.position();
        }
    }
    let is_syntax = matches!(error, EvalAltResult::ErrorParsing(..));
    Fault {
        message: sentence(error),
        line: place.line(),
        column: place.position(),
        is_syntax,
    }
}

fn sentence(mut error: EvalAltResult) -> String {
    match &error {
        EvalAltResult::ErrorRuntime(why, _) | EvalAltResult::ErrorTerminated(why, _) => {
            return why.to_string();
        }
        EvalAltResult::ErrorTooManyOperations(_) => {
            return "it takes more steps than a script may take".to_owned();
        }
        EvalAltResult::ErrorStackOverflow(_) => {
            return "too many functions call each other".to_owned();
        }
        EvalAltResult::ErrorFunctionNotFound(what, _) => return not_there(what),
        EvalAltResult::ErrorDataTooLarge(what, _) => {
            return format!(
                "{} grows larger than a script may have it",
                what.to_lowercase()
            );
        }
        _ => {}
    }
    error.set_position(Position::NONE);
    error.to_string()
}

/// `only_big (AllocationList, i64)` is not there: perhaps with other values it is.
fn not_there(what: &str) -> String {
    let (name, values) = what.split_once(" (").unwrap_or((what, ")"));
    let values = values
        .trim_end_matches(')')
        .replace("i64", "a whole number");
    let values = values
        .replace("f64", "a fraction")
        .replace("&str | ImmutableString | String", "a text");
    match values.is_empty() {
        true => format!("there is no `{name}` without values; doc/SCRIPTS.md has all words"),
        false => format!("there is no `{name}` of {values}; doc/SCRIPTS.md has all words"),
    }
}
