//! `/list`: all logs.

use std::sync::Arc;

use axum::extract::State;
use axum::http::HeaderMap;
use axum::response::Response;
use memlog_answers::Of;
use memlog_pages::blocks::Desk;
use serde_json::{Value, json};

use super::JSON;
use super::clock::time;
use crate::reply::text;
use crate::shelf::{MOST_OPEN, Phase, Shelf, Shelved};

/// Where there are few of them each is opened for its figures. Else a log that nobody has
/// asked yet has null for what only the whole of it tells.
pub async fn list(State(shelf): State<Arc<Shelf>>, headers: HeaderMap) -> Response {
    let logs = shelf.all();
    let are_few = logs.len() <= MOST_OPEN;
    let mut list = Vec::new();
    for log in &logs {
        let figures = match are_few || matches!(log.phase(), Some(Phase::Ready(_))) {
            // What cannot be opened stands in the list too.
            true => log.ask(|desk| Ok(figures(desk)?)).await.ok(),
            false => None,
        };
        list.push(row(log, figures.unwrap_or_default()));
    }
    text(&headers, JSON, Value::from(list).to_string())
}

fn figures(desk: &Desk) -> Result<Value, memlog_answers::Damaged> {
    let mut stats = desk.overview()["stats"].take();
    stats["deepest"] = desk.world(Of::Blocks, true)?.deepest().into();
    stats["machine"] = desk.machine().into();
    Ok(stats)
}

fn row(log: &Shelved, stats: Value) -> Value {
    let glance = log.json();
    let known = |name: &str| match &stats[name] {
        Value::Null => glance[name].clone(),
        value => value.clone(),
    };
    let seconds = |value: &Value| Some(time((value.as_f64()? * 1e9).round() as u64));
    json!({
        "id": log.id.to_string(),
        "executable": known("executable"),
        "cmdline": glance["command_line"],
        "architecture": stats["machine"],
        "final_allocated": stats["end_live_bytes"],
        "final_allocated_count": stats["end_live_blocks"],
        "runtime": seconds(&stats["duration_seconds"]),
        "unique_backtrace_count": stats["distinct_stacks"],
        "maximum_backtrace_depth": stats["deepest"],
        "timestamp": known("start_unix_ns").as_u64().map(time),
    })
}
