//! `/allocations` and `/raw_allocations`: single blocks, however many they are.
//!
//! ```text
//! batch:  a pass over the table for the next blocks in their order     one job at the desk
//! piece:  some of them in words                                        one job at the desk
//! piece -> sink, which waits for the client; nobody waits for it at the desk
//! ```

use std::sync::Arc;

use axum::extract::RawQuery;
use axum::response::Response;
use memlog_answers::{Behind, Chains, Found, ListPart, Order, Way, chain_facts_of, list_part};
use memlog_pages::blocks::Matter;

use super::JSON;
use super::asked::{Asked, Of};
use super::log::Log;
use super::words::{Form, Words};
use crate::pieces::{FULL, Sink, streamed};
use crate::reply::Refusal;

/// Blocks that a pass finds.
const BATCH: usize = 1 << 15;
/// Blocks that are put into words at a time, at most.
const PIECE: usize = 2048;

const ORDERS: [(&str, Order); 3] = [
    ("timestamp", Order::Born),
    ("address", Order::Address),
    ("size", Order::Small),
];

/// Which blocks, and where the list has come.
struct Listing {
    log: Log,
    asked: Asked,
    way: Way,
    /// Those found, and how many of them are behind.
    found: Arc<Vec<Found>>,
    done: usize,
    /// Their chains.
    chains: Arc<Chains>,
    behind: Option<Behind>,
    /// Blocks that are left out yet, and those that come then.
    skip: u64,
    left: u64,
    /// How many there are.
    total: u64,
    form: Form,
}

impl Listing {
    async fn new(log: Log, asked: Asked, form: Form) -> Result<Self, Refusal> {
        let (order, is_reversed) = (asked.choice("sort_by", &ORDERS)?, asked.is_reversed()?);
        let (skip, left) = asked.window()?;
        let mut listing = Self {
            log,
            asked,
            way: Way { order, is_reversed },
            found: Arc::default(),
            done: 0,
            chains: Arc::default(),
            behind: None,
            skip,
            left,
            total: 0,
            form,
        };
        let first = listing.batch().await?;
        listing.total = first.0.sums.blocks;
        listing.left = left.min(listing.total.saturating_sub(skip));
        listing.take(first);
        Ok(listing)
    }

    /// The next blocks, with their chains.
    async fn batch(&self) -> Result<(ListPart, Chains), Refusal> {
        let (way, behind, skip) = (self.way, self.behind, self.skip as usize);
        let has_chains = self.form != Form::Addresses;
        let wanted = self.skip.saturating_add(self.left).min(BATCH as u64);
        let matter = match self.form {
            Form::Whole { .. } => Matter::Blocks,
            Form::Addresses => Matter::Groups,
        };
        let filter = self.asked.filter.clone();
        let made = self.log.told(matter, filter, move |told, _| {
            let most = wanted as usize;
            let part = list_part(told.world, told.choice, way, behind, most)?;
            let found = part.found.iter().skip(skip);
            let in_chains = found.filter(|one| has_chains && one.is_in_chain());
            let firsts = in_chains.map(|one| one.chain).collect();
            Ok((part, chain_facts_of(told.world, &firsts)?))
        });
        made.await
    }

    fn take(&mut self, (part, chains): (ListPart, Chains)) {
        let skipped = self.skip.min(part.found.len() as u64);
        self.skip -= skipped;
        self.done = skipped as usize;
        self.behind = part.end;
        self.found = Arc::new(part.found);
        self.chains = Arc::new(chains);
    }

    /// The next piece, with a comma behind each block but the last; empty at the end.
    async fn piece(&mut self) -> Result<String, Refusal> {
        while self.left > 0 && self.done == self.found.len() {
            let next = self.batch().await?;
            self.take(next);
            if self.found.is_empty() {
                let why = "the table of the log's blocks changed while it was read";
                return Err(Refusal::asked(why, "ask again"));
            }
        }
        let most = (self.left.min(PIECE as u64) as usize).min(self.found.len() - self.done);
        if most == 0 {
            return Ok(String::new());
        }
        let (found, from) = (Arc::clone(&self.found), self.done);
        let (left, form, chains) = (self.left, self.form, Arc::clone(&self.chains));
        let made = self.log.told(Matter::Sums, None, move |told, desk| {
            let mut words = Words::new(told, desk, (form, &chains))?;
            let (mut text, mut count) = (String::new(), 0);
            for one in &found[from..from + most] {
                words.add(&mut text, one);
                count += 1;
                if count < left {
                    text.push(',');
                }
                if text.len() >= FULL {
                    break;
                }
            }
            Ok((text, count))
        });
        let (text, count) = made.await?;
        self.done += count as usize;
        self.left -= count;
        Ok(text)
    }

    /// All pieces that are left, and what stands behind them.
    async fn rest(mut self, sink: Sink, end: String) -> Result<(), Refusal> {
        loop {
            let piece = self.piece().await?;
            if piece.is_empty() {
                let _ = sink.put(end).await;
                return Ok(());
            }
            if sink.put(piece).await.is_err() {
                return Ok(());
            }
        }
    }
}

/// All that is known of each.
pub async fn allocations(log: Log, RawQuery(query): RawQuery) -> Result<Response, Refusal> {
    let asked = log.asked(query.as_deref(), Of::Blocks).await?;
    let strips = asked.flag("strip_template_args")?;
    let form = Form::Whole { strips };
    let mut listing = Listing::new(log, asked, form).await?;
    let total = listing.total;
    let first = format!("{{\"allocations\":[{}", listing.piece().await?);
    let end = format!("],\"total_count\":{total}}}");
    Ok(streamed(JSON, first, |sink| listing.rest(sink, end)))
}

/// The addresses on the stack of each, the outermost first.
pub async fn raw(log: Log, RawQuery(query): RawQuery) -> Result<Response, Refusal> {
    let asked = log.asked(query.as_deref(), Of::Blocks).await?;
    let mut listing = Listing::new(log, asked, Form::Addresses).await?;
    let first = format!("[{}", listing.piece().await?);
    Ok(streamed(JSON, first, |sink| {
        listing.rest(sink, "]".to_owned())
    }))
}
