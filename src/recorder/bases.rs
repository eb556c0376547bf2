//! Where the recorder's files may be put, and who can come near them.
//!
//! A user's own files lie where nobody else can look. What root preloads may come
//! to be loaded by anybody, for a program that gives up its rights goes on to
//! execute others: so that lies where all can read and nobody but root could ever
//! write. Such a place is judged from the root folder down; what is right there
//! only root can change while the rest is looked at.

use std::fs::{self, DirBuilder, Metadata, OpenOptions, Permissions};
use std::io;
use std::os::unix::fs::{DirBuilderExt, MetadataExt, OpenOptionsExt, PermissionsExt};
use std::path::{Component, Path, PathBuf};

use anyhow::Context;
use memlog_pages::effective_user;

use super::Use;

const ROOT: u32 = 0;
const STICKY: u32 = 0o1000;

/// A folder below which ours are made.
pub(super) struct Base {
    pub(super) path: PathBuf,
    pub(super) open_to: OpenTo,
}

/// Who can read what lies there.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum OpenTo {
    /// Its user.
    Owner,
    /// Anybody. Nobody but root can write.
    All,
}

/// Whether a folder of this use is better one that anybody can read.
pub(super) fn is_for_all(usage: Use) -> bool {
    usage == Use::Preload && effective_user() == ROOT
}

/// Where our folders may be made, best first. What a reboot or a logout takes
/// away, and is often mounted noexec, comes last.
pub(super) fn bases(usage: Use) -> Vec<Base> {
    let variable = |name: &str| {
        std::env::var_os(name)
            .map(PathBuf::from)
            .filter(|path| path.is_absolute())
    };
    // A home that is not there is not made: it is not ours to make.
    let home = variable("HOME").filter(|home| home.is_dir());
    let caches = [
        variable("XDG_CACHE_HOME"),
        home.map(|home| home.join(".cache")),
    ];
    let shared = [
        variable("TMPDIR"),
        Some("/tmp".into()),
        Some("/var/tmp".into()),
        variable("XDG_RUNTIME_DIR"),
        Some("/dev/shm".into()),
    ];
    let own = format!("memlog-{}", effective_user());
    let shared = || shared.iter().flatten().map(|base| base.join(&own));
    let below = |base: PathBuf| base.join("memlog");
    let mut open = Vec::new();
    if is_for_all(usage) {
        // A home is nobody else's business, also where it can be entered.
        let system = Some(PathBuf::from("/var/cache")).filter(|cache| cache.is_dir());
        let caches = [caches[0].clone(), system].into_iter().flatten();
        open.extend(caches.map(below).chain(shared()));
    }
    let private = caches.into_iter().flatten().map(below).chain(shared());
    let with = |open_to| move |path| Base { path, open_to };
    let open = open.into_iter().map(with(OpenTo::All));
    open.chain(private.map(with(OpenTo::Owner))).collect()
}

/// Whether anybody can enter a folder that is there.
pub(super) fn lets_all_in(folder: &Path) -> bool {
    let Ok(folder) = folder.canonicalize() else {
        return false;
    };
    folder
        .ancestors()
        .all(|step| fs::metadata(step).is_ok_and(|found| found.mode() & 0o001 != 0))
}

/// Makes the two folders of a base, or checks that they are what they must be;
/// where the inner one lies.
pub(super) fn make(base: &Base, inner: &str) -> anyhow::Result<PathBuf> {
    match base.open_to {
        OpenTo::Owner => {
            let folder = base.path.join(inner);
            make_private(&base.path)?;
            make_private(&folder)?;
            Ok(folder)
        }
        OpenTo::All => make_open(&base.path, inner),
    }
}

/// Makes a folder that only this user can enter, or checks that it is one.
fn make_private(folder: &Path) -> anyhow::Result<()> {
    match DirBuilder::new()
        .mode(0o700)
        .recursive(false)
        .create(folder)
    {
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            let above = folder.parent().context("has no folder above it")?;
            DirBuilder::new()
                .mode(0o700)
                .recursive(true)
                .create(above)?;
            DirBuilder::new().mode(0o700).create(folder)?;
        }
        Err(error) if error.kind() != io::ErrorKind::AlreadyExists => return Err(error.into()),
        _ => {}
    }
    let found = fs::symlink_metadata(folder)?;
    anyhow::ensure!(found.is_dir(), "is not a folder");
    anyhow::ensure!(found.uid() == effective_user(), "belongs to another user");
    anyhow::ensure!(found.mode() & 0o022 == 0, "can be written by other users");
    Ok(())
}

/// The same with folders that anybody can enter, below one of which that is true
/// as well. Links are followed only where the path is as the user gave it.
fn make_open(base: &Path, inner: &str) -> anyhow::Result<PathBuf> {
    let there = base
        .ancestors()
        .skip(1)
        .find(|folder| folder.is_dir())
        .context("has no folder above it")?;
    let rest = base.strip_prefix(there)?.join(inner);
    // What leads out of a folder that is made here leads to one that is not ours.
    let are_names = rest
        .components()
        .all(|name| matches!(name, Component::Normal(_)));
    anyhow::ensure!(are_names, "leads back");
    let mut folder = there.canonicalize()?;
    let above: Vec<&Path> = folder.ancestors().collect();
    for step in above.into_iter().rev() {
        let found = fs::symlink_metadata(step)?;
        is_roots(&found, STICKY)?;
        anyhow::ensure!(
            found.mode() & 0o001 != 0,
            "cannot be entered by other users"
        );
    }
    for name in &rest {
        folder.push(name);
        make_open_step(&folder)?;
    }
    Ok(folder)
}

/// Makes one folder. Where it is root's already its mode is ours to set: a umask
/// may have taken some of it, or an older memlog kept it to itself.
fn make_open_step(folder: &Path) -> anyhow::Result<()> {
    match DirBuilder::new().mode(0o755).create(folder) {
        Err(error) if error.kind() != io::ErrorKind::AlreadyExists => return Err(error.into()),
        _ => {}
    }
    let opened = OpenOptions::new()
        .read(true)
        .custom_flags(libc::O_NOFOLLOW | libc::O_DIRECTORY)
        .open(folder)?;
    let found = opened.metadata()?;
    is_roots(&found, 0)?;
    if found.mode() & 0o7777 != 0o755 {
        opened.set_permissions(Permissions::from_mode(0o755))?;
    }
    Ok(())
}

/// Whether nobody but root can change what a folder of root's has under a name:
/// also where anybody can add names (`sticky`), no other's is touched.
fn is_roots(found: &Metadata, sticky: u32) -> anyhow::Result<()> {
    anyhow::ensure!(found.is_dir(), "is not a folder");
    anyhow::ensure!(found.uid() == ROOT, "belongs to another user");
    let is_ours = found.mode() & 0o022 == 0 || found.mode() & sticky != 0;
    anyhow::ensure!(is_ours, "can be written by other users");
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A folder that is not there would be made, and then the way back be one.
    #[test]
    fn a_way_back_is_no_way_to_a_folder_that_is_kept() {
        let above = std::env::temp_dir().join(format!("bases.{}", std::process::id()));
        let mode = |path: &Path| fs::metadata(path).unwrap().mode() & 0o777;
        let kept = above.join("kept");
        for folder in [&above, &kept] {
            DirBuilder::new().mode(0o700).create(folder).unwrap();
        }
        fs::set_permissions(&above, Permissions::from_mode(0o755)).unwrap();
        let base = above.join("gone/../kept/.cache/memlog");
        assert!(make_open(&base, "0").is_err());
        assert_eq!(mode(&kept), 0o700);
        assert!(!above.join("gone").exists());
        fs::remove_dir_all(above).unwrap();
    }
}
