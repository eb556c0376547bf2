//! What the core library does with a panic, done without.

/// Moves `bytes[from..to]` to the front.
pub fn move_to_front(bytes: &mut [u8], from: usize, to: usize) {
    if from == 0 {
        return;
    }
    for index in from..to {
        let byte = bytes.get(index).copied().unwrap_or(0);
        if let Some(place) = bytes.get_mut(index - from) {
            *place = byte;
        }
    }
}
