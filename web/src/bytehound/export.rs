//! `/export/...`: chosen blocks in the forms of other programs.
//!
//! Flame graphs are made at the desk. The files of heaptrack and of `memlog replay` have each
//! event: a thread of its own reads the log once more, and waits for the client where
//! nobody waits for it.

use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::sync::Arc;

use axum::extract::{RawQuery, State};
use axum::http::HeaderMap;
use axum::response::Response;
use memlog_answers::{Picked, picked};
use memlog_pages::blocks::Matter;
use memlog_pages::blocks::exported::{flame_svg, folded as folded_lines};
use memlog_pages::events::{heaptrack_told, operations_told};
use memlog_pages::{Watch, unnamed};
use tokio::runtime::Handle;

use super::TEXT;
use super::asked::Of;
use super::log::Log;
use crate::pieces::{Sink, answer, pieces};
use crate::reply::{Refusal, picture, text};
use crate::shelf::{Shelf, Shelved};

const BYTES: &str = "application/octet-stream";
/// Bytes that are copied at a time.
const COPIED: usize = 1 << 18;

/// A picture.
pub async fn flamegraph(
    log: Log,
    RawQuery(query): RawQuery,
    headers: HeaderMap,
) -> Result<Response, Refusal> {
    let asked = log.asked(query.as_deref(), Of::Blocks).await?;
    let made = log.told(Matter::Sums, asked.filter, |told, _| Ok(flame_svg(told)?));
    Ok(picture(&headers, made.await?))
}

/// The same as lines, for flamegraph.pl.
pub async fn folded(
    log: Log,
    RawQuery(query): RawQuery,
    headers: HeaderMap,
) -> Result<Response, Refusal> {
    let asked = log.asked(query.as_deref(), Of::Blocks).await?;
    let made = log.told(Matter::Sums, asked.filter, |told, _| {
        Ok(folded_lines(told)?)
    });
    Ok(text(&headers, TEXT, made.await?))
}

/// A file of heaptrack's.
pub async fn heaptrack(
    State(shelf): State<Arc<Shelf>>,
    log: Log,
    RawQuery(query): RawQuery,
) -> Result<Response, Refusal> {
    exported(shelf, log, query, |log, picked, out| {
        let of = (log.path(), log.symbol_files());
        heaptrack_told(of, picked, &Watch::silent(), out).map(drop)
    })
    .await
}

/// A file of `memlog replay`'s. Its head is known at the end, so it goes by way of a file.
pub async fn replay(
    State(shelf): State<Arc<Shelf>>,
    log: Log,
    RawQuery(query): RawQuery,
) -> Result<Response, Refusal> {
    exported(shelf, log, query, |log, picked, out| {
        let mut spool = Spool {
            file: unnamed(&std::env::temp_dir())?,
            out,
        };
        operations_told(log.path(), picked, &Watch::silent(), &mut spool)?;
        let Spool { mut file, out } = spool;
        file.seek(SeekFrom::Start(0))?;
        let mut some = vec![0; COPIED];
        loop {
            match file.read(&mut some)? {
                0 => return Ok(()),
                count => out.write_all(&some[..count])?,
            }
        }
    })
    .await
}

type Make = fn(&Shelved, Option<&Picked>, &mut Out) -> anyhow::Result<()>;

async fn exported(
    shelf: Arc<Shelf>,
    log: Log,
    query: Option<String>,
    make: Make,
) -> Result<Response, Refusal> {
    let asked = log.asked(query.as_deref(), Of::Blocks).await?;
    let picked = match asked.filter {
        None => None,
        filter => {
            let made = log.told(Matter::Sums, filter, |told, _| {
                Ok(picked(told.world, told.choice)?)
            });
            Some(made.await?)
        }
    };
    let place = shelf.export_place().await;
    let (sink, receiver) = pieces();
    let (began, begins) = tokio::sync::oneshot::channel();
    let mut out = Out {
        sink,
        handle: Handle::current(),
        began: Some(began),
    };
    let work = move || {
        let made = make(&log.shelved, picked.as_ref(), &mut out);
        out.end(made);
        drop(place);
    };
    let started = std::thread::Builder::new().spawn(work);
    started.map_err(|error| anyhow::anyhow!("cannot start a thread: {error}"))?;
    // What goes wrong before the first byte is told as any other refusal.
    match begins.await {
        Ok(Err(why)) => Err(why),
        _ => Ok(answer(BYTES, receiver)),
    }
}

/// Where a thread writes what a client reads.
struct Out {
    sink: Sink,
    handle: Handle,
    /// Who waits for the first byte.
    began: Option<tokio::sync::oneshot::Sender<Result<(), Refusal>>>,
}

impl Out {
    fn end(&mut self, made: anyhow::Result<()>) {
        match (made, self.began.take()) {
            (Ok(()), None) => {}
            (Ok(()), Some(began)) => drop(began.send(Ok(()))),
            (Err(error), Some(began)) => drop(began.send(Err(error.into()))),
            (Err(error), None) => self.handle.block_on(self.sink.cut(error.into())),
        }
    }

    fn is_closed(&self) -> bool {
        self.sink.is_closed() || self.began.as_ref().is_some_and(|began| began.is_closed())
    }
}

impl Write for Out {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if let Some(began) = self.began.take() {
            let _ = began.send(Ok(()));
        }
        self.handle.block_on(self.sink.put(bytes.to_vec()))?;
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// A file that is written for a client, and no longer than that one waits.
struct Spool<'o> {
    file: File,
    out: &'o mut Out,
}

impl Write for Spool<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match self.out.is_closed() {
            true => Err(io::ErrorKind::BrokenPipe.into()),
            false => self.file.write(bytes),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        self.file.flush()
    }
}

impl Seek for Spool<'_> {
    fn seek(&mut self, to: SeekFrom) -> io::Result<u64> {
        self.file.seek(to)
    }
}
