//! `/regions` and `/mallopts`: where blocks lay, and what the allocator was told.

use axum::extract::RawQuery;
use axum::http::HeaderMap;
use axum::response::Response;
use memlog_answers::occupied;
use memlog_pages::blocks::Matter;
use memlog_pages::info::mallopt_name;
use serde_json::{Value, json};

use super::JSON;
use super::asked::Of;
use super::clock::time;
use super::frames::list;
use super::log::Log;
use crate::pieces::streamed;
use crate::reply::{Refusal, text};

/// Ranges that are put into words at a time.
const PIECE: usize = 1 << 14;

/// The addresses that chosen blocks ever lay at, and where brk's part of them is.
pub async fn regions(log: Log, RawQuery(query): RawQuery) -> Result<Response, Refusal> {
    let asked = log.asked(query.as_deref(), Of::Blocks).await?;
    let filter = asked.filter;
    let made = log.ask(move |desk| {
        let start = desk.log().start();
        let word_bytes = start.map_or(8, |start| start.pointer_bytes.into());
        let regions = desk.told(Matter::Addresses, filter.as_ref(), |told| {
            Ok(occupied(told.world, told.choice, word_bytes)?)
        })?;
        Ok((regions, desk.break_area()))
    });
    let (regions, area) = made.await?;
    // brk's area may have grown since the kernel was asked: what lies across its end is of it.
    let main = area.map(|area| {
        let within = regions
            .iter()
            .filter(|(start, end)| *start < area.1 && area.0 < *end);
        within.fold(area, |all, one| (all.0.min(one.0), all.1.max(one.1)))
    });
    let (start, end) = (main.map(|main| main.0), main.map(|main| main.1));
    let head = json!({
        "main_heap_start": start,
        "main_heap_end": end,
        "main_heap_start_s": start.map(|at| at.to_string()),
        "main_heap_end_s": end.map(|at| at.to_string()),
    });
    let head = head.to_string();
    let head = head.strip_suffix('}').unwrap_or(&head);
    let first = format!("{head},\"regions\":[");
    Ok(streamed(JSON, first, |sink| async move {
        let mut left = regions.len();
        for some in regions.chunks(PIECE) {
            left -= some.len();
            let words = some.iter().map(|(start, end)| format!("[{start},{end}]"));
            let mut text = words.collect::<Vec<_>>().join(",");
            text.push_str(if left > 0 { "," } else { "" });
            if sink.put(text).await.is_err() {
                return Ok(());
            }
        }
        let _ = sink.put("]}").await;
        Ok(())
    }))
}

/// Calls of mallopt.
pub async fn mallopts(
    log: Log,
    RawQuery(query): RawQuery,
    headers: HeaderMap,
) -> Result<Response, Refusal> {
    let asked = log.asked(query.as_deref(), Of::Blocks).await?;
    let strips = asked.flag("strip_template_args")?;
    let made = log.ask(move |desk| {
        let (log, frames) = (desk.log(), desk.frames(memlog_answers::Of::Blocks)?);
        let start_unix_ns = log.start().map_or(0, |start| start.wall_ns);
        let calls = log.tunings().iter().enumerate().map(|(place, tuned)| {
            let since_start_ns = tuned.tick.saturating_mul(log.tick_ns());
            let mut call = json!({
                "timestamp": time(start_unix_ns.saturating_add(since_start_ns)),
                "thread": tuned.tid,
                "backtrace_id": tuned.stack.0,
                "backtrace": list(frames.of_tuning(place), strips),
                "raw_param": tuned.parameter,
                "value": tuned.value,
                "result": i32::from(tuned.is_taken),
            });
            if let Some(name) = mallopt_name(tuned.parameter) {
                call["param"] = name.into();
            }
            call
        });
        Ok(Value::from(calls.collect::<Vec<_>>()).to_string())
    });
    Ok(text(&headers, JSON, made.await?))
}
