//! When recording was off, and what that means for the figures.

use memlog_analysis::Held;
use memlog_format::meta::Key;
use memlog_format::switch::By;
use memlog_read::Log;
use serde_json::{Value, json};

use crate::open::Analysis;
use crate::words::{counted, sized};

/// Whether recording was off when the process began.
fn began_off(log: &Log) -> bool {
    let mut settings = log.texts(Key::Setting);
    settings.any(|setting| setting == b"MEMLOG_START_DISABLED=1")
}

/// Whether nothing can be in the log, because recording was never switched on.
pub fn never_on(log: &Log, analysis: &Analysis) -> bool {
    began_off(log) && analysis.tally.switches().is_empty()
}

/// Whether anything happened that was not recorded on purpose.
pub fn was_off(log: &Log, analysis: &Analysis) -> bool {
    began_off(log) || !analysis.tally.switches().is_empty()
}

/// Whether recording began in a program that ran already, and that alone was not seen.
pub fn was_attached(analysis: &Analysis) -> bool {
    let first = analysis.tally.switches().first();
    first.is_some_and(|first| first.by == By::Attach)
}

/// A time in which recording was off, and what is not followed any further since.
struct Gap {
    from: Option<u64>,
    to: Option<u64>,
    forgotten: Held,
}

fn gaps(log: &Log, analysis: &Analysis) -> Vec<Gap> {
    let mut off = began_off(log).then_some(None);
    let mut gaps = Vec::new();
    for switch in analysis.tally.switches() {
        if !switch.on {
            off.get_or_insert(Some(switch.tick));
        } else if let Some(from) = off.take() {
            gaps.push(Gap {
                from,
                to: Some(switch.tick),
                forgotten: switch.forgotten,
            });
        }
    }
    gaps.extend(off.map(|from| Gap {
        from,
        to: None,
        forgotten: Held::default(),
    }));
    gaps
}

/// So many are told one by one.
const FEW: usize = 3;

/// In sentences.
pub fn sentences(log: &Log, analysis: &Analysis) -> Vec<String> {
    let at = |tick| format!("{:.3} s", log.seconds(tick));
    let not_followed = |held: Held| {
        let (blocks, bytes) = (counted(held.blocks, "block"), sized(held.bytes));
        format!("{blocks} ({bytes}) that were live before are not followed any further")
    };
    let mut sentences = Vec::new();
    let mut many = (0, Held::default());
    let gaps = gaps(log, analysis);
    for (number, gap) in gaps.iter().enumerate() {
        sentences.push(match (gap.from, gap.to) {
            // Another note says so.
            (None, None) => continue,
            (None, Some(to)) if was_attached(analysis) => format!(
                "memlog attached at {}: blocks from before are inherited, and in no figure",
                at(to)
            ),
            (None, Some(to)) => {
                format!(
                    "recording began at {}: blocks from before are not known",
                    at(to)
                )
            }
            (Some(from), Some(to)) if number < FEW => format!(
                "recording was off from {} to {}: {}",
                at(from),
                at(to),
                not_followed(gap.forgotten)
            ),
            (Some(_), Some(_)) => {
                many.0 += 1;
                many.1.blocks += gap.forgotten.blocks;
                many.1.bytes = many.1.bytes.saturating_add(gap.forgotten.bytes);
                continue;
            }
            (Some(from), None) => format!(
                "recording was off from {} to the end: what is live at the end is what was live \
                 then",
                at(from)
            ),
        });
    }
    if many.0 > 0 {
        sentences.push(format!(
            "recording was off {} more: {}",
            counted(many.0, "time"),
            not_followed(many.1)
        ));
    }
    sentences
}

/// As `stats --json` has it.
pub fn figures(log: &Log, analysis: &Analysis) -> Value {
    let switches = analysis.tally.switches().iter().map(|switch| {
        json!({
            "seconds": log.seconds(switch.tick),
            "on": switch.on,
            "by": by(switch.by),
            "forgotten_blocks": switch.forgotten.blocks,
            "forgotten_bytes": switch.forgotten.bytes,
        })
    });
    switches.collect()
}

fn by(by: By) -> &'static str {
    match by {
        By::Program => "program",
        By::Control => "ctl",
        By::Signal => "signal",
        By::Time => "time",
        By::Attach => "attach",
    }
}
