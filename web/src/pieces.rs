//! Answers that are too long for one piece. Each piece is made when the one before is on
//! its way: who reads slowly holds two or three of them in memory, and nothing else. Where
//! the client goes away what is being made for it is dropped.

use std::io;
use std::time::Duration;

use axum::body::{Body, Bytes};
use axum::response::{IntoResponse, Response};
use tokio::sync::mpsc::{Receiver, Sender, channel};
use tokio_stream::wrappers::ReceiverStream;

use crate::reply::{Refusal, typed};

/// Bytes of text from which on a piece is sent.
pub const FULL: usize = 1 << 20;
/// How long a client may read nothing.
const PATIENCE: Duration = Duration::from_secs(300);

type Piece = io::Result<Bytes>;

/// Where pieces go.
#[derive(Clone)]
pub struct Sink(Sender<Piece>);

impl Sink {
    /// Sends one, as soon as the client has room for it.
    pub async fn put(&self, piece: impl Into<Bytes>) -> io::Result<()> {
        self.send(Ok(piece.into())).await
    }

    async fn send(&self, piece: Piece) -> io::Result<()> {
        let gone = || io::Error::from(io::ErrorKind::BrokenPipe);
        let sent = tokio::time::timeout(PATIENCE, self.0.send(piece)).await;
        sent.map_err(|_| gone())?.map_err(|_| gone())
    }

    /// Whether nobody reads any more.
    pub fn is_closed(&self) -> bool {
        self.0.is_closed()
    }

    /// What is wrong ends the answer in its middle: so no client takes it for whole.
    pub async fn cut(&self, why: Refusal) {
        let _ = self.send(Err(io::Error::other(why.sentence))).await;
    }
}

/// A place for pieces, and where they come out.
pub fn pieces() -> (Sink, Receiver<Piece>) {
    let (sender, receiver) = channel(1);
    (Sink(sender), receiver)
}

/// The answer that comes out.
pub fn answer(content: &'static str, pieces: Receiver<Piece>) -> Response {
    let body = Body::from_stream(ReceiverStream::new(pieces));
    (typed(content), body).into_response()
}

/// An answer whose first piece is there. `rest` makes the others, and ends with the last
/// of them or with why there are no more.
pub fn streamed<F>(
    content: &'static str,
    first: String,
    rest: impl FnOnce(Sink) -> F + Send + 'static,
) -> Response
where
    F: Future<Output = Result<(), Refusal>> + Send + 'static,
{
    let (sink, receiver) = pieces();
    tokio::spawn(async move {
        if sink.put(first).await.is_err() {
            return;
        }
        let made = tokio::select! {
            biased;
            () = sink.0.closed() => return,
            made = rest(sink.clone()) => made,
        };
        if let Err(why) = made {
            sink.cut(why).await;
        }
    });
    answer(content, receiver)
}
