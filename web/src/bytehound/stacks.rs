//! `/backtraces` and `/backtrace/ID`: stacks by themselves.

use std::sync::Arc;

use axum::extract::{Path, RawQuery};
use axum::http::HeaderMap;
use axum::response::Response;
use memlog_answers::sums_of_stacks;
use memlog_pages::blocks::Matter;

use super::JSON;
use super::asked::Of;
use super::frames::{Stacks, ids, list};
use super::log::Log;
use crate::pieces::{FULL, streamed};
use crate::reply::{Refusal, text};

/// Those that asked for a chosen block.
pub async fn all(log: Log, RawQuery(query): RawQuery) -> Result<Response, Refusal> {
    let asked = log.asked(query.as_deref(), Of::Blocks).await?;
    let strips = asked.flag("strip_template_args")?;
    let made = log.told(Matter::Sums, asked.filter, |told, _| {
        let sums = (0u32..).zip(sums_of_stacks(told.world, told.choice)?);
        let chosen = sums.filter(|(_, sums)| sums.blocks > 0);
        Ok(chosen.map(|(stack, _)| stack).collect::<Vec<_>>())
    });
    let chosen = Arc::new(made.await?);
    let end = format!("],\"total_count\":{}}}", chosen.len());
    Ok(streamed(
        JSON,
        "{\"backtraces\":[".to_owned(),
        move |sink| async move {
            let mut done = 0;
            while done < chosen.len() {
                let (list, from) = (Arc::clone(&chosen), done);
                let made = log.ask(move |desk| {
                    let mut stacks = Stacks::new(desk.frames(memlog_answers::Of::Blocks)?, strips);
                    let (mut text, mut done) = (String::new(), from);
                    while let Some(stack) = list.get(done)
                        && text.len() < FULL
                    {
                        text.push_str(stacks.text(*stack));
                        done += 1;
                        if done < list.len() {
                            text.push(',');
                        }
                    }
                    Ok((text, done))
                });
                let (piece, next) = made.await?;
                if sink.put(piece).await.is_err() {
                    return Ok(());
                }
                done = next;
            }
            let _ = sink.put(end).await;
            Ok(())
        },
    ))
}

/// The one of a number, as the log has it.
pub async fn one(
    log: Log,
    Path((_, number)): Path<(String, String)>,
    RawQuery(query): RawQuery,
    headers: HeaderMap,
) -> Result<Response, Refusal> {
    let asked = log.asked(query.as_deref(), Of::Blocks).await?;
    let strips = asked.flag("strip_template_args")?;
    let number: u32 = number.parse().map_err(|_| {
        Refusal::asked(
            format!("{number:?} is no number of a stack"),
            "backtrace_id of each allocation is one",
        )
    })?;
    let made = log.told(Matter::Sums, None, move |told, desk| {
        let place = ids(told.world).iter().position(|id| *id == Some(number));
        // What was written twice has a second number.
        let place = place.or_else(|| {
            let all = told.world.log_numbers();
            all.iter().position(|numbers| numbers.contains(&number))
        });
        let Some(place) = place else {
            return Ok(None);
        };
        let frames = desk.frames(memlog_answers::Of::Blocks)?.of(place as u32);
        let answer = serde_json::json!({ "frames": list(frames, strips) });
        Ok(Some(answer.to_string()))
    });
    let frames = made.await?.ok_or_else(|| {
        Refusal::missing(
            format!("no block has stack {number}"),
            "backtrace_id of each allocation is one",
        )
    })?;
    Ok(text(&headers, JSON, frames))
}
