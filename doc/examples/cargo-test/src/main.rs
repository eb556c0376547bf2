//! Makes words: `words COUNT`. With the feature `leak` it forgets each tenth.

use std::hint::black_box;

fn make_word(number: u32) -> String {
    format!("word {number}")
}

fn main() {
    let count = std::env::args().nth(1);
    let count = count.and_then(|count| count.parse().ok()).unwrap_or(10);
    for number in 0..count {
        let word = black_box(make_word(number));
        if cfg!(feature = "leak") && number % 10 == 0 {
            std::mem::forget(word);
        }
    }
}
