//! `/timeline`, `/timeline_leaked`, `/timeline_maps`: figures over time.

use axum::extract::RawQuery;
use axum::http::HeaderMap;
use axum::response::Response;
use memlog_answers::{Point, Test, mapped_over_time, timeline};
use memlog_pages::blocks::Matter;
use serde_json::{Value, json};

use super::JSON;
use super::asked::Of;
use super::clock::Clock;
use super::log::Log;
use crate::reply::{Refusal, text};

/// Points, as many as bytehound has.
const POINTS: usize = 1000;
const MS: u64 = 1_000_000;

/// All blocks that are chosen.
pub async fn all(log: Log, query: RawQuery, headers: HeaderMap) -> Result<Response, Refusal> {
    course(log, query, headers, false).await
}

/// Those of them that were never released.
pub async fn leaked(log: Log, query: RawQuery, headers: HeaderMap) -> Result<Response, Refusal> {
    course(log, query, headers, true).await
}

async fn course(
    log: Log,
    RawQuery(query): RawQuery,
    headers: HeaderMap,
    is_leaked: bool,
) -> Result<Response, Refusal> {
    let asked = log.asked(query.as_deref(), Of::Blocks).await?;
    let made = log.told(Matter::Course, asked.filter, move |told, _| {
        let choice = match is_leaked {
            true => told.choice.clone().and(Test::Leaked),
            false => told.choice.clone(),
        };
        let points = timeline(told.world, &choice, POINTS)?;
        Ok(curves(&points, Clock::of(told)).to_string())
    });
    Ok(text(&headers, JSON, made.await?))
}

fn curves(points: &[Point], clock: Clock) -> Value {
    let all = |of: fn(&Point) -> u64| points.iter().map(of).collect::<Vec<_>>();
    let (sizes, counts) = (
        all(|point| point.live.bytes),
        all(|point| point.live.blocks),
    );
    json!({
        "xs": xs(points, clock),
        "size_delta": deltas(&sizes),
        "count_delta": deltas(&counts),
        "allocated_size": sizes,
        "allocated_count": counts,
        "allocations": all(|point| point.came.blocks),
        "deallocations": all(|point| point.went.blocks),
    })
}

/// Milliseconds since 1970.
fn xs(points: &[Point], clock: Clock) -> Vec<u64> {
    let ms = |point: &Point| clock.unix_ns(clock.ns(point.tick)) / MS;
    points.iter().map(ms).collect()
}

/// How much more each is than the one before it.
fn deltas(values: &[u64]) -> Vec<i64> {
    let before = std::iter::once(0).chain(values.iter().copied());
    let pairs = values.iter().zip(before);
    pairs
        .map(|(now, before)| now.wrapping_sub(before) as i64)
        .collect()
}

/// Address space and resident memory. What else the kernel knows of mappings is in no log
/// over time.
pub async fn maps(
    log: Log,
    RawQuery(query): RawQuery,
    headers: HeaderMap,
) -> Result<Response, Refusal> {
    log.asked(query.as_deref(), Of::Maps).await?;
    let made = log.ask(|desk| {
        let (points, xs) = desk.told(Matter::Course, None, |told| {
            let points = timeline(told.world, told.choice, POINTS)?;
            let xs = xs(&points, Clock::of(told));
            Ok((points, xs))
        })?;
        let mapped = desk.told(Matter::Mappings, None, |told| {
            Ok(mapped_over_time(told.world)?)
        })?;
        let at = |tick| {
            let last = mapped.range(..=tick).next_back();
            last.map_or(0, |(_, bytes)| *bytes)
        };
        let mapped = points.iter().map(|point| at(point.tick));
        let unknown = vec![Value::Null; points.len()];
        let curves = json!({
            "xs": xs,
            "address_space": mapped.collect::<Vec<_>>(),
            "rss": points.iter().map(|point| point.resident).collect::<Vec<_>>(),
            "anonymous": unknown,
            "dirty": unknown,
            "clean": unknown,
            "swap": unknown,
        });
        Ok(curves.to_string())
    });
    Ok(text(&headers, JSON, made.await?))
}
