//! A disk of a test's own, which can be full.

use std::fs;
use std::path::PathBuf;
use std::process::Command;

/// Mounted at its path, gone when it is dropped.
pub struct Disk(pub PathBuf);

impl Disk {
    /// Nothing where none can be mounted: that takes root.
    pub fn mount(path: PathBuf, bytes: u64) -> Option<Self> {
        fs::create_dir_all(&path).expect("mkdir");
        let mut mount = Command::new("mount");
        let size = format!("size={bytes}");
        mount.args(["-t", "tmpfs", "-o", &size, "tmpfs"]).arg(&path);
        let done = mount.output().is_ok_and(|output| output.status.success());
        done.then(|| Self(path))
    }
}

impl Drop for Disk {
    fn drop(&mut self) {
        // A disk in use is taken away when its user is gone.
        let _ = Command::new("umount").arg("-l").arg(&self.0).status();
    }
}
