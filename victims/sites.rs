// A Rust program with Vec, Box and a growing String at known sites: `sites_rs`. Prints nothing, exits 0.
//
// Peak: vec_site 50 x 1,000,000 bytes, box_site 10,000 x 512 bytes, grow_site one String of 8,388,608 bytes (8 doubled
// 20 times: 21 allocations, 20 releases). At the end 3 vecs and 100 boxes are leaked. std makes a few small blocks of
// its own before main.
use std::hint::black_box;

#[inline(never)]
fn vec_site() -> Vec<u8> {
    let mut v = Vec::with_capacity(1_000_000); // @site vec_site peak=50000000/50 end=3000000/3
    v.resize(1_000_000, 1);
    black_box(v)
}

#[inline(never)]
fn box_site() -> Box<[u64; 64]> {
    black_box(Box::new([1; 64])) // @site box_site peak=5120000/10000 end=51200/100
}

#[inline(never)]
fn grow_site() -> String {
    let mut s = String::new();
    for _ in 0..8 << 20 {
        s.push('m'); // @site grow_site peak=8388608/1 end=0/0
    }
    black_box(s)
}

fn main() {
    let mut boxes = [const { None }; 10_000];
    let mut vecs = [const { None }; 50];
    let grown = grow_site();
    for slot in &mut boxes {
        *slot = Some(box_site());
    }
    for slot in &mut vecs {
        *slot = Some(vec_site());
    }
    black_box((&boxes, &vecs, &grown));
    drop(grown);
    for slot in &mut vecs[..3] {
        std::mem::forget(slot.take());
    }
    for slot in &mut boxes[..100] {
        std::mem::forget(slot.take());
    }
}
