//! A proxy that cuts, delays and garbles.

use std::io::{Read, Write};
use std::net::{Shutdown, TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use crate::ends::{Gather, Process, grows, memlog, record, same};
use crate::killed::Random;
use crate::sites::Folder;

/// What it does with what goes through.
#[derive(Clone, Copy)]
enum Does {
    /// Ends the connection after so many bytes, at most.
    Cut(u64),
    /// Holds each piece back for so long.
    Delay(Duration),
    /// Changes a byte after so many, at most.
    Garble(u64),
}

/// Its port, and how many connections there were. It lives as long as the test program.
fn proxy(to: u16, does: Does) -> (u16, Arc<AtomicU64>) {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    let port = listener.local_addr().expect("a port").port();
    let count = Arc::new(AtomicU64::new(0));
    let counted = Arc::clone(&count);
    std::thread::spawn(move || {
        let mut random = Random::new();
        for one in listener.incoming().map_while(Result::ok) {
            let Ok(other) = TcpStream::connect(("127.0.0.1", to)) else {
                continue;
            };
            // After some it lets all through, so that there is an end.
            let number = counted.fetch_add(1, Ordering::Relaxed);
            let after = match does {
                Does::Cut(most) | Does::Garble(most) => random.below(most),
                Does::Delay(_) => 0,
            };
            let does = (number < 6).then_some(does);
            for (mut from, mut into) in [
                (
                    one.try_clone().expect("a socket"),
                    other.try_clone().expect("a socket"),
                ),
                (
                    other.try_clone().expect("a socket"),
                    one.try_clone().expect("a socket"),
                ),
            ] {
                std::thread::spawn(move || pass(&mut from, &mut into, does, after));
            }
        }
    });
    (port, count)
}

fn pass(from: &mut TcpStream, into: &mut TcpStream, does: Option<Does>, after: u64) {
    let mut bytes = [0; 20_000];
    let mut passed = 0;
    while let Ok(count @ 1..) = from.read(&mut bytes) {
        let end = passed + count as u64;
        let is_now = (passed..end).contains(&after);
        match does {
            Some(Does::Cut(_)) if is_now => {
                // A part of it arrives.
                let _ = into.write_all(&bytes[..(after - passed) as usize]);
                break;
            }
            Some(Does::Garble(_)) if is_now => bytes[(after - passed) as usize] ^= 0x40,
            Some(Does::Delay(time)) => std::thread::sleep(time),
            _ => {}
        }
        if into.write_all(&bytes[..count]).is_err() {
            break;
        }
        passed = end;
    }
    let _ = from.shutdown(Shutdown::Both);
    let _ = into.shutdown(Shutdown::Both);
}

fn through(name: &str, does: Does, has_secret: bool, least: u64) {
    // What is held back is not much.
    let ms = match does {
        Does::Delay(_) => "500",
        _ => "1500",
    };
    let folder = Folder::new(name);
    let program = grows(&folder);
    let log = folder.path("a.memlog");
    folder.says(&["gather", "--new-secret", "key"]);
    let words = ["--secret", "key"];
    let gather = Gather::start(&folder, if has_secret { &words } else { &[] });
    let (port, count) = proxy(gather.port, does);
    let mut recorded = record(&folder, &log, &program, &["4", ms, "500"]);
    let mut command = memlog(&folder, &["stream"]);
    if has_secret {
        command.args(["--secret", "key.send"]);
    }
    command.arg(&log).arg(format!("127.0.0.1:{port}"));
    let mut stream = Process::start(command);
    assert_eq!(recorded.ends(), Some(0), "{}", recorded.said());
    let code = stream.ends();
    assert_eq!(code, Some(0), "{} {}", stream.said(), gather.process.said());
    same(&log, &folder.path("gathered/a.memlog"));
    assert_eq!(folder.logs("gathered").len(), 1);
    let count = count.load(Ordering::Relaxed);
    assert!(count >= least, "{count} connections");
}

#[test]
fn connections_that_are_cut_are_made_again() {
    std::thread::scope(|scope| {
        scope.spawn(|| through("remote-cut", Does::Cut(200_000), false, 3));
        scope.spawn(|| through("remote-cut-keys", Does::Cut(200_000), true, 3));
    });
}

#[test]
fn a_slow_network_is_slow() {
    through(
        "remote-delay",
        Does::Delay(Duration::from_millis(5)),
        true,
        1,
    );
}

/// With keys nothing that was changed on the way gets into a log.
#[test]
fn what_was_changed_on_the_way_is_not_taken() {
    through("remote-garble", Does::Garble(300_000), true, 2);
}
