//! What a Rust program may say to memlog, a profiler of its memory.
//!
//! ```
//! memlog_marks::name_thread("loader"); // a name for this thread, of 32 bytes at most
//! memlog_marks::mark("loaded"); // a name for this moment: memlog report --at 'mark loaded'
//! memlog_marks::snapshot(); // the same, called snapshot 1, 2, ...
//! memlog_marks::sync(); // all that was recorded is in the log's file now
//! assert!(!memlog_marks::is_recording());
//! ```
//!
//! Where the program runs without memlog nothing happens, and a call costs a test of
//! one word. A program that is linked statically with `memlog_s.a` sets the feature
//! `linked`. `memlog.h` says more.

/// Gives this moment a name, of 128 bytes at most.
pub fn mark(name: &str) {
    with_text(name, functions::mark);
}

/// A moment to be reported, called snapshot 1, 2, ...
pub fn snapshot() {
    functions::snapshot();
}

/// What was recorded until now is in the log's file when this returns.
pub fn sync() {
    functions::sync();
}

/// The calling thread has this name from now on.
pub fn name_thread(name: &str) {
    with_text(name, functions::name_thread);
}

/// Whether events are recorded now.
pub fn is_recording() -> bool {
    functions::is_recording() != 0
}

/// Bytes of the longest name, and the zero behind it.
const ROOM: usize = 129;

/// A C string on the stack: to tell of memory is to take none.
fn with_text(text: &str, tell: fn(*const u8)) {
    let mut length = text.len().min(ROOM - 1);
    while !text.is_char_boundary(length) {
        length -= 1;
    }
    let mut bytes = [0; ROOM];
    bytes[..length].copy_from_slice(&text.as_bytes()[..length]);
    tell(bytes.as_ptr());
}

#[cfg(feature = "linked")]
mod functions {
    mod all {
        extern "C" {
            pub fn memlog_mark(name: *const u8);
            pub fn memlog_snapshot();
            pub fn memlog_sync();
            pub fn memlog_name_thread(name: *const u8);
            pub fn memlog_is_recording() -> i32;
        }
    }

    // SAFETY of each: memlog.h's, and names are C strings.
    pub fn mark(name: *const u8) {
        unsafe { all::memlog_mark(name) }
    }
    pub fn snapshot() {
        unsafe { all::memlog_snapshot() }
    }
    pub fn sync() {
        unsafe { all::memlog_sync() }
    }
    pub fn name_thread(name: *const u8) {
        unsafe { all::memlog_name_thread(name) }
    }
    pub fn is_recording() -> i32 {
        unsafe { all::memlog_is_recording() }
    }
}

#[cfg(not(feature = "linked"))]
mod functions {
    use std::mem::transmute;
    use std::sync::atomic::{AtomicUsize, Ordering};

    extern "C" {
        fn dlsym(handle: *mut u8, name: *const u8) -> *mut u8;
    }

    /// A function that may be there: 0 before it was looked for, 1 if it is not.
    struct Function {
        name: &'static str,
        address: AtomicUsize,
    }

    impl Function {
        /// `name` ends in a zero.
        const fn new(name: &'static str) -> Self {
            let address = AtomicUsize::new(0);
            Self { name, address }
        }

        fn find(&self) -> Option<usize> {
            let mut address = self.address.load(Ordering::Relaxed);
            if address == 0 {
                // SAFETY: a null handle stands for all that is loaded.
                let found = unsafe { dlsym(std::ptr::null_mut(), self.name.as_ptr()) };
                address = (found as usize).max(1);
                self.address.store(address, Ordering::Relaxed);
            }
            (address != 1).then_some(address)
        }
    }

    // SAFETY of each: the types are memlog.h's, and names are C strings.
    fn call(function: &Function) {
        if let Some(address) = function.find() {
            unsafe { transmute::<usize, extern "C" fn()>(address)() }
        }
    }
    fn call_with(function: &Function, name: *const u8) {
        if let Some(address) = function.find() {
            unsafe { transmute::<usize, extern "C" fn(*const u8)>(address)(name) }
        }
    }

    pub fn mark(name: *const u8) {
        static IT: Function = Function::new("memlog_mark\0");
        call_with(&IT, name);
    }
    pub fn snapshot() {
        static IT: Function = Function::new("memlog_snapshot\0");
        call(&IT);
    }
    pub fn sync() {
        static IT: Function = Function::new("memlog_sync\0");
        call(&IT);
    }
    pub fn name_thread(name: *const u8) {
        static IT: Function = Function::new("memlog_name_thread\0");
        call_with(&IT, name);
    }
    pub fn is_recording() -> i32 {
        static IT: Function = Function::new("memlog_is_recording\0");
        match IT.find() {
            Some(address) => unsafe { transmute::<usize, extern "C" fn() -> i32>(address)() },
            None => 0,
        }
    }
}
