//! Lists as flame graphs.

use memlog_export::flame::{View, svg};

use crate::env::Made;
use crate::list::List;

/// Pixels.
const FLAME_WIDTH: f64 = 1200.0;

/// A flame graph of a list, whose widths go by bytes.
pub(crate) fn save_as_flame(list: &List, name: &str) -> Made<()> {
    let (chosen, of) = (list.chosen.clone(), list.of);
    let title = match chosen.filter() {
        _ if chosen.is_all() => "All allocations".to_owned(),
        Some(filter) => format!("Allocations where {filter}"),
        None => "Chosen allocations".to_owned(),
    };
    let picture = list.log.ask(move |desk| {
        let flame = desk.flame(&chosen.choice(desk, of)?, &title)?;
        Ok(svg(&flame, View::default(), FLAME_WIDTH))
    })?;
    list.log.env.write(name, &picture)
}
