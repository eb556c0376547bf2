//! Pictures of lists over time.

use std::rc::Rc;

use rhai::Engine;

use crate::env::{Env, Made, made};
use crate::graph::{Graph, Kind, colour};
use crate::groups::Groups;
use crate::list::{AllocationList, MapList};
use crate::time::Duration;

/// A word that changes a graph.
type Changed = (&'static str, fn(&mut Graph));

const CHANGES: [Changed; 7] = [
    ("trim_left", |graph| graph.trims_left = true),
    ("trim_right", |graph| graph.trims_right = true),
    ("trim", |graph| {
        graph.trims_left = true;
        graph.trims_right = true;
    }),
    ("only_non_empty_series", |graph| {
        graph.around.empty_too = false
    }),
    ("without_legend", |graph| graph.around.legend = false),
    ("without_axes", |graph| graph.around.axes = false),
    ("without_grid", |graph| graph.around.grid = false),
];

const KINDS: [(&str, Kind); 6] = [
    ("show_memory_usage", Kind::MemoryUsage),
    ("show_live_allocations", Kind::LiveAllocations),
    ("show_new_allocations", Kind::NewAllocations),
    ("show_deallocations", Kind::Deallocations),
    ("show_rss", Kind::Rss),
    ("show_address_space", Kind::AddressSpace),
];

pub(super) fn teach(engine: &mut Engine, env: &Rc<Env>) {
    engine.register_type_with_name::<Graph>("Graph");
    engine
        .register_fn("add", |graph: &mut Graph, list: AllocationList| {
            graph.with_list(list.0, None)
        })
        .register_fn(
            "add",
            |graph: &mut Graph, name: &str, list: AllocationList| {
                graph.with_list(list.0, Some(name.to_owned()))
            },
        )
        .register_fn("add", |graph: &mut Graph, groups: Groups| {
            graph.with_groups(groups)
        })
        .register_fn("add", |graph: &mut Graph, list: MapList| {
            graph.with_list(list.0, None)
        })
        .register_fn("add", |graph: &mut Graph, name: &str, list: MapList| {
            graph.with_list(list.0, Some(name.to_owned()))
        });
    for (word, change) in CHANGES {
        engine.register_fn(word, move |graph: &mut Graph| graph.changed(change));
    }
    for (word, kind) in KINDS {
        engine.register_fn(word, move |graph: &mut Graph| graph.showing(kind));
    }
    engine
        .register_fn("start_at", |graph: &mut Graph, start: Duration| {
            graph.changed(|graph| graph.start = Some(start))
        })
        .register_fn("end_at", |graph: &mut Graph, end: Duration| {
            graph.changed(|graph| graph.end = Some(end))
        })
        .register_fn(
            "with_gradient_color_scheme",
            |graph: &mut Graph, first: &str, last: &str| -> Made<Graph> {
                let gradient = [made(colour(first))?, made(colour(last))?];
                Ok(graph.changed(|graph| graph.gradient = Some(gradient)))
            },
        );
    let here = Rc::clone(env);
    engine.register_fn("save", move |graph: &mut Graph| {
        graph.save(&here.graph_name())
    });
    engine
        .register_fn("save", |graph: &mut Graph, name: &str| graph.save(name))
        .register_fn("save_each_series_as_graph", |graph: &mut Graph| {
            graph.save_each(".")
        })
        .register_fn(
            "save_each_series_as_graph",
            |graph: &mut Graph, folder: &str| graph.save_each(folder),
        )
        .register_fn("save_each_series_as_flamegraph", |graph: &mut Graph| {
            graph.save_each_flame(".")
        })
        .register_fn(
            "save_each_series_as_flamegraph",
            |graph: &mut Graph, folder: &str| graph.save_each_flame(folder),
        );
}
