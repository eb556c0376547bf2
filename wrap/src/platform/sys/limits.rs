//! What a process's memory can come up against, and how near it is: the
//! limits of its control groups, its own, and the machine's memory.
//!
//! The groups are looked for at the start and now and then, in the two tables
//! that the kernel keeps of them; between that only their figures are read.

use super::field::Field;
use super::files::read_start;
use super::{Os, Sys};
use crate::platform::text::{Text, decimal, each_piece};
use memlog_format::limit::{Limit, LimitAct, LimitKind};

/// Groups with a limit that are looked at, the innermost first.
const MOST_GROUPS: usize = 8;
/// Longest path of a group's folder, with the name of a file in it.
const LONGEST: usize = 1024;
/// A limit beyond this is none: the first version of groups has no word for it.
const NO_LIMIT: u64 = 1 << 60;

/// The two kinds of control groups, which call the same thing differently.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Version {
    One,
    Two,
}

impl Version {
    const fn limit(self) -> &'static [u8] {
        match self {
            Version::One => b"/memory.limit_in_bytes\0",
            Version::Two => b"/memory.max\0",
        }
    }

    const fn used(self) -> &'static [u8] {
        match self {
            Version::One => b"/memory.usage_in_bytes\0",
            Version::Two => b"/memory.current\0",
        }
    }

    /// The pages of files in it, which the kernel takes back before it kills.
    const fn cached(self) -> [&'static [u8]; 2] {
        match self {
            Version::One => [b"\ntotal_inactive_file ", b"\ntotal_active_file "],
            Version::Two => [b"\ninactive_file ", b"\nactive_file "],
        }
    }
}

/// A group with a limit.
struct Group {
    folder: Text<LONGEST>,
    limit_bytes: u64,
}

/// What is known of the limits.
pub struct Limits {
    groups: [Group; MOST_GROUPS],
    count: usize,
    version: Version,
    /// How much of each folder is the place where groups are mounted.
    mounted: usize,
    /// Of the process, below that place.
    own: Text<LONGEST>,
    path: Text<LONGEST>,
    buffer: [u8; 4096],
}

impl Limits {
    /// Nothing known.
    pub const fn new() -> Self {
        Self {
            groups: [const {
                Group {
                    folder: Text::new(),
                    limit_bytes: 0,
                }
            }; MOST_GROUPS],
            count: 0,
            version: Version::Two,
            mounted: 0,
            own: Text::new(),
            path: Text::new(),
            buffer: [0; 4096],
        }
    }

    /// Looks for the groups of this process that have a limit.
    pub fn find(&mut self) {
        // What was found before stays where nothing can be found any more.
        if !self.find_own() || !self.find_mount() {
            return;
        }
        self.count = 0;
        let mut length = self.path.get().len();
        while length >= self.mounted && self.count < MOST_GROUPS {
            self.path.shorten(self.path.get().len() - length);
            self.note_group();
            let folder = self.path.get();
            length = match folder.iter().rposition(|&byte| byte == b'/') {
                Some(slash) => slash,
                None => break,
            };
        }
    }

    /// Which group this process is in: of the first version's hierarchy of
    /// memory, where there is one, for then the second has none.
    fn find_own(&mut self) -> bool {
        let (own, version) = (&mut self.own, &mut self.version);
        let mut found = None;
        own.clear();
        each_piece(b"/proc/self/cgroup\0", b'\n', &mut self.buffer, |line| {
            let mut fields = line.splitn(3, |&byte| byte == b':');
            let (Some(_), Some(names), Some(path)) = (fields.next(), fields.next(), fields.next())
            else {
                return;
            };
            let which = match names {
                b"" => Version::Two,
                names if has_word(names, b"memory") => Version::One,
                _ => return,
            };
            if found != Some(Version::One) {
                (found, *version) = (Some(which), which);
                own.set(path);
            }
        });
        found.is_some()
    }

    /// Where that group's folder is: puts it into `path`.
    fn find_mount(&mut self) -> bool {
        let (own, path, version) = (&self.own, &mut self.path, self.version);
        let mounted = &mut self.mounted;
        let mut is_found = false;
        each_piece(b"/proc/self/mountinfo\0", b'\n', &mut self.buffer, |line| {
            let Some(mount) = Mount::of(line, version).filter(|_| !is_found) else {
                return;
            };
            // A mount of another group's folder says nothing of this one.
            let root = mount.root.strip_suffix(b"/").unwrap_or(mount.root);
            let below = own.get().strip_prefix(root);
            let below = below.filter(|rest| rest.is_empty() || rest.starts_with(b"/"));
            let Some(below) = below else {
                return;
            };
            is_found = true;
            path.set(mount.point.strip_suffix(b"/").unwrap_or(mount.point));
            *mounted = path.get().len();
            path.push(below.strip_suffix(b"/").unwrap_or(below));
        });
        is_found
    }

    /// The group in `path`, if it has a limit.
    fn note_group(&mut self) {
        let limit = number_in(&mut self.path, self.version.limit());
        let limit = limit.filter(|bytes| *bytes < NO_LIMIT);
        if let (Some(limit_bytes), Some(group)) = (limit, self.groups.get_mut(self.count)) {
            group.folder.set(self.path.get());
            group.limit_bytes = limit_bytes;
            self.count += 1;
        }
    }

    /// Says of each limit how near it is; a group is named by its folder below
    /// the place where groups are mounted. Where less than `percent` of a
    /// group's limit seems left, it is found out how much of what is used is
    /// pages of files.
    pub fn look(&mut self, percent: u64, mut see: impl FnMut(&Limit)) {
        for index in 0..self.count {
            let Some(group) = self.groups.get(index) else {
                break;
            };
            self.path.set(group.folder.get());
            let limit_bytes = group.limit_bytes;
            let Some(used) = number_in(&mut self.path, self.version.used()) else {
                continue;
            };
            let is_near = used.saturating_add(limit_bytes / 100 * percent) > limit_bytes;
            let cached = if is_near { self.cached_bytes() } else { 0 };
            see(&Limit {
                kind: LimitKind::Group,
                act: LimitAct::Watched,
                used_bytes: used.saturating_sub(cached),
                limit_bytes,
                name: self.path.get().get(self.mounted..).unwrap_or(&[]),
            });
        }
        look_at_own(&mut self.buffer, &mut see);
        look_at_machine(&mut self.buffer, &mut see);
    }

    /// Bytes of files among those of the group in `path`.
    fn cached_bytes(&mut self) -> u64 {
        let [mut one, mut other] = self.version.cached().map(Field::new);
        let length = self.path.get().len();
        self.path.push(b"/memory.stat\0");
        let fd = Os::open(self.path.get());
        self.path.shorten(self.path.get().len() - length);
        let Ok(fd) = fd else {
            return 0;
        };
        while let Ok(count @ 1..) = Os::read(fd, &mut self.buffer) {
            let piece = self.buffer.get(..count).unwrap_or(&[]);
            // Both, whichever comes first.
            if one.is_in(piece) & other.is_in(piece) {
                break;
            }
        }
        Os::close(fd);
        one.value().saturating_add(other.value())
    }
}

impl Default for Limits {
    fn default() -> Self {
        Self::new()
    }
}

/// A line of /proc/self/mountinfo.
struct Mount<'a> {
    /// Of the hierarchy, what is mounted.
    root: &'a [u8],
    /// Where.
    point: &'a [u8],
}

impl<'a> Mount<'a> {
    /// Of this version of groups, with the controller of memory.
    fn of(line: &'a [u8], version: Version) -> Option<Self> {
        let mut fields = line.split(|&byte| byte == b' ');
        let root = fields.nth(3)?;
        let point = fields.next()?;
        fields.find(|field| *field == b"-")?;
        let kind = fields.next()?;
        let options = fields.nth(1).unwrap_or(&[]);
        let is_it = match version {
            Version::One => kind == b"cgroup" && has_word(options, b"memory"),
            Version::Two => kind == b"cgroup2",
        };
        is_it.then_some(Self { root, point })
    }
}

fn has_word(list: &[u8], word: &[u8]) -> bool {
    list.split(|&byte| byte == b',').any(|one| one == word)
}

/// The number in a file of the group in `path`.
fn number_in(path: &mut Text<LONGEST>, file: &[u8]) -> Option<u64> {
    let length = path.get().len();
    path.push(file);
    let mut text = [0; 24];
    let text = read_start(path.get(), &mut text);
    path.shorten(path.get().len() - length);
    decimal(text.split(|&byte| byte == b'\n').next()?)
}

/// RLIMIT_AS and RLIMIT_DATA.
fn look_at_own(buffer: &mut [u8], see: &mut impl FnMut(&Limit)) {
    /// Fields of /proc/self/statm.
    const OWN: [(usize, LimitKind, usize); 2] = [
        (libc::RLIMIT_AS as usize, LimitKind::AddressSpace, 0),
        (libc::RLIMIT_DATA as usize, LimitKind::Data, 5),
    ];
    for (which, kind, field) in OWN {
        let limit_bytes = Os::limit(which);
        if limit_bytes >= NO_LIMIT {
            continue;
        }
        let text = read_start(b"/proc/self/statm\0", buffer);
        let mut fields = text.split(|byte| byte.is_ascii_whitespace());
        if let Some(pages) = fields.nth(field).and_then(decimal) {
            see(&Limit {
                kind,
                act: LimitAct::Watched,
                used_bytes: pages.saturating_mul(super::page_bytes()),
                limit_bytes,
                name: &[],
            });
        }
    }
}

/// What the kernel could give without swapping.
fn look_at_machine(buffer: &mut [u8], see: &mut impl FnMut(&Limit)) {
    let room = buffer.get_mut(..256).unwrap_or_default();
    let text = read_start(b"/proc/meminfo\0", room);
    let [mut total, mut available] = [b"\nMemTotal:" as &[u8], b"\nMemAvailable:"].map(Field::new);
    for field in [&mut total, &mut available] {
        // A field begins at a line's end, and this is the first line.
        field.is_in(b"\n");
        field.is_in(text);
    }
    let limit_bytes = total.value().saturating_mul(1024);
    let left = available.value().saturating_mul(1024);
    if limit_bytes > 0 && available.is_there() {
        see(&Limit {
            kind: LimitKind::Machine,
            act: LimitAct::Watched,
            used_bytes: limit_bytes.saturating_sub(left),
            limit_bytes,
            name: &[],
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::ffi::OsStrExt;

    #[test]
    fn mounts_are_told_apart() {
        let of = |line: &'static str, version| {
            let mount = Mount::of(line.as_bytes(), version)?;
            Some((mount.root.to_vec(), mount.point.to_vec()))
        };
        let told = |root: &str, point: &str| Some((root.into(), point.into()));
        let two = "30 23 0:26 / /sys/fs/cgroup rw,nosuid shared:4 - cgroup2 cgroup2 rw,nsdelegate";
        assert_eq!(of(two, Version::Two), told("/", "/sys/fs/cgroup"));
        assert_eq!(of(two, Version::One), None);
        let one =
            "36 25 0:31 /docker/5 /sys/fs/cgroup/memory ro master:9 x:1 - cgroup cgroup rw,memory";
        assert_eq!(
            of(one, Version::One),
            told("/docker/5", "/sys/fs/cgroup/memory")
        );
        assert_eq!(of(one, Version::Two), None);
        let other = "37 25 0:32 / /sys/fs/cgroup/cpu rw - cgroup cgroup rw,cpu,cpuacct";
        assert_eq!(of(other, Version::One), None);
        for short in [
            "",
            "1 2 3",
            "1 2 3 / /x rw",
            "1 2 3 / /x rw -",
            "1 2 3 / /x rw - cgroup",
        ] {
            assert_eq!(of(short, Version::One), None, "{short}");
        }
    }

    #[test]
    fn the_machine_is_always_a_limit() {
        let mut limits = Limits::new();
        limits.find();
        let (mut kinds, mut names) = (Vec::new(), Vec::new());
        limits.look(50, |limit| {
            assert!(limit.limit_bytes > 0 && limit.used_bytes > 0);
            kinds.push(limit.kind);
            if limit.kind == LimitKind::Group {
                names.push(limit.name.to_vec());
            }
        });
        assert_eq!(kinds.last(), Some(&LimitKind::Machine));
        // With groups of memory there is a folder of this process's own, whose
        // end is its group's name.
        let own = std::fs::read_to_string("/proc/self/cgroup").unwrap();
        let is_own = |line: &str| {
            let path = line.splitn(3, ':').nth(2).unwrap_or("");
            path.as_bytes() == limits.own.get()
        };
        assert!(limits.own.is_empty() || own.lines().any(is_own), "{own}");
        let path = limits.path.get();
        let mount = path.get(..limits.mounted).unwrap();
        assert!(
            std::path::Path::new(std::ffi::OsStr::from_bytes(mount)).is_dir() || mount.is_empty()
        );
        // An inner group comes before those around it.
        let named = names.windows(2).all(|two| two[0].starts_with(&two[1]));
        assert!(named, "{names:?}");
    }
}
