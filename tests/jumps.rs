//! Handlers that jump out of the recorder: what they interrupt is lost, and
//! nothing else.

mod sites;

use sites::Folder;
use sites::build::GCC;

const JUMPS: u64 = 30;

#[test]
fn handlers_that_jump_out_lose_their_event_only() {
    let folder = Folder::new("jumps");
    let program = GCC.build::<&str>(&folder, "jumps_out.c", "jumps_out", &[]);
    for run in 0..2 {
        let log = folder.path(&format!("{run}.memlog"));
        let words = [
            "record".as_ref(),
            "-o".as_ref(),
            log.as_os_str(),
            program.as_os_str(),
        ];
        let pairs: u64 = folder.says(&words).trim().parse().expect("a number");
        let stats = folder.stats(&log);
        let (lost, found) = (stats.number("lost_events"), stats.number("allocations"));
        // Of a round that was jumped out of a half may be in the log.
        assert!(lost <= 4 * JUMPS, "{lost} lost of {pairs} pairs");
        assert!(
            found + lost >= pairs && found <= pairs + 2 * JUMPS,
            "{found} allocations of {pairs}"
        );
    }
}
