//! What the page, and everybody with `curl`, may ask: version 1.
//!
//! * `question`: the commands that ask a log, with their options
//! * `events`: what changes, as it changes
//! * `describe`: all of it as OpenAPI

pub mod events;
pub mod question;

use std::sync::Arc;

use axum::extract::{Path, State};
use axum::http::{HeaderMap, Uri};
use axum::response::Response;

use crate::reply::{Refusal, text};
use crate::shelf::{Shelf, Shelved};

/// All logs.
pub async fn logs(State(shelf): State<Arc<Shelf>>, headers: HeaderMap) -> Response {
    text(&headers, JSON, shelf.json().to_string())
}

/// What stands above each answer of a log.
pub async fn log(
    State(shelf): State<Arc<Shelf>>,
    Path(id): Path<u32>,
    headers: HeaderMap,
) -> Result<Response, Refusal> {
    let log = found(&shelf, id)?;
    let overview = log.ask(|desk| Ok(desk.overview().to_string())).await?;
    Ok(text(&headers, JSON, overview))
}

/// What a command tells of a log.
pub async fn ask(
    State(shelf): State<Arc<Shelf>>,
    Path((id, name)): Path<(u32, String)>,
    uri: Uri,
    headers: HeaderMap,
) -> Result<Response, Refusal> {
    let log = found(&shelf, id)?;
    let ask = question::parse(&name, uri.query().unwrap_or_default())?;
    let answer = log.ask(move |desk| {
        let page = desk.page(&*ask)?;
        Ok(memlog_pages::json_of(&page))
    });
    Ok(text(&headers, JSON, answer.await?))
}

const JSON: &str = "application/json";

/// The log of a number.
fn found(shelf: &Shelf, id: u32) -> Result<Arc<Shelved>, Refusal> {
    shelf.get(id).ok_or_else(|| {
        Refusal::missing(
            format!("there is no log {id}"),
            "api/1/logs has the numbers of all logs",
        )
    })
}
