//! The log that a route is about.

use std::sync::Arc;

use axum::extract::{FromRequestParts, RawPathParams};
use axum::http::request::Parts;
use memlog_pages::blocks::{Desk, Failure, Matter, Told};
use memlog_query::Expr;

use super::asked::{Asked, Of};
use super::scripts::chosen_by;
use crate::reply::Refusal;
use crate::shelf::{Reader, Shelf, Shelved};

/// A log as it is now, however many questions its answer takes.
#[derive(Clone)]
pub struct Log {
    pub shelved: Arc<Shelved>,
    reader: Arc<Reader>,
}

impl Log {
    /// The one of a number, or `last`.
    fn find(shelf: &Shelf, id: &str) -> Result<Self, Refusal> {
        let shelved = match id {
            "last" => shelf.all().pop(),
            id => id.parse().ok().and_then(|id| shelf.get(id)),
        };
        let shelved = shelved.ok_or_else(|| {
            Refusal::missing(
                format!("there is no log {id:?}"),
                "list has the numbers of all logs",
            )
        })?;
        let reader = shelved.reader();
        Ok(Self { shelved, reader })
    }

    /// Something is made at its desk.
    pub async fn ask<R: Send + 'static>(
        &self,
        make: impl Fn(&Desk) -> Result<R, Failure> + Send + Sync + 'static,
    ) -> Result<R, Refusal> {
        self.shelved.ask_at(&self.reader, make).await
    }

    /// What a request asks of it.
    pub async fn asked(&self, query: Option<&str>, of: Of) -> Result<Asked, Refusal> {
        let mut asked = Asked::of(query, of)?;
        if let Some(code) = asked.custom.take() {
            asked.and(chosen_by(self, &code, of).await?);
        }
        Ok(asked)
    }

    /// The same of the blocks, or mappings, that a filter lets through.
    pub async fn told<R: Send + 'static>(
        &self,
        matter: Matter,
        filter: Option<Expr>,
        make: impl Fn(&Told, &Desk) -> Result<R, Failure> + Send + Sync + 'static,
    ) -> Result<R, Refusal> {
        self.ask(move |desk| desk.told(matter, filter.as_ref(), |told| make(told, desk)))
            .await
    }
}

impl FromRequestParts<Arc<Shelf>> for Log {
    type Rejection = Refusal;

    async fn from_request_parts(parts: &mut Parts, shelf: &Arc<Shelf>) -> Result<Self, Refusal> {
        let params = RawPathParams::from_request_parts(parts, shelf).await;
        let params = params.map_err(|error| Refusal::asked(error.to_string(), ""))?;
        let id = params.iter().find(|(name, _)| *name == "id");
        Self::find(shelf, id.map_or("", |(_, id)| id))
    }
}
