//! The early arena: disjoint zeroed blocks that are recognised for ever. It is
//! one static for the whole process, so one test uses it up.
#![allow(unsafe_code)]
//! # Safety
//! Blocks are used within the size that was asked for.

use crate::platform::early;

#[test]
fn blocks_are_zeroed_aligned_apart_and_known() {
    let asked = [
        (0, 1),
        (1, 1),
        (24, 16),
        (100, 64),
        (3, 4096),
        (4096, 8),
        (7, 16),
    ];
    let mut blocks: Vec<(usize, usize)> = Vec::new();
    for (size, alignment) in asked {
        let block = early::allocate(size, alignment);
        assert!(!block.is_null() && early::owns(block));
        assert_eq!(block as usize % alignment.max(16), 0);
        assert_eq!(early::size_of(block), size);
        // SAFETY: the block has `size` bytes.
        let bytes = unsafe { std::slice::from_raw_parts_mut(block, size) };
        assert!(bytes.iter().all(|&byte| byte == 0));
        bytes.fill(0xaa);
        blocks.push((block as usize, size));
    }
    for &(block, size) in &blocks {
        assert_eq!(
            early::size_of(block as *const u8),
            size,
            "nobody wrote over its head"
        );
    }
    blocks.sort_unstable();
    assert!(blocks.windows(2).all(|two| two[0].0 + two[0].1 <= two[1].0));

    let mut home = [0u8; 64];
    let from = early::allocate(16, 16);
    // SAFETY: 16 bytes, and a home of 64.
    unsafe {
        from.write_bytes(7, 16);
        early::copy_out(from, home.as_mut_ptr(), home.len());
    }
    assert_eq!(
        home[..17],
        [7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 0]
    );

    for (size, alignment) in [(usize::MAX, 16), (1 << 20, 16), (16, 24), (16, 1 << 20)] {
        assert!(
            early::allocate(size, alignment).is_null(),
            "{size} {alignment}"
        );
    }
    // What does not fit takes nothing from what does, until nothing is left.
    let fill = |size| {
        (0..1 << 16)
            .take_while(|_| !early::allocate(size, 16).is_null())
            .count()
    };
    assert!(fill(64 << 10) <= 1);
    let filled = fill(64);
    assert!((500..2048).contains(&filled), "{filled} blocks of 64 bytes");
    fill(0);
    assert!(early::allocate(0, 1).is_null());
    assert!(early::owns(from) && early::size_of(from) == 16);
}

#[test]
fn other_memory_is_not_its_own() {
    let (boxed, local) = (Box::new(0u8), 0u8);
    for other in [&raw const *boxed, &raw const local, std::ptr::null()] {
        assert!(!early::owns(other));
        assert_eq!(early::size_of(other), 0);
    }
}
