//! Frames as valgrind's tools write them: `0x1091D0: table (v.c:5)`.

use std::collections::HashMap;

use memlog_format::table::CodeId;

use crate::places::Given;
use crate::writer::{LogWriter, ModuleId};

/// What valgrind calls a function whose name it does not know.
const UNKNOWN: &[u8] = b"???";

/// What a frame's text says.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Frame<'a> {
    pub(super) address: Option<u64>,
    pub(super) function: &'a [u8],
    /// Empty where the tool knew none, as the line is 0 then.
    pub(super) file: &'a [u8],
    pub(super) line: u32,
    /// Named only where no file and line are.
    pub(super) module: &'a [u8],
}

impl<'a> Frame<'a> {
    pub(super) fn parse(text: &'a [u8]) -> Self {
        let (address, rest) = match address(text) {
            Some((address, rest)) => (Some(address), rest),
            None => (None, text),
        };
        let mut frame = Self {
            address,
            function: rest,
            file: b"",
            line: 0,
            module: b"",
        };
        // A C++ name may have brackets too: only the last ones are valgrind's.
        let open = rest.windows(2).rposition(|two| two == b" (");
        let inner = open.and_then(|open| rest[open + 2..].strip_suffix(b")"));
        let (Some(open), Some(inner)) = (open, inner) else {
            return frame;
        };
        if let Some(module) = inner.strip_prefix(b"in ") {
            (frame.function, frame.module) = (&rest[..open], module);
        } else if let Some((file, line)) = file_and_line(inner) {
            (frame.function, frame.file, frame.line) = (&rest[..open], file, line);
        }
        frame
    }

    /// Whether it is of the tool itself, which stands in for malloc.
    pub(super) fn is_tools_own(&self) -> bool {
        let name = self.module.rsplit(|&byte| byte == b'/').next();
        name.is_some_and(|name| name.starts_with(b"vgpreload_"))
    }
}

fn address(text: &[u8]) -> Option<(u64, &[u8])> {
    let digits = text.strip_prefix(b"0x")?;
    let end = digits.windows(2).position(|two| two == b": ")?;
    let number = str::from_utf8(&digits[..end]).ok()?;
    let address = u64::from_str_radix(number, 16).ok()?;
    Some((address, &digits[end + 2..]))
}

fn file_and_line(text: &[u8]) -> Option<(&[u8], u32)> {
    let colon = text.iter().rposition(|&byte| byte == b':')?;
    let line = str::from_utf8(&text[colon + 1..]).ok()?.parse().ok()?;
    Some((&text[..colon], line))
}

/// The places of frames, by their texts.
#[derive(Default)]
pub(super) struct Frames {
    known: HashMap<Vec<u8>, CodeId>,
    modules: HashMap<Vec<u8>, ModuleId>,
}

impl Frames {
    pub(super) fn place(&mut self, log: &mut LogWriter, text: &[u8]) -> CodeId {
        if let Some(&code) = self.known.get(text) {
            return code;
        }
        let frame = Frame::parse(text);
        let module = (!frame.module.is_empty()).then(|| match self.modules.get(frame.module) {
            Some(&module) => module,
            None => {
                // Where it lay is not written. All its code has names, so nobody asks.
                let module = log.module(frame.module, b"", 0, 0..0);
                self.modules.insert(frame.module.to_vec(), module);
                module
            }
        });
        // One word for all code without names would make one place of it.
        let address = frame.address.map(|address| format!("{address:#x}"));
        let function = match (frame.function, &address) {
            (UNKNOWN, Some(address)) => address.as_bytes(),
            (function, _) => function,
        };
        let given = Given {
            function,
            file: frame.file,
            line: frame.line,
        };
        let code = log.place(frame.address, true, module, &[given]);
        self.known.insert(text.to_vec(), code);
        code
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn frame(text: &str) -> (Option<u64>, &str, &str, u32, &str) {
        let Frame {
            address,
            function,
            file,
            line,
            module,
        } = Frame::parse(text.as_bytes());
        let [function, file, module] =
            [function, file, module].map(|text| str::from_utf8(text).expect("a part"));
        (address, function, file, line, module)
    }

    #[test]
    fn frames_are_read_as_they_are_written() {
        let main = (Some(0x109249), "main", "v.c", 7, "");
        assert_eq!(frame("0x109249: main (v.c:7)"), main);
        let own = frame("0x48417B4: malloc (in /usr/libexec/valgrind/vgpreload_dhat.so)");
        let module = "/usr/libexec/valgrind/vgpreload_dhat.so";
        assert_eq!(own, (Some(0x48417b4), "malloc", "", 0, module));
        let unknown = (Some(0x10), "???", "", 0, "");
        assert_eq!(frame("0x10: ???"), unknown);
        let bracket = frame("0x1F: f(int (*)(int)) const (a b.cpp:12)");
        assert_eq!(
            bracket,
            (Some(0x1f), "f(int (*)(int)) const", "a b.cpp", 12, "")
        );
        let call = frame("0x1F: A::operator() (in /a (b)/c.so)");
        assert_eq!(call.4, "");
        assert_eq!(frame("[root]"), (None, "[root]", "", 0, ""));
        assert_eq!(frame("0xZZ: f (x:y)").1, "0xZZ: f (x:y)");
        assert_eq!(frame(""), (None, "", "", 0, ""));
        assert_eq!(frame("0x1: (").1, "(");
    }
}
