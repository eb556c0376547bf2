//! Module instances, judged by the kernel's own list and by readelf.
#![allow(unsafe_code)]
//! # Safety
//! Libraries are opened and closed by the C library's own functions, and what
//! is mapped here is unmapped here.

use super::memory::{Zeroed, maps_at_rest};
use crate::platform::ground::Ground;
use crate::platform::maps::region_of;
use crate::unwind::modules::{Found, Modules};
use std::collections::HashMap;
use std::ffi::CString;
use std::os::fd::AsRawFd;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::atomic::{AtomicBool, Ordering};

/// A line of the maps, read the comfortable way.
struct Mapping {
    low: u64,
    high: u64,
    rights: String,
    path: String,
}

fn maps() -> Vec<Mapping> {
    let text = std::fs::read_to_string("/proc/self/maps").unwrap();
    let parse = |line: &str| {
        let mut words = line.split_whitespace();
        let (low, high) = words.next().unwrap().split_once('-').unwrap();
        let rights = words.next().unwrap().to_string();
        Mapping {
            low: u64::from_str_radix(low, 16).unwrap(),
            high: u64::from_str_radix(high, 16).unwrap(),
            rights,
            path: words.nth(3).unwrap_or("").to_string(),
        }
    };
    text.lines().map(parse).collect()
}

/// What a reading told: path and build-id by id.
fn told(modules: &mut Modules) -> (HashMap<u32, (String, String)>, Vec<u32>) {
    let (mut loaded, mut unloaded) = (HashMap::new(), Vec::new());
    modules.refresh(&Ground::new(), |found| match found {
        Found::Loaded { module, path } => {
            let hex = module
                .image
                .build_id
                .get()
                .iter()
                .map(|byte| format!("{byte:02x}"))
                .collect();
            let path = String::from_utf8_lossy(path).into_owned();
            assert!(loaded.insert(module.id, (path, hex)).is_none());
        }
        Found::Unloaded { id } => unloaded.push(id),
    });
    (loaded, unloaded)
}

fn readelf_build_id(path: &str) -> Option<String> {
    let said = Command::new("readelf").args(["-nW", path]).output().ok()?;
    let said = String::from_utf8_lossy(&said.stdout).into_owned();
    let id = said.split_once("Build ID: ").map_or("", |(_, rest)| rest);
    Some(id.lines().next().unwrap_or("").to_string())
}

#[test]
fn every_executable_mapping_of_a_file_is_in_a_module() {
    let _rest = maps_at_rest();
    let mut modules = Modules::zeroed();
    let (loaded, _) = told(&mut modules);
    let code = |mapping: &Mapping| mapping.rights.contains('x') && mapping.path.starts_with('/');
    let mut seen = 0;
    for mapping in maps().iter().filter(|&mapping| code(mapping)) {
        for address in [
            mapping.low,
            mapping.low + 1,
            (mapping.low + mapping.high) / 2,
            mapping.high - 1,
        ] {
            let module = modules.find(address).expect(&mapping.path);
            assert_eq!(loaded[&module.id].0, mapping.path, "{address:#x}");
            assert!(module.low <= address && address < module.image.high);
        }
        seen += 1;
    }
    assert!(seen >= 3, "the test, the C library and its loader at least");
    let own = modules.find(readelf_build_id as *const () as u64).unwrap();
    let exe = std::env::current_exe().unwrap();
    assert_eq!(loaded[&own.id].0, exe.to_str().unwrap());
}

#[test]
fn what_is_no_code_is_in_no_module() {
    let _rest = maps_at_rest();
    let mut modules = Modules::zeroed();
    told(&mut modules);
    let (local, boxed) = (0u8, Box::new(0u8));
    for address in [
        &raw const local as u64,
        &raw const *boxed as u64,
        0,
        1,
        u64::MAX,
    ] {
        assert!(modules.find(address).is_none(), "{address:#x}");
    }
}

#[test]
fn build_ids_are_those_that_readelf_prints() {
    let _rest = maps_at_rest();
    let (loaded, _) = told(&mut Modules::zeroed());
    let mut compared = 0;
    for (path, build_id) in loaded.values().filter(|(path, _)| path.starts_with('/')) {
        let Some(expected) = readelf_build_id(path) else {
            println!("SKIPPED build-ids: there is no readelf");
            return;
        };
        assert_eq!(*build_id, expected, "{path}");
        compared += usize::from(!expected.is_empty());
    }
    assert!(compared >= 2);
}

/// A copy of a library that nobody else opens.
fn private_library() -> PathBuf {
    let file = std::env::temp_dir().join(format!("memlog-module-{}.so", std::process::id()));
    let loaded = maps()
        .into_iter()
        .find(|mapping| mapping.path.contains("/libgcc_s.so"));
    std::fs::copy(loaded.expect("std needs libgcc_s").path, &file).unwrap();
    file
}

struct Library(*mut libc::c_void);

impl Library {
    fn open(file: &Path) -> Self {
        let name = CString::new(file.to_str().unwrap()).unwrap();
        // SAFETY: a copy of a library whose constructors do nothing.
        let handle = unsafe { libc::dlopen(name.as_ptr(), libc::RTLD_NOW | libc::RTLD_LOCAL) };
        assert!(!handle.is_null());
        Self(handle)
    }
}

impl Drop for Library {
    fn drop(&mut self) {
        // SAFETY: opened once, and nothing of it is used.
        unsafe { libc::dlclose(self.0) };
    }
}

#[test]
fn a_library_that_goes_and_comes_is_another_instance() {
    let _rest = maps_at_rest();
    let file = private_library();
    let name = file.to_str().unwrap();
    let mut modules = Modules::zeroed();
    let id_of = |loaded: &HashMap<u32, (String, String)>| {
        loaded
            .iter()
            .find(|(_, (path, _))| path == name)
            .map(|(&id, _)| id)
    };
    let (before, _) = told(&mut modules);
    assert_eq!(id_of(&before), None);

    let library = Library::open(&file);
    let first = id_of(&told(&mut modules).0).expect("the opened library is told");
    assert_eq!(id_of(&told(&mut modules).0), None, "only once");
    drop(library);
    let (_, unloaded) = told(&mut modules);
    assert!(unloaded.contains(&first));

    let again = Library::open(&file);
    let second = id_of(&told(&mut modules).0).unwrap();
    assert!(
        second > first && !before.contains_key(&second),
        "ids are never used twice"
    );

    // Closed and opened between two readings, at the same address perhaps: its
    // destructors were seen.
    let inside = maps()
        .into_iter()
        .find(|mapping| mapping.path == name)
        .unwrap()
        .low;
    modules.leaving(inside);
    drop(again);
    let library = Library::open(&file);
    let (loaded, unloaded) = told(&mut modules);
    assert!(unloaded.contains(&second));
    assert!(id_of(&loaded).unwrap() > second);
    drop(library);
    std::fs::remove_file(file).unwrap();
}

#[test]
fn a_region_is_the_mapping_around_an_address() {
    let _rest = maps_at_rest();
    let mut buffer = [0; 8192];
    let local = 0u8;
    for address in [&raw const local as u64, maps as *const () as u64] {
        let region = region_of(&Ground::new(), address, &mut buffer);
        let around = maps()
            .into_iter()
            .find(|mapping| (mapping.low..mapping.high).contains(&address));
        let around = around.unwrap();
        assert_eq!((region.low, region.high), (around.low, around.high));
        assert_eq!(region.executable, around.rights.contains('x'));
    }
    let nowhere = region_of(&Ground::new(), 8, &mut buffer);
    assert_eq!((nowhere.low, nowhere.high), (0, 0));
}

/// Maps a whole file to read it, as debuggers and symbolizers do.
fn map_as_data(file: &std::fs::File, bytes: usize) -> *mut libc::c_void {
    // SAFETY: a fresh mapping.
    let at = unsafe {
        let (rights, flags) = (libc::PROT_READ, libc::MAP_PRIVATE);
        libc::mmap(
            std::ptr::null_mut(),
            bytes,
            rights,
            flags,
            file.as_raw_fd(),
            0,
        )
    };
    assert_ne!(at, libc::MAP_FAILED);
    at
}

#[test]
fn a_file_that_is_only_read_is_no_module() {
    let _rest = maps_at_rest();
    let path = maps()
        .into_iter()
        .find(|mapping| mapping.path.contains("/libc.so"))
        .unwrap()
        .path;
    let (file, bytes) = (
        std::fs::File::open(&path).unwrap(),
        std::fs::metadata(&path).unwrap().len(),
    );
    let at = map_as_data(&file, bytes as usize) as u64;
    let mut modules = Modules::zeroed();
    let (loaded, _) = told(&mut modules);
    assert!(modules.find(at).is_none() && modules.find(at + bytes / 2).is_none());
    assert_eq!(
        loaded
            .values()
            .filter(|(loaded, _)| *loaded == path)
            .count(),
        1
    );
    // SAFETY: mapped above, and nothing refers to it.
    unsafe { libc::munmap(at as *mut _, bytes as usize) };
}

/// Other threads map and unmap files all the time; what the maps named a
/// moment ago may be gone when its headers are read.
#[test]
fn mappings_may_go_while_they_are_read() {
    let _rest = maps_at_rest();
    let path = std::env::current_exe().unwrap();
    let done = AtomicBool::new(false);
    std::thread::scope(|scope| {
        for _ in 0..2 {
            scope.spawn(|| {
                let file = std::fs::File::open(&path).unwrap();
                while !done.load(Ordering::Relaxed) {
                    let at = map_as_data(&file, 1 << 20);
                    let code = libc::PROT_READ | libc::PROT_EXEC;
                    // SAFETY: mapped just now, and nothing refers to it.
                    unsafe {
                        libc::mprotect(at.byte_add(1 << 19), 1 << 19, code);
                        libc::munmap(at, 1 << 20);
                    }
                }
            });
        }
        let own = mappings_may_go_while_they_are_read as *const () as u64;
        for _ in 0..300 {
            let mut modules = Modules::zeroed();
            told(&mut modules);
            assert!(modules.find(own).is_some(), "what stays is found");
        }
        done.store(true, Ordering::Relaxed);
    });
}

/// A file as lld and mold link small ones: headers and code share a page, and
/// the segment of code lies `gap` pages behind the first.
fn with_code_in_the_first_page(gap: u64) -> Vec<u8> {
    use goblin::elf64::header::Header;
    use goblin::elf64::program_header::{PF_R, PF_X, PT_LOAD, ProgramHeader};
    let part = |flags, offset, address| ProgramHeader {
        p_type: PT_LOAD,
        p_flags: flags,
        p_offset: offset,
        p_vaddr: address,
        p_filesz: 0x100,
        p_memsz: 0x100,
        ..ProgramHeader::default()
    };
    let parts = [
        part(PF_R, 0, 0),
        part(PF_R | PF_X, 0x800, gap * PAGE + 0x800),
    ];
    let header = Header {
        e_ident: *b"\x7fELF\x02\0\0\0\0\0\0\0\0\0\0\0",
        e_phoff: size_of::<Header>() as u64,
        e_phnum: parts.len() as u16,
        e_phentsize: size_of::<ProgramHeader>() as u16,
        ..Header::default()
    };
    let file = (header, parts);
    // SAFETY: plain integers without holes, looked at as bytes.
    let bytes =
        unsafe { std::slice::from_raw_parts((&raw const file).cast::<u8>(), size_of_val(&file)) };
    let mut bytes = bytes.to_vec();
    bytes.resize(PAGE as usize, 0xc3);
    bytes
}

const PAGE: u64 = 4096;

/// The code's mapping begins the file, too: it is not where the image begins,
/// unless nothing lies before it.
#[test]
fn code_that_shares_a_page_with_the_headers_has_the_right_bias() {
    if crate::platform::sys::page_bytes() != PAGE {
        return;
    }
    let _rest = maps_at_rest();
    let map = |at: u64, rights, flags, fd: i32| {
        // SAFETY: anywhere, or over pages of our own reservation.
        unsafe {
            libc::mmap(
                at as *mut _,
                PAGE as usize,
                rights,
                libc::MAP_PRIVATE | flags,
                fd,
                0,
            ) as u64
        }
    };
    for (gap, is_read_beside) in [(1, false), (1, true), (3, false), (0, true)] {
        let path =
            std::env::temp_dir().join(format!("memlog-first-page-{}-{gap}", std::process::id()));
        std::fs::write(&path, with_code_in_the_first_page(gap)).unwrap();
        let file = std::fs::File::open(&path).unwrap();
        // SAFETY: a reservation of our own, which is given back below.
        let low = unsafe {
            libc::mmap(
                std::ptr::null_mut(),
                6 * PAGE as usize,
                libc::PROT_NONE,
                libc::MAP_PRIVATE | libc::MAP_ANONYMOUS,
                -1,
                0,
            ) as u64
        };
        // A reader's mapping of the same file right below is no part of it.
        if is_read_beside {
            map(low, libc::PROT_READ, libc::MAP_FIXED, file.as_raw_fd());
        }
        let low_of_image = low + PAGE;
        if gap != 0 {
            map(
                low_of_image,
                libc::PROT_READ,
                libc::MAP_FIXED,
                file.as_raw_fd(),
            );
        }
        let code = low_of_image + gap * PAGE;
        map(
            code,
            libc::PROT_READ | libc::PROT_EXEC,
            libc::MAP_FIXED,
            file.as_raw_fd(),
        );
        let mut modules = Modules::zeroed();
        told(&mut modules);
        let found = modules
            .find(code + 0x810)
            .map(|module| (module.low, module.image.bias));
        // SAFETY: the reservation.
        unsafe { libc::munmap(low as *mut _, 6 * PAGE as usize) };
        std::fs::remove_file(&path).unwrap();
        assert_eq!(
            found,
            Some((low_of_image, low_of_image)),
            "{gap} {is_read_beside}"
        );
    }
}
