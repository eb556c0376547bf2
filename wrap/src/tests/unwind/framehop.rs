//! framehop's walk of this process: another unwinder, by another author, over
//! the same files. It knows x86_64 and 64-bit ARM; here it is asked on x86_64.

use super::loaded::section;
use crate::platform::arch::{FP, RA, SP};
use crate::platform::bounds::Bounds;
use crate::unwind::full::Registers;
use ::framehop::x86_64::{CacheX86_64, UnwindRegsX86_64, UnwinderX86_64};
use ::framehop::{ExplicitModuleSectionInfo, FrameAddress, Module, Unwinder};
use std::ops::Range;

/// The mapped files, each with all that it spans: other tests map some of them a
/// second time, which begins at the file's beginning again.
fn files() -> Vec<(String, Range<u64>)> {
    let maps = std::fs::read_to_string("/proc/self/maps").unwrap();
    let mut files: Vec<(String, Range<u64>)> = Vec::new();
    for line in maps.lines() {
        let Some(at) = line.find('/') else {
            continue;
        };
        let words: Vec<&str> = line.split_whitespace().collect();
        let (low, high) = words[0].split_once('-').unwrap();
        let hex = |text| u64::from_str_radix(text, 16).unwrap();
        let path = &line[at..];
        match files.last_mut() {
            Some((last, span)) if last == path && hex(words[2]) > 0 => span.end = hex(high),
            _ => files.push((path.to_owned(), hex(low)..hex(high))),
        }
    }
    files
}

fn module(path: &str, span: Range<u64>) -> Option<Module<Vec<u8>>> {
    let file = std::fs::read(path).ok()?;
    let part = |name: &str| {
        let (address, bytes) = section(&file, name)?;
        // In the files of this test, sections lie where their addresses say up
        // to the first segment that can be written to.
        let data = file.get(address as usize..(address + bytes) as usize)?;
        Some((address..address + bytes, data.to_vec()))
    };
    let (eh_frame_svma, eh_frame) = part(".eh_frame")?;
    let (eh_frame_hdr_svma, eh_frame_hdr) = part(".eh_frame_hdr")?;
    let (text_svma, text) = part(".text")?;
    let sections = ExplicitModuleSectionInfo {
        text_svma: Some(text_svma),
        text: Some(text),
        eh_frame_svma: Some(eh_frame_svma),
        eh_frame: Some(eh_frame),
        eh_frame_hdr_svma: Some(eh_frame_hdr_svma),
        eh_frame_hdr: Some(eh_frame_hdr),
        ..Default::default()
    };
    let base = span.start;
    Some(Module::new(path.to_owned(), span, base, sections))
}

/// The return addresses from these registers outwards; `None` where framehop
/// does not know the processor.
pub fn walk(registers: &Registers, bounds: &Bounds) -> Option<Vec<u64>> {
    if std::env::consts::ARCH != "x86_64" {
        return None;
    }
    let mut unwinder: UnwinderX86_64<Vec<u8>> = UnwinderX86_64::new();
    for (path, span) in files() {
        if let Some(module) = module(&path, span) {
            unwinder.add_module(module);
        }
    }
    let mut cache: CacheX86_64 = CacheX86_64::new();
    let mut read = |address| bounds.read(address).ok_or(());
    let from = UnwindRegsX86_64::new(registers[RA], registers[SP], registers[FP]);
    let mut frames = unwinder.iter_frames(registers[RA], from, &mut cache, &mut read);
    let mut found = Vec::new();
    while let Ok(Some(frame)) = frames.next() {
        found.push(match frame {
            FrameAddress::InstructionPointer(address) => address,
            FrameAddress::ReturnAddress(address) => address.into(),
        });
    }
    Some(found)
}
