//! `execute_script` and what it draws, and filters as scripts.

use std::sync::Arc;

use axum::extract::{Path, RawQuery, State};
use axum::http::HeaderMap;
use axum::response::Response;
use memlog_answers::Of as Rows;
use memlog_query::Expr;
use memlog_script::{End, Output, filter_to_script, to_json};
use serde_json::json;

use super::JSON;
use super::asked::{Asked, Of};
use super::log::Log;
use crate::reply::{Refusal, picture, text};
use crate::scripts;
use crate::shelf::Shelf;

/// Runs a script about a log.
pub async fn execute(
    State(shelf): State<Arc<Shelf>>,
    log: Log,
    headers: HeaderMap,
    code: String,
) -> Result<Response, Refusal> {
    let done = scripts::run(&log.shelved, code).await?;
    let kept = done.output.iter().map(|one| match one {
        Output::Line(_) => String::new(),
        Output::Picture { svg, .. } => shelf.pictures.keep(svg.clone()),
    });
    let kept: Vec<String> = kept.collect();
    let id = log.shelved.id;
    let told = to_json(&done.outcome, &done.output, |place| {
        let sum = kept.get(place).cloned().unwrap_or_default();
        (format!("/data/{id}/script_files/{sum}/picture.svg"), sum)
    });
    Ok(text(&headers, JSON, told.to_string()))
}

/// A picture that a script drew.
pub async fn drawn(
    State(shelf): State<Arc<Shelf>>,
    Path((_, name, _)): Path<(String, String, String)>,
    headers: HeaderMap,
) -> Result<Response, Refusal> {
    Ok(picture(&headers, shelf.pictures.get(&name)?))
}

/// The filters of blocks as a script.
pub async fn of_blocks(
    _: Log,
    RawQuery(query): RawQuery,
    headers: HeaderMap,
) -> Result<Response, Refusal> {
    as_script(query.as_deref(), Of::Blocks, &headers)
}

/// The filters of mappings as a script.
pub async fn of_maps(
    _: Log,
    RawQuery(query): RawQuery,
    headers: HeaderMap,
) -> Result<Response, Refusal> {
    as_script(query.as_deref(), Of::Maps, &headers)
}

fn as_script(query: Option<&str>, of: Of, headers: &HeaderMap) -> Result<Response, Refusal> {
    let asked = Asked::of(query, of)?;
    let filter = asked.filter.unwrap_or_else(|| Expr::all_of(Vec::new()));
    let rows = match of {
        Of::Blocks => Rows::Blocks,
        Of::Maps => Rows::Mappings,
    };
    let code = filter_to_script(&filter, rows, asked.custom.as_deref());
    let told = json!({ "prologue": code.prologue, "code": code.code });
    Ok(text(headers, JSON, told.to_string()))
}

/// What a script chooses, as a filter.
pub async fn chosen_by(log: &Log, code: &str, of: Of) -> Result<Expr, Refusal> {
    let refused = |sentence: String| {
        Refusal::asked(
            format!("custom_filter: {sentence}"),
            "it has to end with a list, as allocations().only_leaked()",
        )
    };
    let done = scripts::run(&log.shelved, code.to_owned()).await?;
    if let End::Failed(fault) = done.outcome.end {
        let place = fault
            .line
            .map_or_else(String::new, |line| format!("line {line}: "));
        return Err(refused(format!("{place}{}", fault.message)));
    }
    let selection = done.outcome.selection;
    let selection = selection.ok_or_else(|| refused("it gives no list".to_owned()))?;
    let is_right = (selection.of() == Rows::Mappings) == (of == Of::Maps);
    let filter = selection.filter().filter(|_| is_right);
    filter.ok_or_else(|| refused("what it chooses is no filter".to_owned()))
}
