//! Calls every function that runs inside a profiled program; compiled by
//! `tests/no_panic.rs`, which looks for panics in the assembly.
#![no_std]

use memlog_format::chunk::{Header, checksum};
use memlog_format::event::{Alloc, Deltas, Release};
use memlog_format::ext::Ext;
use memlog_format::meta::Record;
use memlog_format::order::cell;
use memlog_format::table::{CODES_PER_CHUNK, Code, FIRST_CODE, Node, id_of};
use memlog_format::varint::Writer;

pub fn alloc(deltas: &mut Deltas, out: &mut [u8], event: &Alloc) -> Option<usize> {
    let mut writer = Writer::new(out);
    deltas.put_alloc(&mut writer, event);
    writer.finish()
}

pub fn release(deltas: &mut Deltas, out: &mut [u8], event: &Release) -> Option<usize> {
    let mut writer = Writer::new(out);
    deltas.put_release(&mut writer, event);
    writer.finish()
}

pub fn others(deltas: &mut Deltas, out: &mut [u8], number: u64, ext: &Ext) -> Option<usize> {
    let mut writer = Writer::new(out);
    deltas.put_tick(&mut writer, number);
    deltas.put_stamp(&mut writer, number);
    deltas.put_revoke(&mut writer);
    deltas.put_ext(&mut writer, ext);
    writer.finish()
}

pub fn meta(out: &mut [u8], record: &Record) -> Option<usize> {
    record.encode(out)
}

pub fn header(header: &Header, body: &[u8]) -> ([u8; 64], u64) {
    (header.encode(), checksum(body))
}

pub fn table(node: Node, code: Code, count: u32) -> (u64, u64, Option<u32>, usize) {
    let id = id_of(count, CODES_PER_CHUNK, FIRST_CODE);
    (node.to_word(), code.to_tail_word(), id, cell(code.address))
}
