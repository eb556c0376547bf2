//! What the kernel writes of a file, as far as it is asked.

/// On 64-bit MIPS the C library's struct is another, into which it converts.
#[cfg(target_arch = "mips64")]
#[repr(C)]
pub struct Stat {
    pub st_dev: u32,
    reserved: [u32; 3],
    pub st_ino: u64,
    others: [u64; 9],
    pub st_blocks: u64,
}

#[cfg(not(target_arch = "mips64"))]
pub use libc::stat as Stat;
