//! What changes, as it changes: server-sent events, each with all there is to know. Who
//! comes again after a break has missed nothing, and who is slow gets the last only.

use std::convert::Infallible;
use std::sync::Arc;
use std::time::Duration;

use axum::extract::State;
use axum::response::sse::{Event, KeepAlive, Sse};
use tokio_stream::wrappers::WatchStream;
use tokio_stream::{Stream, StreamExt};

use crate::shelf::Shelf;

/// Between two lines that only keep the connection.
const ALIVE: Duration = Duration::from_secs(15);

/// The list of logs, now and after each change.
pub async fn events(
    State(shelf): State<Arc<Shelf>>,
) -> Sse<impl Stream<Item = Result<Event, Infallible>>> {
    let changes = WatchStream::new(shelf.changes());
    let events = changes.map(move |change| {
        let list = shelf.news().to_string();
        Ok(Event::default()
            .event("logs")
            .id(change.to_string())
            .data(list))
    });
    Sse::new(events).keep_alive(KeepAlive::new().interval(ALIVE))
}
