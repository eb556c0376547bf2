//! A stub and an entry for each function, as a library that is preloaded or an
//! object that is linked. A stub jumps to the recorder's one door for them all,
//! with the address of its entry, which is `Function` of the recorder's `named`:
//!
//! ```text
//!  0 real 8 | 8 name 8 | 16 dynamic 8 | 24 state 4 | 28 name's bytes 2 | 30 does 1
//! 31 size, count, block, alignment, out: 1 each | 36 zero 4
//! ```
//!
//! In the library the recorder looks for the next definition behind `dynamic`;
//! in an object `real` is the linker's `__real_NAME`.

use super::Function;
use crate::recorder;
use object::elf::*;

/// Bytes of an entry.
const ENTRY: u64 = 40;
/// Bytes of a stub.
const STUB: u64 = 32;
/// Where the parts of the library that have different rights begin.
const PAGE: u64 = 4096;

/// Why there are no stubs for the recorder's processor, if so.
pub fn refused() -> Option<String> {
    let machine = recorder::SHARED.bytes.get(18..20);
    let is_x86_64 = machine == Some(&EM_X86_64.0.to_le_bytes());
    (!is_x86_64).then(|| {
        "functions of other names than malloc and its like can be recorded on x86_64 only, so far"
            .to_owned()
    })
}

/// Bytes in the making.
#[derive(Default)]
struct Bytes(Vec<u8>);

impl Bytes {
    fn at(&self) -> u64 {
        self.0.len() as u64
    }
    fn u8(&mut self, value: u8) {
        self.0.push(value);
    }
    fn u16(&mut self, value: u16) {
        self.put(&value.to_le_bytes());
    }
    fn u32(&mut self, value: u32) {
        self.put(&value.to_le_bytes());
    }
    fn u64(&mut self, value: u64) {
        self.put(&value.to_le_bytes());
    }
    fn put(&mut self, bytes: &[u8]) {
        self.0.extend_from_slice(bytes);
    }
    fn fill_to(&mut self, at: u64) {
        self.0.resize(at as usize, 0);
    }
    fn align(&mut self, to: u64) -> u64 {
        self.fill_to(self.at().next_multiple_of(to));
        self.at()
    }
    /// A C string; where it begins.
    fn text(&mut self, text: &str) -> u32 {
        let at = self.at() as u32;
        self.put(text.as_bytes());
        self.u8(0);
        at
    }
    fn symbol(
        &mut self,
        name: u32,
        binding: SymbolBind,
        kind: SymbolType,
        section: u16,
        value: u64,
        size: u64,
    ) {
        self.u32(name);
        self.u8(binding.0 << 4 | kind.0);
        self.u8(0);
        self.u16(section);
        self.u64(value);
        self.u64(size);
    }
    fn relocation(&mut self, at: u64, symbol: u32, kind: RelocationType, addend: i64) {
        self.u64(at);
        self.u64(u64::from(symbol) << 32 | u64::from(kind.0));
        self.u64(addend as u64);
    }
    /// The entry but for its first three words.
    fn entry(&mut self, function: &Function, name: u64, dynamic: u64) {
        let at = function.at;
        self.u64(0);
        self.u64(name);
        self.u64(dynamic);
        self.u32(0);
        self.u16(function.name.len() as u16);
        self.u8(function.does as u8);
        self.put(&[at.size, at.count, at.block, at.alignment, at.out]);
        self.u32(0);
    }
    /// endbr64; lea entry(%rip), %r11; jmp *door(%rip): how far both are.
    fn stub(&mut self, entry: u32, door: u32) {
        let end = self.at() + STUB;
        self.put(&[0xF3, 0x0F, 0x1E, 0xFA, 0x4C, 0x8D, 0x1D]);
        self.u32(entry);
        self.put(&[0xFF, 0x25]);
        self.u32(door);
        self.fill_to(end);
    }
    fn header(&mut self, kind: FileType, segments: u16, sections: (u64, u16, u16)) {
        let (sections_at, count, names) = sections;
        self.put(&ELFMAG);
        self.put(&[ELFCLASS64.0, ELFDATA2LSB.0, EV_CURRENT.0, 0]);
        self.fill_to(16);
        self.u16(kind.0);
        self.u16(EM_X86_64.0);
        self.u32(1);
        self.u64(0);
        self.u64(if segments > 0 { HEADER } else { 0 });
        self.u64(sections_at);
        self.u32(0);
        self.u16(HEADER as u16);
        self.u16(SEGMENT as u16);
        self.u16(segments);
        self.u16(64);
        self.u16(count);
        self.u16(names);
    }
}

const HEADER: u64 = 64;
const SEGMENT: u64 = 56;
/// Within a stub: where the distance to the entry stands, and that to the door.
const TO_ENTRY: u64 = 7;
const TO_DOOR: u64 = 13;
/// What the stubs jump to.
const DOOR: &str = "memlog_named";

/// The library that has these names.
pub fn library(functions: &[Function], name: &str) -> Vec<u8> {
    const SEGMENTS: u16 = 5;
    const TAGS: u64 = 11;
    let count = functions.len() as u64;
    // What is read only: symbols, their names, the hash table, relocations.
    let mut strings = Bytes(vec![0]);
    let soname = strings.text(name);
    let door = strings.text(DOOR);
    let names: Vec<u32> = functions.iter().map(|f| strings.text(&f.name)).collect();
    let symbols_at = HEADER + u64::from(SEGMENTS) * SEGMENT;
    let strings_at = symbols_at + 24 * (count + 2);
    let hash_at = (strings_at + strings.at()).next_multiple_of(8);
    let hash = hash_table(functions);
    let relocations_at = (hash_at + hash.at()).next_multiple_of(8);
    let code_at = (relocations_at + 24 * (1 + 2 * count)).next_multiple_of(PAGE);
    let data_at = (code_at + STUB * count).next_multiple_of(PAGE);
    let got_at = data_at + 16 * TAGS;
    let entries_at = got_at + 8;
    let end = entries_at + ENTRY * count;

    let mut out = Bytes::default();
    out.header(ET_DYN, SEGMENTS, (0, 0, 0));
    let mut segment = |kind: u32, flags: u32, at: u64, end: u64, align: u64| {
        out.u32(kind);
        out.u32(flags);
        [at, at, at, end - at, end - at, align]
            .into_iter()
            .for_each(|number| out.u64(number));
    };
    let (read, write, execute) = (PF_R.0, PF_W.0, PF_X.0);
    segment(
        PT_LOAD.0,
        read,
        0,
        relocations_at + 24 * (1 + 2 * count),
        PAGE,
    );
    segment(
        PT_LOAD.0,
        read | execute,
        code_at,
        code_at + STUB * count,
        PAGE,
    );
    segment(PT_LOAD.0, read | write, data_at, end, PAGE);
    segment(PT_DYNAMIC.0, read | write, data_at, got_at, 8);
    segment(PT_GNU_STACK.0, read | write, 0, 0, 16);

    out.symbol(0, STB_LOCAL, STT_NOTYPE, 0, 0, 0);
    out.symbol(door, STB_GLOBAL, STT_FUNC, 0, 0, 0);
    for (index, &name) in names.iter().enumerate() {
        let at = code_at + STUB * index as u64;
        out.symbol(name, STB_GLOBAL, STT_FUNC, 1, at, STUB);
    }
    out.put(&strings.0);
    out.align(8);
    out.put(&hash.0);
    out.align(8);
    out.relocation(got_at, 1, R_X86_64_GLOB_DAT, 0);
    for (index, &name) in names.iter().enumerate() {
        let entry = entries_at + ENTRY * index as u64;
        let name = (strings_at + u64::from(name)) as i64;
        out.relocation(entry + 8, 0, R_X86_64_RELATIVE, name);
        out.relocation(entry + 16, 0, R_X86_64_RELATIVE, data_at as i64);
    }
    out.fill_to(code_at);
    for index in 0..count {
        let stub = out.at();
        let entry = entries_at + ENTRY * index - (stub + TO_ENTRY + 4);
        out.stub(entry as u32, (got_at - (stub + TO_DOOR + 4)) as u32);
    }
    out.fill_to(data_at);
    for (tag, value) in [
        (DT_SONAME, u64::from(soname)),
        (DT_HASH, hash_at),
        (DT_STRTAB, strings_at),
        (DT_STRSZ, strings.at()),
        (DT_SYMTAB, symbols_at),
        (DT_SYMENT, 24),
        (DT_RELA, relocations_at),
        (DT_RELASZ, 24 * (1 + 2 * count)),
        (DT_RELAENT, 24),
        (DT_FLAGS_1, DF_1_NOW.0 | DF_1_NODELETE.0),
        (DT_NULL, 0),
    ] {
        out.u64(tag.0 as u64);
        out.u64(value);
    }
    out.u64(0);
    for function in functions {
        out.entry(function, 0, 0);
    }
    out.0
}

/// The one that all loaders know: by name, then along the chain.
fn hash_table(functions: &[Function]) -> Bytes {
    let count = functions.len();
    let buckets_count = count.max(1);
    let mut buckets = vec![0u32; buckets_count];
    let mut chain = vec![0u32; count + 2];
    for (index, function) in functions.iter().enumerate() {
        let symbol = index + 2;
        let bucket = hash(function.name.as_bytes()) as usize % buckets_count;
        if let (Some(first), Some(next)) = (buckets.get_mut(bucket), chain.get_mut(symbol)) {
            *next = std::mem::replace(first, symbol as u32);
        }
    }
    let mut out = Bytes::default();
    out.u32(buckets_count as u32);
    out.u32(count as u32 + 2);
    buckets
        .into_iter()
        .chain(chain)
        .for_each(|word| out.u32(word));
    out
}

/// The object that has these names behind `--wrap`.
pub fn object(functions: &[Function]) -> Vec<u8> {
    let count = functions.len() as u64;
    let (mut code, mut data) = (Bytes::default(), Bytes::default());
    let (mut of_code, mut of_data) = (Bytes::default(), Bytes::default());
    let (mut symbols, mut strings) = (Bytes::default(), Bytes(vec![0]));
    const DATA_SYMBOL: u32 = 1;
    const DOOR_SYMBOL: u32 = 2;
    const CODE: u16 = 1;
    const DATA: u16 = 3;
    symbols.symbol(0, STB_LOCAL, STT_NOTYPE, 0, 0, 0);
    symbols.symbol(0, STB_LOCAL, STT_SECTION, DATA, 0, 0);
    let door = strings.text(DOOR);
    symbols.symbol(door, STB_GLOBAL, STT_NOTYPE, 0, 0, 0);
    let mut names_at = ENTRY * count;
    for function in functions {
        let (stub, entry) = (code.at(), data.at());
        let wrap = strings.text(&format!("__wrap_{}", function.name));
        let real = strings.text(&format!("__real_{}", function.name));
        symbols.symbol(wrap, STB_GLOBAL, STT_FUNC, CODE, stub, STUB);
        symbols.symbol(real, STB_GLOBAL, STT_NOTYPE, 0, 0, 0);
        let real = (symbols.at() / 24 - 1) as u32;
        code.stub(0, 0);
        let to_entry = entry as i64 - 4;
        of_code.relocation(stub + TO_ENTRY, DATA_SYMBOL, R_X86_64_PC32, to_entry);
        of_code.relocation(stub + TO_DOOR, DOOR_SYMBOL, R_X86_64_GOTPCREL, -4);
        data.entry(function, 0, 0);
        of_data.relocation(entry, real, R_X86_64_64, 0);
        of_data.relocation(entry + 8, DATA_SYMBOL, R_X86_64_64, names_at as i64);
        names_at += function.name.len() as u64 + 1;
    }
    for function in functions {
        data.text(&function.name);
    }
    let mut titles = Bytes(vec![0]);
    let (alloc, write, execute) = (SHF_ALLOC.0, SHF_WRITE.0, SHF_EXECINSTR.0);
    let info = SHF_INFO_LINK.0;
    // Name, kind, flags, contents, link, info, alignment, bytes of an entry.
    let sections = [
        (".text", SHT_PROGBITS, alloc | execute, code, 0, 0, 16, 0),
        (".rela.text", SHT_RELA, info, of_code, 5, 1, 8, 24),
        (".data", SHT_PROGBITS, alloc | write, data, 0, 0, 8, 0),
        (".rela.data", SHT_RELA, info, of_data, 5, 3, 8, 24),
        (".symtab", SHT_SYMTAB, 0, symbols, 6, DOOR_SYMBOL, 8, 24),
        (".strtab", SHT_STRTAB, 0, strings, 0, 0, 1, 0),
        (
            ".note.GNU-stack",
            SHT_PROGBITS,
            0,
            Bytes::default(),
            0,
            0,
            1,
            0,
        ),
    ];
    let mut body = Bytes(vec![0; HEADER as usize]);
    let mut table = Bytes(vec![0; 64]);
    let mut put =
        |name: &str, kind: SectionType, flags: u64, bytes: &Bytes, more: (u32, u32, u64, u64)| {
            let at = body.align(16);
            body.put(&bytes.0);
            table.u32(titles.text(name));
            table.u32(kind.0);
            let (link, info, align, each) = more;
            [flags, 0, at, bytes.at()]
                .into_iter()
                .for_each(|number| table.u64(number));
            table.u32(link);
            table.u32(info);
            table.u64(align);
            table.u64(each);
        };
    for (name, kind, flags, bytes, link, info, align, each) in &sections {
        put(name, *kind, *flags, bytes, (*link, *info, *align, *each));
    }
    let mut own = Bytes(vec![0]);
    for (name, ..) in &sections {
        own.text(name);
    }
    own.text(".shstrtab");
    put(".shstrtab", SHT_STRTAB, 0, &own, (0, 0, 1, 0));
    let table_at = body.align(8);
    body.put(&table.0);
    let mut header = Bytes::default();
    let count = sections.len() as u16 + 2;
    header.header(ET_REL, 0, (table_at, count, count - 1));
    header.put(body.0.get(HEADER as usize..).unwrap_or(&[]));
    header.0
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::named::parse;
    use object::{Object, ObjectSymbol};

    #[test]
    fn both_can_be_read() {
        let functions = parse("pool_get(size)=pool_put(ptr),pool_drop(ptr)").expect("three");
        let library = library(&functions, "libit.so");
        let file = object::File::parse(library.as_slice()).expect("a library");
        assert_eq!(file.segments().count(), 3);
        let wanted: Vec<_> = functions.iter().map(|f| f.name.as_str()).collect();
        let object = super::object(&functions);
        let file = object::File::parse(object.as_slice()).expect("an object");
        let all: Vec<_> = file
            .symbols()
            .filter_map(|s| s.name().ok().map(str::to_owned))
            .collect();
        for name in wanted {
            assert!(all.contains(&format!("__wrap_{name}")), "{all:?}");
            assert!(all.contains(&format!("__real_{name}")), "{all:?}");
        }
    }
}
