//! Which path is answered by what. Everything goes through the door first.

use std::sync::Arc;

use axum::Router;
use axum::extract::{DefaultBodyLimit, Request, State};
use axum::http::{HeaderMap, Uri};
use axum::middleware::{Next, from_fn_with_state};
use axum::response::Response;
use axum::routing::{get, post};

use crate::door::{Door, harden};
use crate::reply::Refusal;
use crate::shelf::Shelf;
use crate::{api, assets, bytehound, scripts};

/// All of them.
pub fn routes(shelf: Arc<Shelf>, door: Arc<Door>) -> Router {
    Router::new()
        .route("/api/1/logs", get(api::logs))
        .route("/api/1/logs/{id}", get(api::log))
        .route("/api/1/logs/{id}/{question}", get(api::ask))
        .route("/api/1/logs/{id}/diff", get(api::diff))
        .route("/api/1/logs/{id}/graph.svg", get(api::graph))
        .route("/api/1/logs/{id}/script", post(api::script::run))
        .route("/api/1/logs/{id}/pictures/{name}", get(api::script::drawn))
        .route(
            "/api/1/logs/{id}/filter-as-script",
            get(api::script::as_script),
        )
        .route("/api/1/openapi.json", get(api::openapi))
        .route("/api/1/events", get(api::events::events))
        .merge(bytehound::routes())
        .with_state(shelf)
        .fallback(page)
        .layer(DefaultBodyLimit::max(scripts::MOST_BYTES))
        .layer(from_fn_with_state(door, through))
}

async fn page(uri: Uri, headers: HeaderMap) -> Result<Response, Refusal> {
    assets::file(&headers, uri.path().trim_start_matches('/'))
}

async fn through(State(door): State<Arc<Door>>, request: Request, next: Next) -> Response {
    let mut response = match door.check(&request) {
        Ok(()) => next.run(request).await,
        Err(refusal) => *refusal,
    };
    harden(&mut response);
    response
}
