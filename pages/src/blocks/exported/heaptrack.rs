//! Events of chosen blocks, as heaptrack's own files tell them.

use std::cell::RefCell;
use std::io::Write;
use std::process::ExitCode;

use memlog_answers::{Damaged, Picked, picked};
use memlog_format::meta::Lack;

use super::Chosen;
use crate::blocks::Told;
use crate::events::heaptrack as form;
use crate::rests::Rests;

/// Writes it: all events, or those of the blocks that the table says are chosen.
pub fn heaptrack(chosen: &Chosen, out: &mut dyn Write) -> anyhow::Result<ExitCode> {
    if chosen.blocks.filter().is_none() {
        return form(chosen.file, chosen.symbol_files, None, out);
    }
    let (out, exit) = (RefCell::new(out), RefCell::new(ExitCode::SUCCESS));
    let made = |told: &Told| -> Result<Picked, Damaged> { picked(told.world, told.choice) };
    let answered = super::asked(
        chosen,
        Rests::from(false)
            .on(&[Lack::Order, Lack::Gone])
            .on_events(),
        made,
        |picked| {
            let (file, out) = (chosen.file, &mut *out.borrow_mut());
            *exit.borrow_mut() = form(file, chosen.symbol_files, Some(&picked), out)?;
            Ok(())
        },
    )?;
    // Ctrl-C may have come while the table was made, or later.
    let exit = exit.into_inner();
    Ok(match exit == ExitCode::SUCCESS {
        true => answered,
        false => exit,
    })
}
