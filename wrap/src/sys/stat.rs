//! What the kernel writes of a file, as far as it is asked.

/// On 64-bit MIPS the C library's struct is another, into which it converts.
#[cfg(target_arch = "mips64")]
#[repr(C)]
pub struct Stat {
    pub st_dev: u32,
    reserved: [u32; 3],
    pub st_ino: u64,
    rest: [u64; 10],
}

#[cfg(not(target_arch = "mips64"))]
pub use libc::stat as Stat;
