//! What the page, and everybody with `curl`, may ask: version 1.
//!
//! * `question`: the commands that ask a log, with their options
//! * `script`: scripts, and filters as scripts
//! * `events`: what changes, as it changes
//! * `describe`: all of it as OpenAPI

mod describe;
pub mod events;
pub mod question;
pub mod script;

use std::sync::Arc;

use axum::extract::{Path, State};
use axum::http::{HeaderMap, Uri};
use axum::response::Response;

use memlog_pages::{blocks, value_of};

use crate::reply::{Refusal, picture, text};
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
    let overview = log.text(String::new(), |desk| Ok(desk.overview().to_string()));
    Ok(text(&headers, JSON, overview.await?))
}

/// All of this, as OpenAPI.
pub async fn openapi(headers: HeaderMap) -> Response {
    text(&headers, JSON, describe::describe().to_string())
}

/// What a command tells of a log.
pub async fn ask(
    State(shelf): State<Arc<Shelf>>,
    Path((id, name)): Path<(u32, String)>,
    uri: Uri,
    headers: HeaderMap,
) -> Result<Response, Refusal> {
    let log = found(&shelf, id)?;
    let ask = question::parse(&name, query(&uri))?;
    let asked = format!("{name}?{}", query(&uri));
    let answer = log.text(asked, move |desk| {
        Ok(value_of(&desk.page(&*ask)?).to_string())
    });
    Ok(text(&headers, JSON, answer.await?))
}

/// What changed between two moments, of this log or of `other` and this one.
pub async fn diff(
    State(shelf): State<Arc<Shelf>>,
    Path(id): Path<u32>,
    uri: Uri,
    headers: HeaderMap,
) -> Result<Response, Refusal> {
    let after = found(&shelf, id)?;
    let (mut other, mut moments, mut rest) = (None, [None, None], Vec::new());
    for (name, value) in question::pairs(query(&uri)) {
        match &*name {
            "other" => other = Some(value),
            "before" => moments[0] = Some(value),
            "after" => moments[1] = Some(value),
            _ => rest.push((name, value)),
        }
    }
    let before = match other {
        None => Arc::clone(&after),
        Some(other) => found(&shelf, other.parse().unwrap_or(0))?,
    };
    let moments = moments.map(|at| at.unwrap_or_else(|| "rss-peak".to_owned()));
    rest.extend(moments.map(|at| ("at".to_owned(), at)));
    let logs = [&before, &after].map(|log| log.path().as_os_str().to_owned());
    let logs = if before.id == after.id {
        &logs[..1]
    } else {
        &logs[..]
    };
    let args = Arc::new(question::diff(&rest, logs)?);
    // Both moments of one log are of one reading.
    let readers = [&before, &after].map(|log| (Arc::clone(log), log.reader()));
    let side = |side: usize| {
        let ((log, reader), args) = (readers[side].clone(), Arc::clone(&args));
        async move {
            log.ask_at(&reader, move |desk| {
                blocks::diff::taken_at(desk, &args, side)
            })
            .await
        }
    };
    let sides = [side(0).await?, side(1).await?];
    let page = blocks::diff::page_of(&args, &sides);
    Ok(text(&headers, JSON, value_of(&page).to_string()))
}

/// The call graph of a moment.
pub async fn graph(
    State(shelf): State<Arc<Shelf>>,
    Path(id): Path<u32>,
    uri: Uri,
    headers: HeaderMap,
) -> Result<Response, Refusal> {
    let log = found(&shelf, id)?;
    let args = question::graph(query(&uri))?;
    let asked = format!("graph.svg?{}", query(&uri));
    let drawn = log.text(asked, move |desk| blocks::graph::svg(desk, &args));
    Ok(picture(&headers, drawn.await?))
}

fn query(uri: &Uri) -> &str {
    uri.query().unwrap_or_default()
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
