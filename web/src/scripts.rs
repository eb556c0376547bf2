//! Scripts from the page, or from whoever has the token: of one log, within limits, and
//! without a file of this machine.

use std::sync::{Arc, OnceLock};

use axum::http::StatusCode;
use memlog_script::{Asked, Collected, Job, Limits, Outcome, Output, run as run_script};
use tokio::runtime::Handle;
use tokio::sync::Semaphore;

use crate::reply::Refusal;
use crate::shelf::{Reader, Shelved};

/// Scripts that run at once. Others wait.
const MOST_AT_ONCE: usize = 2;
/// Bytes of a script.
pub const MOST_BYTES: usize = 256 << 10;

/// What a script did.
pub struct Done {
    pub outcome: Outcome,
    pub output: Vec<Output>,
}

/// Runs a script about a log. Where nobody waits for it any more it ends.
pub async fn run(log: &Arc<Shelved>, code: String) -> Result<Done, Refusal> {
    static ROOM: OnceLock<Arc<Semaphore>> = OnceLock::new();
    let room = ROOM.get_or_init(|| Arc::new(Semaphore::new(MOST_AT_ONCE)));
    let place = Arc::clone(room)
        .acquire_owned()
        .await
        .map_err(|_| failed())?;
    // All of it is about one reading of the log. What is wrong with that is no fault of
    // the script.
    let reader = log.reader();
    log.ask_at(&reader, |_| Ok(())).await?;
    let host = Collected::new(Arc::new(Served {
        log: Arc::clone(log),
        reader,
        runtime: Handle::current(),
    }));
    let own = Waiting(Arc::clone(&host));
    let running = Arc::clone(&host);
    let task = move || {
        let outcome = run_script(&code, running, &[], &Limits::STRANGERS);
        // Who does not wait any more leaves the place to the next when it is free.
        drop(place);
        outcome
    };
    let outcome = tokio::task::spawn_blocking(task).await;
    drop(own);
    Ok(Done {
        outcome: outcome.map_err(|_| failed())?,
        output: host.take(),
    })
}

fn failed() -> Refusal {
    Refusal {
        status: StatusCode::INTERNAL_SERVER_ERROR,
        ..Refusal::asked("the script could not be run", "ask again")
    }
}

/// The log that a script asks.
struct Served {
    log: Arc<Shelved>,
    reader: Arc<Reader>,
    runtime: Handle,
}

impl Asked for Served {
    fn ask(&self, job: Job) -> Result<(), String> {
        let asked = self.log.ask_at(&self.reader, move |desk| job(desk));
        self.runtime
            .block_on(asked)
            .map_err(|why| match why.hint.is_empty() {
                true => why.sentence,
                false => format!("{} ({})", why.sentence, why.hint),
            })
    }
}

/// Who waits for a script. It goes with the connection.
struct Waiting(Arc<Collected>);

impl Drop for Waiting {
    fn drop(&mut self) {
        self.0.stop();
    }
}
