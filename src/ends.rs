//! How commands end that run until they are told to: the first Ctrl-C, or a signal that
//! asks a program to end, lets them finish; the second one does not.

use std::io;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
use signal_hook::flag::{register, register_conditional_default};

use crate::os;

/// As many descriptors as this user may have: each log takes one, and each connection some.
pub fn raise_descriptors() {
    let limit = getrlimit(Resource::Nofile);
    let raised = Rlimit {
        current: limit.maximum,
        ..limit
    };
    // With fewer, some logs wait.
    let _ = setrlimit(Resource::Nofile, raised);
}

/// Whether such a signal came.
pub struct Ends(Arc<AtomicBool>);

impl Ends {
    /// From now on.
    pub fn catch() -> io::Result<Self> {
        let came = Arc::new(AtomicBool::new(false));
        let asked = [SIGINT, SIGTERM, SIGHUP].into_iter();
        // nohup has one ignored, and a script's shell that of what it leaves in the background.
        for signal in asked.filter(|&signal| !os::is_ignored(signal)) {
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
