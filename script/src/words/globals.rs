//! Functions that stand alone.

use std::rc::Rc;

use memlog_answers::Of;
use rhai::{Array, Dynamic, Engine, EvalAltResult, Position};

use crate::env::{Env, Made, made, refused};
use crate::graph::Graph;
use crate::list::{AllocationList, List, MapList};
use crate::path::dirname;
use crate::words::single::Data;

pub(super) fn teach(engine: &mut Engine, env: &Rc<Env>) {
    let own = || Rc::clone(env);
    let here = own();
    engine.register_fn("allocations", move || -> Made<AllocationList> {
        Ok(AllocationList(List::all(here.log()?, Of::Blocks)))
    });
    let here = own();
    engine.register_fn("maps", move || -> Made<MapList> {
        Ok(MapList(List::all(here.log()?, Of::Mappings)))
    });
    let here = own();
    engine.register_fn("data", move || {
        Ok::<_, Box<EvalAltResult>>(Data(here.log()?))
    });
    let here = own();
    engine.register_fn("load", move |path: &str| -> Made<Data> {
        Ok(Data(here.load(path)?))
    });
    engine.register_fn("graph", Graph::default);
    let here = own();
    engine.register_fn("argv", move || -> Array {
        here.argv.iter().cloned().map(Dynamic::from).collect()
    });
    engine.register_fn("dirname", dirname);
    let here = own();
    engine.register_fn("mkdir_p", move |name: &str| here.make_folder(name));
    let here = own();
    engine.register_fn("chdir", move |name: &str| here.enter(name));
    for (word, bytes) in [("kb", 1_000), ("mb", 1_000_000), ("gb", 1_000_000_000)] {
        engine.register_fn(word, move |count: i64| -> Made<i64> {
            let size = count.checked_mul(bytes);
            size.ok_or_else(|| refused("this size is too large"))
        });
        engine.register_fn(word, move |count: f64| (count * bytes as f64) as i64);
    }
    let here = own();
    engine.register_fn("exit", move || exit(&here, 0));
    let here = own();
    engine.register_fn("exit", move |code: i64| exit(&here, code));
    let here = own();
    engine.register_fn("info", move |message: &str| made(here.host.note(message)));
    // A script that sleeps could not be ended.
    engine.register_fn("sleep", |_: i64| no_sleep());
    engine.register_fn("sleep", |_: f64| no_sleep());
}

fn exit(env: &Env, code: i64) -> Made<()> {
    env.exit.set(Some(code));
    Err(EvalAltResult::Exit(Dynamic::UNIT, Position::NONE).into())
}

fn no_sleep() -> Made<()> {
    Err(refused("scripts do not sleep: nothing changes meanwhile"))
}
