//! What a log lists: its modules, its counters, and what is wrong with it.

use memlog_format::counter::{ALL, Counter};
use memlog_format::meta::{Key, Module};
use memlog_read::{Findings, Log};

use crate::facts::{Bounds, fate, reason};
use crate::page::others::Records;
use crate::words::{clean, grouped};

/// The files whose code was there.
pub fn modules(log: &Log) -> Records {
    let mut records = Records::below(format!("modules: {}", log.modules().len()), 0);
    for module in log.modules() {
        let gone = log.unloads().iter().find(|(id, _)| *id == module.id);
        let gone = match gone {
            Some((_, tick)) => format!(", unloaded by {:.3} s", log.seconds(*tick)),
            None => String::new(),
        };
        records.add("", line_of(module) + &gone);
    }
    records
}

fn line_of(module: &Module) -> String {
    let id: String = module
        .build_id
        .iter()
        .map(|byte| format!("{byte:02x}"))
        .collect();
    let id = if id.is_empty() { "no build-id" } else { &id };
    format!(
        "{:#x}-{:#x} bias {:#x} {id} {}",
        module.low,
        module.high,
        module.bias,
        clean(module.path)
    )
}

/// What the recorder counted.
pub fn counters(log: &Log) -> Records {
    let mut records = Records::below("counters:".to_owned(), 22);
    let refused = log.counter(Counter::LogRefused);
    let bounds = Bounds::of(log.texts(Key::Setting)).refused(refused);
    for &(counter, name) in ALL {
        let count = log.counter(counter);
        if let Some(reason) = reason(counter, count) {
            records.add(name, reason);
            continue;
        }
        let value = grouped(count);
        let lost = match counter.is_loss() && count != 0 {
            true => format!("  events are missing: they {}", fate(counter, bounds)),
            false => String::new(),
        };
        records.add(name, format!("{value:>16}{lost}"));
    }
    records
}

/// What the reader found wrong.
pub fn findings(log: &Log, findings: &Findings) -> Records {
    let mut records = Records::below(format!("findings: {}", findings.count()), 0);
    for finding in findings.list() {
        records.add("", finding.to_string());
    }
    let more = findings.count() - findings.list().len() as u64;
    if more > 0 {
        records.add("", format!("and {more} more"));
    }
    if findings.order_gaps > 0 {
        let gaps = grouped(findings.order_gaps);
        let usual = usual(log);
        records.add("", format!("{gaps} order numbers without an event{usual}"));
    }
    if findings.order_breaks > 0 {
        let breaks = grouped(findings.order_breaks);
        records.add("", format!("{breaks} order numbers contradict others"));
    }
    records
}

fn usual(log: &Log) -> &'static str {
    match log.end() {
        None => ": usual where a program was killed between taking one and using it",
        Some(_) => "",
    }
}
