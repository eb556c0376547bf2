//! What chosen blocks of the run come to by their stacks, as a flame graph and as lines.

use memlog_analysis::Measure;
use memlog_answers::{Choice, Damaged, World, held_of};
use memlog_export::flame::{Flame, Metric, Series, View, svg};
use memlog_export::forms::folded as form;

use crate::blocks::Told;
use crate::calls::outermost_at_main;

/// Pixels.
const WIDTH: f64 = 1200.0;

/// A picture of it.
pub fn flame_svg(told: &Told) -> Result<String, Damaged> {
    Ok(svg(&flame(told)?, View::default(), WIDTH))
}

/// A line for each stack, with its bytes.
pub fn folded(told: &Told) -> Result<String, Damaged> {
    Ok(form(&flame(told)?))
}

fn flame(told: &Told) -> Result<Flame, Damaged> {
    let mut heading = told.kept().heading().told();
    let title = format!("memlog: allocated in the run{}", told.about);
    heading.insert(0, title);
    Ok(Flame {
        heading,
        notes: told.kept().notes.clone(),
        ..allocated(told.world, told.choice, "allocated in the run")?
    })
}

/// What chosen blocks come to by their stacks: their bytes, under that name.
pub fn allocated(world: &World, choice: &Choice, name: &str) -> Result<Flame, Damaged> {
    let (nodes, end_of) = outermost_at_main(world);
    let mut series = Series {
        thing: "allocation",
        own: vec![Default::default(); nodes.len()],
    };
    for (stack, held) in held_of(world, choice)?.into_iter().enumerate() {
        if let Some(own) = end_of(stack).and_then(|end| series.own.get_mut(end)) {
            *own = own.plus(held);
        }
    }
    Ok(Flame {
        names: world.names.clone(),
        nodes,
        series: vec![series],
        metrics: vec![Metric {
            key: "allocated",
            name: name.to_owned(),
            series: 0,
            measure: Measure::Bytes,
        }],
        ..Flame::default()
    })
}
