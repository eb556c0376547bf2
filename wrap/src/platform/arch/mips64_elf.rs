//! What MIPS's files have of their own. A dynamic section is read-only there:
//! the loader writes an address elsewhere.

/// Tags that lead to the address of what the loader tells debuggers: of one the
/// value is how far that place is from the tag (`DT_MIPS_RLD_MAP_REL`), of the
/// other the place (`DT_MIPS_RLD_MAP`).
pub const DEBUG: [u64; 2] = [0x7000_0035, 0x7000_0016];
/// `DT_MIPS_SYMTABNO`: how many symbols there are. An object may have no hash
/// table but MIPS's own.
pub const SYMBOLS: u64 = 0x7000_0011;

/// What stands behind the last call of the code that a program begins with, of
/// which glibc's tables say nothing: a branch to itself.
pub const BEHIND_ENTRY: &[&[u8]] = &[&[0xff, 0xff, 0x00, 0x10, 0, 0, 0, 0]];
