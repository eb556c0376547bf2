//! Scripts and what they draw; the filter on the screen as a script.

use std::sync::Arc;

use axum::extract::{Path, State};
use axum::http::{HeaderMap, Uri};
use axum::response::Response;
use memlog_answers::Of;
use memlog_query::parse;
use memlog_script::{End, Output, filter_to_script};
use serde_json::{Value, json};

use super::{JSON, found, query, question};
use crate::reply::{Refusal, picture, text};
use crate::scripts::{self, Done};
use crate::shelf::Shelf;

/// Runs a script about a log.
pub async fn run(
    State(shelf): State<Arc<Shelf>>,
    Path(id): Path<u32>,
    headers: HeaderMap,
    code: String,
) -> Result<Response, Refusal> {
    let done = scripts::run(&found(&shelf, id)?, code).await?;
    Ok(text(&headers, JSON, told(&shelf, id, done).to_string()))
}

fn told(shelf: &Shelf, id: u32, done: Done) -> Value {
    let output = done.output.into_iter().map(|one| match one {
        Output::Line(line) => json!({ "kind": "text", "text": line }),
        Output::Picture { path, svg } => json!({
            "kind": "image",
            "name": path,
            "url": format!("api/1/logs/{id}/pictures/{}", shelf.pictures.keep(svg)),
        }),
    });
    let mut told = json!({
        "status": "ok",
        "elapsed_seconds": done.outcome.elapsed.as_secs_f64(),
        "output": output.collect::<Vec<_>>(),
        "message": null,
        "line": null,
        "column": null,
    });
    if let End::Failed(fault) = done.outcome.end {
        told["status"] = "failed".into();
        told["message"] = fault.message.into();
        told["line"] = fault.line.into();
        told["column"] = fault.column.into();
    }
    told
}

/// A picture that a script drew.
pub async fn drawn(
    State(shelf): State<Arc<Shelf>>,
    Path((_, name)): Path<(u32, String)>,
    headers: HeaderMap,
) -> Result<Response, Refusal> {
    Ok(picture(&headers, shelf.pictures.get(&name)?))
}

/// What chooses the same blocks in a script.
pub async fn as_script(
    State(shelf): State<Arc<Shelf>>,
    Path(id): Path<u32>,
    uri: Uri,
    headers: HeaderMap,
) -> Result<Response, Refusal> {
    found(&shelf, id)?;
    let pairs = question::pairs(query(&uri));
    if let Some((other, _)) = pairs.iter().find(|(name, _)| name != "where") {
        let sentence = format!("filter-as-script has no parameter {other:?}");
        return Err(Refusal::asked(sentence, "it has where"));
    }
    let filter = pairs.first().map_or("", |(_, filter)| filter);
    let filter = parse(filter);
    let filter = filter.map_err(|error| {
        Refusal::asked(
            format!("{error}\n{}", error.caret()),
            "doc/FILTERS.md has the language",
        )
    })?;
    let code = filter_to_script(&filter, Of::Blocks, None);
    let told = json!({ "code": format!("{}{}", code.prologue, code.code) });
    Ok(text(&headers, JSON, told.to_string()))
}
