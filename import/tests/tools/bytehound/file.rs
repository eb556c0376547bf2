//! Events written byte by byte, from what bytehound's own reader takes.

/// Events, not packed.
#[derive(Default)]
pub struct File(pub Vec<u8>);

impl File {
    pub fn new() -> Self {
        let mut file = Self::default();
        file.n32(0).n64(0x1234_5678).n64(0x9abc_def0);
        // Began at 5 s of its clock; at 6 s of that the wall said 1,000 s.
        file.n64(5_000_000).n64(6_000_000).n64(1000).n64(0);
        file.n32(77)
            .list(b"./v\0-x\0")
            .list(b"/opt/v")
            .list(b"x86_64");
        file.n64(1).n8(8);
        file
    }

    pub fn n8(&mut self, number: u8) -> &mut Self {
        self.0.push(number);
        self
    }

    pub fn n32(&mut self, number: u32) -> &mut Self {
        self.0.extend(number.to_le_bytes());
        self
    }

    pub fn n64(&mut self, number: u64) -> &mut Self {
        self.0.extend(number.to_le_bytes());
        self
    }

    pub fn list(&mut self, bytes: &[u8]) -> &mut Self {
        self.n32(bytes.len() as u32);
        self.0.extend_from_slice(bytes);
        self
    }

    /// In as many bytes as `more` says behind the first.
    pub fn varint(&mut self, number: u64, more: u32) -> &mut Self {
        let ones = !(0xff_u32 >> more) as u8;
        let high = number.checked_shr(8 * more).unwrap_or(0) as u8;
        self.n8(ones | high);
        self.0
            .extend_from_slice(&number.to_le_bytes()[..more as usize]);
        self
    }

    pub fn maps(&mut self, text: &str) -> &mut Self {
        self.n32(23).n64(5_000_000).list(b"/proc/self/maps");
        self.n64(text.len() as u64);
        self.0.extend_from_slice(text.as_bytes());
        self
    }

    pub fn backtrace(&mut self, id: u64, addresses: &[u64]) -> &mut Self {
        self.n32(5).n64(id).n32(addresses.len() as u32);
        addresses.iter().for_each(|&address| _ = self.n64(address));
        self
    }

    pub fn id(&mut self, id: (u64, u64)) -> &mut Self {
        self.n64(id.0).n64(id.1)
    }

    pub fn block(&mut self, pointer: u64, size: u64, backtrace: u64) -> &mut Self {
        self.n64(pointer).n64(size).n64(backtrace);
        self.n32(9).n32(1 << 31).n32(8).n64(0)
    }

    pub fn came(&mut self, id: (u64, u64), ms: u64, pointer: u64, size: u64) -> &mut Self {
        self.n32(20).id(id).n64(5_000_000 + ms * 1000);
        self.block(pointer, size, 1)
    }

    pub fn resized(&mut self, id: (u64, u64), ms: u64, old: u64, new: u64, size: u64) -> &mut Self {
        self.n32(21).id(id).n64(5_000_000 + ms * 1000).n64(old);
        self.block(new, size, 1)
    }

    pub fn went(&mut self, id: (u64, u64), ms: u64, pointer: u64) -> &mut Self {
        self.n32(22).id(id).n64(5_000_000 + ms * 1000);
        self.n64(pointer).n64(0).n32(9)
    }

    /// In pieces of so many bytes, one as it is and one of LZ4 in turn.
    pub fn pieces(&self, length: usize) -> Vec<u8> {
        let mut file = Vec::new();
        for (index, piece) in self.0.chunks(length).enumerate() {
            let packed = match index % 2 {
                0 => literals(piece),
                _ => piece.to_vec(),
            };
            file.push(1 + (index % 2) as u8);
            file.extend((packed.len() as u32).to_le_bytes());
            file.extend(packed);
        }
        file
    }

    pub fn packed(&self) -> Vec<u8> {
        self.pieces(1 << 20)
    }

    /// All in one piece, but for what tells the form.
    pub fn one_piece(&self) -> Vec<u8> {
        let (head, rest) = self.0.split_at(100);
        let mut file = Vec::new();
        for (kind, piece) in [(1, literals(head)), (2, rest.to_vec())] {
            file.push(kind);
            file.extend((piece.len() as u32).to_le_bytes());
            file.extend(piece);
        }
        file
    }
}

/// A block of LZ4 that repeats nothing.
fn literals(bytes: &[u8]) -> Vec<u8> {
    let mut block = vec![(bytes.len().min(15) as u8) << 4];
    if let Some(mut rest) = bytes.len().checked_sub(15) {
        while rest >= 255 {
            block.push(255);
            rest -= 255;
        }
        block.push(rest as u8);
    }
    block.extend_from_slice(bytes);
    block
}
