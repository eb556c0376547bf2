//! Who may speak with whom: two pairs of keys. The receiver's file has the receiver's own
//! key and what the senders' is known by; the senders' file has it the other way round.
//! So whoever takes a sender's file can send logs, but cannot stand in for the receiver.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Read, Write};
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

use ring::rand::{SecureRandom, SystemRandom};
use ring::signature::{Ed25519KeyPair, KeyPair};

const RECEIVER: &str = "memlog-receiver-1";
const SENDER: &str = "memlog-sender-1";
/// Bytes of such a file, at most.
const LONGEST: u64 = 4096;

/// One end's own key, and what the other's is known by.
#[derive(Clone)]
pub struct Secret {
    /// The seed of this end's key.
    pub(crate) own: [u8; 32],
    /// The public half of the other's.
    pub(crate) other: [u8; 32],
}

/// Which end a file is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum End {
    Receiver,
    Sender,
}

impl End {
    const fn word(self) -> &'static str {
        match self {
            End::Receiver => RECEIVER,
            End::Sender => SENDER,
        }
    }
}

impl Secret {
    /// The receiver's, from its file.
    pub fn of_receiver(path: &Path) -> Result<Self, String> {
        Self::from_file(path, End::Receiver)
    }

    /// The senders', from theirs.
    pub fn of_sender(path: &Path) -> Result<Self, String> {
        Self::from_file(path, End::Sender)
    }

    fn from_file(path: &Path, end: End) -> Result<Self, String> {
        let text = read(path)?;
        Self::parse(&text, end)
    }

    fn parse(text: &str, end: End) -> Result<Self, String> {
        let lines = text.lines().map(str::trim);
        let mut lines = lines.filter(|line| !line.is_empty() && !line.starts_with('#'));
        let mut words = lines.next().unwrap_or_default().split_whitespace();
        let found = words.next().unwrap_or_default();
        let keys = (
            words.next().and_then(bytes_of),
            words.next().and_then(bytes_of),
        );
        match (found == end.word(), keys, lines.next()) {
            (true, (Some(own), Some(other)), None) => Ok(Self { own, other }),
            _ if found == RECEIVER => Err(
                "it is the receiver's; give the other file that --new-secret made, which ends \
                 in .send"
                    .into(),
            ),
            _ if found == SENDER => Err("it is for senders; give the file without .send".into()),
            _ => Err("it has no secret that memlog gather --new-secret made".into()),
        }
    }

    /// The words of a file.
    fn line(&self, end: End) -> String {
        format!("{} {} {}\n", end.word(), hex(&self.own), hex(&self.other))
    }
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

fn bytes_of(word: &str) -> Option<[u8; 32]> {
    let mut out = [0; 32];
    if word.len() != 64 || !word.is_ascii() {
        return None;
    }
    for (place, at) in out.iter_mut().zip((0..).step_by(2)) {
        *place = u8::from_str_radix(&word[at..at + 2], 16).ok()?;
    }
    Some(out)
}

/// A file that nobody else can read or change. Secrets of Kubernetes are root's, and may be
/// read by a group of the pod's own.
fn read(path: &Path) -> Result<String, String> {
    let told = |error: io::Error| error.to_string();
    let file = File::open(path).map_err(told)?;
    let found = file.metadata().map_err(told)?;
    let own = rustix::process::geteuid().as_raw();
    if found.is_file() {
        let forbidden = match found.uid() {
            0 => 0o037,
            owner if owner == own => 0o077,
            _ => return Err("it belongs to somebody else".into()),
        };
        if found.mode() & forbidden != 0 {
            return Err("others can read or change it: chmod 600".into());
        }
    }
    let mut text = String::new();
    file.take(LONGEST).read_to_string(&mut text).map_err(told)?;
    Ok(text)
}

/// Makes both files, which must not be there: the receiver's at the path, the senders' with
/// `.send` behind it, which is returned.
pub fn new_secret(path: &Path) -> io::Result<PathBuf> {
    let random = SystemRandom::new();
    let seed = || {
        let mut seed = [0; 32];
        let filled = random.fill(&mut seed);
        filled.map_err(|_| io::Error::other("the kernel gives no random bytes"))?;
        Ok::<_, io::Error>(seed)
    };
    let (receiver, sender) = (seed()?, seed()?);
    let mut name = path.as_os_str().to_owned();
    name.push(".send");
    let for_senders = PathBuf::from(name);
    let files = [
        (path, End::Receiver, receiver, sender),
        (&for_senders, End::Sender, sender, receiver),
    ];
    for (at, (path, end, own, other)) in files.into_iter().enumerate() {
        let other = public(&other)?;
        let written = write(path, end, &Secret { own, other });
        if let Err(error) = written {
            if at > 0 {
                let _ = fs::remove_file(files[0].0);
            }
            let error = format!("{}: {error}", path.display());
            return Err(io::Error::other(error));
        }
    }
    Ok(for_senders)
}

fn write(path: &Path, end: End, secret: &Secret) -> io::Result<()> {
    let mut options = OpenOptions::new();
    let mut file = options
        .write(true)
        .create_new(true)
        .mode(0o600)
        .open(path)?;
    let whose = match end {
        End::Receiver => "# For memlog gather --secret. It stays on the receiver's machine.\n",
        End::Sender => "# For memlog stream --secret. Whoever has it can send logs.\n",
    };
    file.write_all(whose.as_bytes())?;
    file.write_all(secret.line(end).as_bytes())
}

fn pair(seed: &[u8; 32]) -> io::Result<Ed25519KeyPair> {
    let made = Ed25519KeyPair::from_seed_unchecked(seed);
    made.map_err(|_| io::Error::other("the key cannot be used"))
}

/// The public half of a key.
pub(crate) fn public(seed: &[u8; 32]) -> io::Result<[u8; 32]> {
    let pair = pair(seed)?;
    let bytes = pair.public_key().as_ref().try_into();
    bytes.map_err(|_| io::Error::other("the key cannot be used"))
}

/// Bytes that nobody else has.
pub(crate) fn random<const N: usize>() -> io::Result<[u8; N]> {
    let mut bytes = [0; N];
    let filled = SystemRandom::new().fill(&mut bytes);
    filled.map_err(|_| io::Error::other("the kernel gives no random bytes"))?;
    Ok(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::PermissionsExt;

    #[test]
    fn each_end_has_its_own_file() {
        let path = std::env::temp_dir().join(format!("secret.{}", std::process::id()));
        let for_senders = new_secret(&path).unwrap();
        let receiver = Secret::of_receiver(&path).unwrap();
        let sender = Secret::of_sender(&for_senders).unwrap();
        assert_eq!(public(&receiver.own).unwrap(), sender.other);
        assert_eq!(public(&sender.own).unwrap(), receiver.other);
        assert_ne!(sender.own, receiver.own);
        let swapped = Secret::of_sender(&path).err().unwrap();
        assert!(swapped.contains(".send"), "{swapped}");
        assert!(Secret::of_receiver(&for_senders).is_err());
        // Both are there already.
        assert!(new_secret(&path).is_err());
        for path in [&path, &for_senders] {
            assert_eq!(fs::metadata(path).unwrap().mode() & 0o777, 0o600);
        }
        fs::set_permissions(&path, PermissionsExt::from_mode(0o644)).unwrap();
        let told = Secret::of_receiver(&path).err().unwrap();
        assert!(told.contains("chmod 600"), "{told}");
        fs::remove_file(path).unwrap();
        fs::remove_file(for_senders).unwrap();
    }

    #[test]
    fn what_is_no_secret_is_refused() {
        let key = "0".repeat(64);
        for text in [
            String::new(),
            "x".into(),
            format!("{SENDER} {key}"),
            format!("{SENDER} {key} {}é", "0".repeat(62)),
            format!("{SENDER} {key} {key}\n{SENDER} {key} {key}"),
        ] {
            assert!(Secret::parse(&text, End::Sender).is_err(), "{text}");
        }
        assert!(Secret::parse(&format!("# a\n\n{SENDER} {key} {key}\n"), End::Sender).is_ok());
    }
}
