//! Which functions are known, how sure that is, and which of other files never
//! return.

/// How a function's beginning is known; the surest first.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Class {
    /// Others may use it by its name.
    Exported,
    /// The file is begun or ended there.
    Entry,
    /// It is called, by code that is known.
    Called,
    /// Its address is taken: it may be any place of code.
    Pointed,
}

pub const CLASSES: [Class; 4] = [Class::Exported, Class::Entry, Class::Called, Class::Pointed];

/// Functions of C libraries and of compilers' libraries.
const NEVER_RETURN: [&str; 45] = [
    "abort",
    "exit",
    "_exit",
    "_Exit",
    "quick_exit",
    "__stack_chk_fail",
    "__stack_chk_fail_local",
    "__assert_fail",
    "__assert_perror_fail",
    "__assert",
    "__chk_fail",
    "__fortify_fail",
    "longjmp",
    "_longjmp",
    "siglongjmp",
    "__longjmp_chk",
    "__libc_longjmp",
    "__libc_siglongjmp",
    "err",
    "errx",
    "verr",
    "verrx",
    "pthread_exit",
    "thrd_exit",
    "__libc_start_main",
    "_Unwind_Resume",
    "__cxa_throw",
    "__cxa_rethrow",
    "__cxa_bad_cast",
    "__cxa_bad_typeid",
    "__cxa_throw_bad_array_new_length",
    "__cxa_throw_bad_array_length",
    "__cxa_call_unexpected",
    "__cxa_call_terminate",
    "__cxa_pure_virtual",
    "__cxa_deleted_virtual",
    "__libc_fatal",
    "__gnat_raise_exception",
    "_ZSt9terminatev",
    "_ZSt10unexpectedv",
    "g_assertion_message",
    "g_assertion_message_expr",
    "__clang_call_terminate",
    "_ZSt17rethrow_exceptionNSt15__exception_ptr13exception_ptrE",
    "rust_begin_unwind",
];

/// Whether a function is known by its name to never return.
pub fn never_returns(name: &str) -> bool {
    let is_thrower = name.strip_prefix("_ZSt").is_some_and(|rest| {
        rest.trim_start_matches(|letter: char| letter.is_ascii_digit())
            .starts_with("__throw_")
    });
    is_thrower || NEVER_RETURN.contains(&name)
}
