// As grown.c, in Rust: closures, and types that differ in what they are of.
use std::hint::black_box;

struct Cache<T> {
    kept: Vec<Vec<T>>,
}

impl<T: Clone + Default> Cache<T> {
    #[inline(never)]
    fn plants(&mut self, items: usize, len: usize) {
        for _ in 0..items {
            self.kept.push(vec![T::default(); len]);
        }
    }
}

#[inline(never)]
fn calls(what: impl Fn() -> Vec<u8>) -> Vec<u8> {
    what()
}

fn main() {
    let grown: usize = option_env!("GROWN").map_or(0, |text| text.parse().unwrap());
    let mut cache = Cache::<u64> { kept: Vec::with_capacity(100) };
    let other = if grown > 0 { calls(|| vec![3; 2]) } else { Vec::new() };
    let closed = calls(|| vec![black_box(1); 9000]);
    cache.plants(64, 500 + grown / 8);
    println!("done");
    black_box((&cache.kept, &closed, &other));
    std::process::exit(0);
}
