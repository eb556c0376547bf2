//! The routes of bytehound's server, by its names and parameters, so that its users'
//! scripts and front ends go on working. doc/BYTEHOUND.md says what is the same and what
//! differs.
//!
//! * `asked`: parameters and filters; `log`: the log of a number
//! * `frames`, `clock`, `sums`, `words`: stacks, times, groups and blocks, in bytehound's form
//! * `list`, `timeline`, `allocations`, `groups`, `maps`, `stacks`, `tree`, `heap`,
//!   `statics`, `export`, `scripts`: the routes
//!
//! What a log does not know is null there, or an empty list.

mod allocations;
mod asked;
mod clock;
mod export;
mod frames;
mod groups;
mod heap;
mod list;
mod log;
mod maps;
mod scripts;
mod stacks;
mod statics;
mod sums;
mod table;
mod timeline;
mod tree;
mod words;

use std::sync::Arc;

use axum::Router;
use axum::routing::{get, post};

use crate::shelf::Shelf;

const JSON: &str = "application/json";
const TEXT: &str = "text/plain; charset=utf-8";

/// All of them.
pub fn routes() -> Router<Arc<Shelf>> {
    let of_data = Router::new()
        .route("/timeline", get(timeline::all))
        .route("/timeline_leaked", get(timeline::leaked))
        .route("/timeline_maps", get(timeline::maps))
        .route("/allocations", get(allocations::allocations))
        .route("/raw_allocations", get(allocations::raw))
        .route("/allocation_groups", get(groups::groups))
        .route("/graph/group/{file}", get(groups::graph))
        .route("/maps", get(maps::maps))
        .route("/backtraces", get(stacks::all))
        .route("/backtrace/{backtrace_id}", get(stacks::one))
        .route("/tree", get(tree::tree))
        .route("/allocation_ascii_tree", get(tree::ascii))
        .route("/regions", get(heap::regions))
        .route("/mallopts", get(heap::mallopts))
        .route("/execute_script", post(scripts::execute))
        .route("/script_files/{hash}/{file}", get(scripts::drawn))
        .route("/allocation_filter_to_script", get(scripts::of_blocks))
        .route("/map_filter_to_script", get(scripts::of_maps));
    let mut of_data = of_data;
    for (path, method) in [
        ("/dynamic_constants", get(statics::constants)),
        ("/dynamic_statics", get(statics::statics)),
        ("/dynamic_constants_ascii_tree", get(statics::constant_tree)),
        ("/dynamic_statics_ascii_tree", get(statics::static_tree)),
        ("/export/flamegraph", get(export::flamegraph)),
        ("/export/flamegraph.pl", get(export::folded)),
        ("/export/heaptrack", get(export::heaptrack)),
        ("/export/replay", get(export::replay)),
    ] {
        // The last part is what a browser calls the file that it saves.
        of_data = of_data
            .route(path, method.clone())
            .route(&format!("{path}/{{file}}"), method);
    }
    Router::new()
        .route("/list", get(list::list))
        .nest("/data/{id}", of_data)
}
