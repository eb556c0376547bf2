//! What a Rust program may say to memlog, a profiler of its memory.
//!
//! ```
//! memlog_marks::name_thread("loader"); // a name for this thread, of 32 bytes at most
//! memlog_marks::mark("loaded"); // a name for this moment: memlog report --at 'mark loaded'
//! memlog_marks::snapshot(); // the same, called snapshot 1, 2, ...
//! {
//!     let _scope = memlog_marks::scope("load"); // a tag: memlog table --by scope
//! }
//! memlog_marks::sync(); // all that was recorded is in the log's file now
//! assert!(!memlog_marks::is_recording());
//! ```
//!
//! Where the program runs without memlog nothing happens, and a call costs a test of
//! one word. A program that is linked statically with `memlog_s.a` sets the feature
//! `linked`. `memlog.h` says more.

/// Gives this moment a name, of 128 bytes at most.
pub fn mark(name: &str) {
    if let Some(mark) = functions::memlog_mark() {
        with_text(name, mark);
    }
}

/// A moment to be reported, called snapshot 1, 2, ...
pub fn snapshot() {
    if let Some(snapshot) = functions::memlog_snapshot() {
        // SAFETY: it may be called at any time.
        unsafe { snapshot() }
    }
}

/// What was recorded until now is in the log's file when this returns.
pub fn sync() {
    if let Some(sync) = functions::memlog_sync() {
        // SAFETY: it may be called at any time.
        unsafe { sync() }
    }
}

/// Records from now on.
pub fn start() {
    if let Some(start) = functions::memlog_start() {
        // SAFETY: it may be called at any time.
        unsafe { start() }
    }
}

/// Records nothing from now on, until [`start`].
pub fn stop() {
    if let Some(stop) = functions::memlog_stop() {
        // SAFETY: it may be called at any time.
        unsafe { stop() }
    }
}

/// The calling thread has this name from now on.
pub fn name_thread(name: &str) {
    if let Some(name_thread) = functions::memlog_name_thread() {
        with_text(name, name_thread);
    }
}

/// What the calling thread allocates has this tag, until the value is dropped. Scopes may
/// stand within each other: `load/parse`.
#[must_use = "the scope ends where this is dropped"]
pub fn scope(name: &str) -> Scope {
    if let Some(begin) = functions::memlog_scope_begin() {
        with_text(name, begin);
    }
    Scope(std::marker::PhantomData)
}

/// A scope of the thread that began it.
pub struct Scope(std::marker::PhantomData<*const u8>);

impl Drop for Scope {
    fn drop(&mut self) {
        if let Some(end) = functions::memlog_scope_end() {
            // SAFETY: it may be called at any time.
            unsafe { end() }
        }
    }
}

/// Whether events are recorded now.
pub fn is_recording() -> bool {
    // SAFETY: it may be called at any time.
    functions::memlog_is_recording().map_or(false, |asked| unsafe { asked() } != 0)
}

type OfNothing = unsafe extern "C" fn();
type OfText = unsafe extern "C" fn(*const u8);
type Asked = unsafe extern "C" fn() -> i32;

/// Bytes of the longest name, and the zero behind it.
const ROOM: usize = 129;

/// A C string on the stack: to tell of memory is to take none.
fn with_text(text: &str, tell: OfText) {
    let mut length = text.len().min(ROOM - 1);
    while !text.is_char_boundary(length) {
        length -= 1;
    }
    let mut bytes = [0; ROOM];
    bytes[..length].copy_from_slice(&text.as_bytes()[..length]);
    // SAFETY: what is told is a C string, and it is not kept.
    unsafe { tell(bytes.as_ptr()) }
}

/// The functions of memlog.h, those that there are.
mod functions {
    use super::{Asked, OfNothing, OfText};

    macro_rules! functions {
        ($($name:ident: $kind:ident($($argument:ty)?) $(-> $result:ty)?;)*) => {$(
            #[cfg(feature = "linked")]
            pub fn $name() -> Option<$kind> {
                extern "C" {
                    fn $name($(_: $argument)?) $(-> $result)?;
                }
                Some($name)
            }

            #[cfg(not(feature = "linked"))]
            pub fn $name() -> Option<$kind> {
                static IT: super::found::Function =
                    super::found::Function::new(concat!(stringify!($name), "\0"));
                // SAFETY: the function of this name has this type in memlog.h.
                IT.find().map(|address| unsafe { std::mem::transmute::<usize, $kind>(address) })
            }
        )*};
    }

    functions! {
        memlog_mark: OfText(*const u8);
        memlog_snapshot: OfNothing();
        memlog_sync: OfNothing();
        memlog_start: OfNothing();
        memlog_stop: OfNothing();
        memlog_name_thread: OfText(*const u8);
        memlog_is_recording: Asked() -> i32;
        memlog_scope_begin: OfText(*const u8);
        memlog_scope_end: OfNothing();
    }
}

#[cfg(not(feature = "linked"))]
mod found {
    use std::sync::atomic::{AtomicUsize, Ordering};

    extern "C" {
        fn dlsym(handle: *mut u8, name: *const u8) -> *mut u8;
    }

    /// A function that may be there: 0 before it was looked for, 1 if it is not.
    pub struct Function {
        name: &'static str,
        address: AtomicUsize,
    }

    impl Function {
        /// `name` ends in a zero.
        pub const fn new(name: &'static str) -> Self {
            let address = AtomicUsize::new(0);
            Self { name, address }
        }

        pub fn find(&self) -> Option<usize> {
            let mut address = self.address.load(Ordering::Relaxed);
            if address == 0 {
                // SAFETY: a null handle stands for all that is loaded; the name is a C string.
                let found = unsafe { dlsym(std::ptr::null_mut(), self.name.as_ptr()) };
                address = (found as usize).max(1);
                self.address.store(address, Ordering::Relaxed);
            }
            (address != 1).then_some(address)
        }
    }
}
