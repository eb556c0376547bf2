//! Other tools' files as logs of memlog.
//!
//! Foreign bytes come in, the chunks of a log go out. It does no I/O but through what it is
//! handed, looks no names up, and computes no figure: what a source does not know is marked
//! as unknown ([`Lack`]), and whoever shows the log says so. Memory is bound by the frames,
//! the stacks and the live blocks, never by the events or by what a file claims.
//!
//! * [`convert`]: recognises a file by its content and reads it
//! * [`LogWriter`]: what the reader of each form writes to
//! * `forms`: those readers, one a module
//! * `unpack`, `lines`: gzip and zstd, and lines that are bound
//! * `events`, `tables`, `metas`: the chunks, by `format`'s own encoders
mod addresses;
mod error;
mod events;
mod forms;
mod lines;
mod made;
mod metas;
mod out;
mod places;
mod segments;
mod tables;
mod unpack;
mod writer;

use std::io::{BufRead, Cursor, Read};

pub use error::{At, Error};
pub use forms::{FORMS, Form, recognise};
pub use memlog_format::meta::Lack;
pub use out::Sink;
pub use places::Given;
pub use segments::{Segment, Segments};
pub use unpack::{HEAD, content_of, head_of, is_packed};
pub use writer::{Held, LogWriter, Made, ModuleId, Settings};

/// Reads a foreign file, packed or not, into a log. `file` is how the file is called.
pub fn convert(
    input: &mut dyn BufRead,
    file: &[u8],
    sink: &mut dyn Sink,
    settings: Settings,
) -> Result<Made, Error> {
    let unpack::Unpacked { head, rest } = unpack::open(input)?;
    let form = recognise(&head).ok_or(Error::Unrecognised)?;
    let mut log = LogWriter::new(sink, settings);
    log.made_from(form.tool, file);
    (form.read)(&mut Cursor::new(head).chain(rest), &mut log)?;
    log.finish()
}
