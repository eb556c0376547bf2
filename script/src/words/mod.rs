//! What scripts can say. Each module makes the words of one kind known to the language.
//!
//! * `globals`: functions that stand alone; `print`: values as text
//! * `durations`: h, m, s, ms, us, and sums of those
//! * `lists`: what lists and groups can do; `filters`: what chooses of them
//! * `single`: blocks, mappings, stacks and logs
//! * `graphs`: pictures

mod durations;
mod filters;
mod globals;
mod graphs;
mod lists;
mod print;
mod single;

use std::rc::Rc;

use rhai::Engine;

use crate::env::Env;

/// All words.
pub(crate) fn teach(engine: &mut Engine, env: &Rc<Env>) {
    globals::teach(engine, env);
    print::teach(engine, env);
    durations::teach(engine);
    lists::teach(engine, env);
    filters::teach(engine);
    single::teach(engine);
    graphs::teach(engine, env);
}
