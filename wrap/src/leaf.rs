//! What the two shapes of the recorder have in common at their very end.

/// The first and the last words of an image, the doors, and the panic that
/// cannot happen. For `cdylib` and `staticlib`, which are nothing else.
#[macro_export]
macro_rules! leaf {
    () => {
        /// Runs at the latest when the image starts, if no call came before: a
        /// program that never allocates has a log that says so.
        extern "C" fn init() {
            $crate::process::start::wake();
            $crate::hooks::switches::watch_signals();
        }

        /// Runs when the image ends by exit.
        extern "C" fn fini() {
            $crate::hooks::notices::finish(1);
        }

        #[used]
        #[unsafe(link_section = ".init_array")]
        static INIT: extern "C" fn() = init;

        #[used]
        #[unsafe(link_section = ".fini_array")]
        static FINI: extern "C" fn() = fini;

        #[link(name = "memlog_doors", kind = "static")]
        unsafe extern "C" {}

        unsafe extern "C" {
            /// Defined nowhere: a panic that the optimiser could not rule out
            /// is an error of the linker.
            fn memlog_can_panic() -> !;
        }

        #[panic_handler]
        fn panic(_: &core::panic::PanicInfo) -> ! {
            // SAFETY: never linked.
            unsafe { memlog_can_panic() }
        }
    };
}
