//! A file whose name ends in .gz or .zst is packed so: tools believe the name.

use std::io::Write;
use std::path::Path;

use flate2::{Compression, write::GzEncoder};
use memlog_pack::zstd::Packer;

/// How a file is packed.
#[derive(Clone, Copy)]
pub enum Packing {
    None,
    Gzip,
    Zstd,
}

impl Packing {
    /// As its name says.
    pub fn of(path: Option<&Path>) -> Self {
        let ending = path.and_then(Path::extension);
        match ending.and_then(|ending| ending.to_str()) {
            Some("gz") => Self::Gzip,
            Some("zst") => Self::Zstd,
            _ => Self::None,
        }
    }

    /// Packs what is made.
    pub fn write<T>(
        self,
        out: &mut dyn Write,
        make: impl FnOnce(&mut dyn Write) -> anyhow::Result<T>,
    ) -> anyhow::Result<T> {
        match self {
            Self::None => make(out),
            Self::Gzip => {
                let mut packer = GzEncoder::new(out, Compression::default());
                let made = make(&mut packer)?;
                packer.finish()?;
                Ok(made)
            }
            Self::Zstd => {
                let mut packer = Packer::new(out);
                let made = make(&mut packer)?;
                packer.finish()?;
                Ok(made)
            }
        }
    }
}
