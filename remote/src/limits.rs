//! Numbers that both ends go by.

use std::time::Duration;

/// Bytes of a frame behind its head, at most. It bounds what an end keeps for the other.
pub const MOST_FRAME: usize = 80 << 10;
/// Bytes of a log in one frame.
pub const MOST_DATA: usize = 64 << 10;
/// Checksums in one answer.
pub const MOST_SUMS: usize = 1024;
/// Logs that a connection may have open.
pub const MOST_LOGS: usize = 512;
/// Bytes of a name or a host.
pub const MOST_NAME: usize = 255;

/// How long a handshake may take, all in all.
pub const HANDSHAKE: Duration = Duration::from_secs(10);
/// Whoever says nothing for so long is gone.
pub const SILENCE: Duration = Duration::from_secs(30);
/// Whoever has nothing to say says so after this.
pub const PING: Duration = Duration::from_secs(5);
