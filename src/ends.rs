//! How commands end that run until they are told to: the first Ctrl-C, or a signal that
//! asks a program to end, lets them finish; the second one does not.

use std::io;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
use signal_hook::flag::{register, register_conditional_default};

/// Whether such a signal came.
pub struct Ends(Arc<AtomicBool>);

impl Ends {
    /// From now on.
    pub fn catch() -> io::Result<Self> {
        let came = Arc::new(AtomicBool::new(false));
        for signal in [SIGINT, SIGTERM, SIGHUP] {
            // In this order: the signal that is the first is not the second.
            register_conditional_default(signal, Arc::clone(&came))?;
            register(signal, Arc::clone(&came))?;
        }
        Ok(Self(came))
    }

    /// Set when it came.
    pub fn flag(&self) -> &AtomicBool {
        &self.0
    }

    /// The same for a thread.
    pub fn shared(&self) -> Arc<AtomicBool> {
        Arc::clone(&self.0)
    }
}
