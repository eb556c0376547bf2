//! Messages of Protocol Buffers, as pprof's profiles are.

/// A number as bytes of seven bits.
pub fn varint(mut number: u64) -> Vec<u8> {
    let mut bytes = Vec::new();
    while number >= 0x80 {
        bytes.push(number as u8 | 0x80);
        number >>= 7;
    }
    bytes.push(number as u8);
    bytes
}

/// A field that is a number.
pub fn number(tag: u64, value: u64) -> Vec<u8> {
    [varint(tag << 3), varint(value)].concat()
}

/// A field that is bytes, or a message.
pub fn field(tag: u64, bytes: &[u8]) -> Vec<u8> {
    [&varint(tag << 3 | 2), &varint(bytes.len() as u64), bytes].concat()
}
