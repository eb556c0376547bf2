//! What no emulator does, done by a kernel of the tests' own: a link's text with
//! no length, a figure of memory that falls, a heap that a mapping freezes.
#![allow(unsafe_code)]
//! # Safety
//! The fake writes where the call that it stands for would.

use super::kernel::{Kernel, KernelFigures, Size};
use super::memory::{Arena, BYTES, PAGE};
use super::{Cnk, RECENT};
use crate::platform::sys::{Errno, Fd, Sys};
use crate::platform::text::Text;
use std::cell::{Cell, RefCell};
use std::sync::atomic::AtomicU64;

/// The calls that do something on CNK, by their names here.
const LIST: &str = include_str!("calls.txt");

/// A kernel that answers as a test tells it to.
struct Fake;
type Tests = Cnk<Fake>;

#[derive(Default)]
struct Answers {
    /// What readlink puts into the buffer, and the length that it says.
    link: (Vec<u8>, usize),
    max_rss_kb: i64,
    microseconds: i64,
    /// Errors of calls by number.
    errors: Vec<(libc::c_long, i32)>,
    /// Pages below this cannot be read.
    readable_from: usize,
    sizes: Vec<(Size, u64)>,
    calls: Vec<(libc::c_long, [usize; 6])>,
}

thread_local! {
    static ANSWERS: RefCell<Answers> = RefCell::default();
    static TIME_BASE: Cell<u64> = const { Cell::new(0) };
    static FIGURES: &'static KernelFigures = Box::leak(Box::new(no_figures()));
    static ARENA: &'static Arena = zeroed_arena();
}

fn no_figures() -> KernelFigures {
    let [peak_kb, clock_ns, read_at] = [const { AtomicU64::new(0) }; 3];
    KernelFigures {
        peak_kb,
        clock_ns,
        read_at,
    }
}

fn zeroed_arena() -> &'static Arena {
    let layout = std::alloc::Layout::new::<Arena>();
    // SAFETY: zeros are an arena of which nothing is taken, and it stays.
    unsafe { &*std::alloc::alloc_zeroed(layout).cast::<Arena>() }
}

fn with<R>(work: impl FnOnce(&mut Answers) -> R) -> R {
    ANSWERS.with(|answers| work(&mut answers.borrow_mut()))
}

impl Kernel for Fake {
    fn call(number: libc::c_long, arguments: [usize; 6]) -> Result<usize, Errno> {
        with(|answers| {
            answers.calls.push((number, arguments));
            if let Some(&(_, error)) = answers.errors.iter().find(|(of, _)| *of == number) {
                return Err(Errno(error));
            }
            let [first, second, third, ..] = arguments;
            match number {
                libc::SYS_readlink => {
                    let (text, said) = &answers.link;
                    let count = text.len().min(third);
                    // SAFETY: a buffer of so many bytes.
                    unsafe { std::ptr::copy(text.as_ptr(), second as *mut u8, count) };
                    Ok(*said)
                }
                libc::SYS_getrusage => {
                    // SAFETY: a rusage.
                    unsafe { (*(second as *mut libc::rusage)).ru_maxrss = answers.max_rss_kb };
                    Ok(0)
                }
                libc::SYS_gettimeofday => {
                    // SAFETY: a timeval.
                    unsafe { (*(first as *mut libc::timeval)).tv_usec = answers.microseconds };
                    Ok(0)
                }
                libc::SYS_rt_sigprocmask if second < answers.readable_from => {
                    Err(Errno(libc::EFAULT))
                }
                libc::SYS_rt_sigprocmask => Err(Errno(libc::EINVAL)),
                _ => Ok(0),
            }
        })
    }
    fn time_base() -> u64 {
        TIME_BASE.get()
    }
    fn rank() -> Option<u64> {
        Some(17)
    }
    fn job() -> Option<u64> {
        Some(0)
    }
    fn memory_size(which: Size) -> Option<u64> {
        with(|answers| {
            let told = answers.sizes.iter().find(|(size, _)| *size == which);
            told.map(|told| told.1)
        })
    }
    fn figures() -> &'static KernelFigures {
        FIGURES.with(|figures| *figures)
    }
    fn arena() -> &'static Arena {
        ARENA.with(|arena| *arena)
    }
}

#[test]
fn a_link_counts_by_its_text_where_no_length_is_said() {
    let mut into = [7; 64];
    with(|answers| answers.link = (b"/gpfs/home/a.out".to_vec(), 0));
    assert_eq!(Tests::read_link(b"/proc/self/exe\0", &mut into), 16);
    assert_eq!(&into[..17], b"/gpfs/home/a.out\0");
    // As elsewhere.
    with(|answers| answers.link.1 = 5);
    assert_eq!(Tests::read_link(b"/proc/self/exe\0", &mut into), 5);
    // Longer than the buffer, and still no length.
    with(|answers| answers.link = (vec![b'x'; 100], 0));
    assert_eq!(Tests::read_link(b"/proc/self/exe\0", &mut into), 64);
    with(|answers| answers.errors.push((libc::SYS_readlink, libc::ENOENT)));
    assert_eq!(Tests::read_link(b"/proc/self/exe\0", &mut into), 0);
}

#[test]
fn a_figure_of_memory_that_falls_is_no_peak() {
    let peak = |now| {
        with(|answers| answers.max_rss_kb = now);
        Tests::usage().max_rss_kb
    };
    assert_eq!([100, 900, 400, 500].map(peak), [100, 900, 900, 900]);
    assert_eq!(Tests::rss_now_kb(), 500);
    assert_eq!(Tests::high_water_kb(), 900);
    // The heap has been 1000 KiB larger than it is: 500 now, 1500 then.
    let sizes = [(Size::Heap, 200 << 10), (Size::HeapMost, 1200 << 10)];
    with(|answers| answers.sizes = sizes.to_vec());
    assert_eq!(peak(500), 1500);
    let mut words = Text::new();
    Tests::last_words(&mut words);
    assert_eq!(
        words.get(),
        b"the kernel says at the end: heap at most 1200 KiB"
    );
}

#[test]
fn memory_is_zeroed_and_whole_pages_until_there_is_none() {
    let mut last = 0;
    for bytes in [1, PAGE, PAGE + 1, 65536] {
        let at = Tests::memory(bytes);
        assert!(!at.is_null() && (at as usize).is_multiple_of(PAGE) && at as usize > last);
        // SAFETY: a piece of at least so many bytes.
        let piece = unsafe { std::slice::from_raw_parts_mut(at, bytes) };
        assert!(piece.iter().all(|&byte| byte == 0));
        piece.fill(0xab);
        last = at as usize + bytes - 1;
    }
    assert!(Tests::memory(BYTES).is_null() && Tests::memory(usize::MAX).is_null());
    let left = BYTES - Fake::arena().used();
    assert!(!Tests::memory(left).is_null());
    assert!(Tests::memory(1).is_null());
}

#[test]
fn what_is_not_there_is_asked_of_the_kernel_before_it_is_read() {
    let page = vec![5u8; 3 * PAGE];
    let at = (page.as_ptr() as usize).next_multiple_of(PAGE);
    with(|answers| answers.readable_from = at);
    let mut into = [0; 16];
    assert!(Tests::read_memory(at as u64 + PAGE as u64 - 8, &mut into));
    assert_eq!(into, [5; 16]);
    assert!(!Tests::read_memory(at as u64 - 8, &mut into));
    let high = (at + PAGE + 100) as u64;
    assert_eq!(
        Tests::readable_below(high, 1000),
        at as u64 + PAGE as u64 + 100 - 1000
    );
    assert_eq!(Tests::readable_below(high, 3 * PAGE as u64), at as u64);
    assert_eq!(Tests::readable_below(at as u64, 8), at as u64);
}

#[test]
fn the_clock_is_read_once_a_while_and_never_falls() {
    let read = |base, microseconds| {
        TIME_BASE.set(base);
        with(|answers| answers.microseconds = microseconds);
        Tests::ticks_ns()
    };
    // Without a time base it is read each time.
    assert_eq!(
        [(0, 10), (0, 20), (0, 15)].map(|(b, us)| read(b, us)),
        [10_000, 20_000, 20_000]
    );
    assert_eq!(read(1000, 30), 30_000);
    assert_eq!(read(1000 + RECENT - 1, 70), 30_000);
    assert_eq!(read(1000 + RECENT, 80), 80_000);
}

#[test]
fn files_that_are_refused_are_errors_and_no_more() {
    with(|answers| {
        answers.errors = [
            (libc::SYS_open, libc::EROFS),
            (libc::SYS_pwrite64, libc::ENOSPC),
            (libc::SYS_stat, libc::ENOENT),
            (libc::SYS_fstat, libc::EIO),
            (super::GET_LIMIT, libc::ENOSYS),
        ]
        .to_vec();
    });
    assert_eq!(Tests::create(b"/a\0").err(), Some(Errno(libc::EROFS)));
    assert_eq!(
        Tests::open(b"/proc/self/maps\0").err(),
        Some(Errno(libc::EROFS))
    );
    assert_eq!(Tests::write_at(Fd(3), b"abc", 0), Err(Errno(libc::ENOSPC)));
    assert_eq!(Tests::identity(Fd(3)), Err(Errno(libc::EIO)));
    assert!(!Tests::is_folder(b"/proc/self\0"));
    assert_eq!(Tests::file_limit(), libc::RLIM_INFINITY);
    let window = Tests::map_window(Fd(3), 0, 1 << 16, true);
    assert_eq!(window, Err(Errno(libc::ENOSYS)));
    assert_eq!((Tests::rank(), Tests::job()), (Some(17), None));
}

/// Calls every function of the platform.
fn call_all() {
    let mut bytes = [0; 64];
    let piece = Tests::memory(PAGE);
    // SAFETY: a piece of the arena that nobody uses.
    unsafe {
        Tests::zero(piece, PAGE);
        Tests::memory_over(piece, PAGE);
        Tests::make_writable(piece, PAGE, true, false);
        Tests::wipe_on_fork(piece, PAGE);
        Tests::unmap(piece, PAGE);
    }
    let _ = Tests::memory_wiped_on_fork(1);
    let _ = Tests::create(b"/a\0");
    let _ = Tests::create_unnamed(b"/\0");
    let _ = Tests::give_name(Fd(3), b"/a\0");
    let _ = (Tests::open(b"/a\0"), Tests::open_log(b"/a\0"));
    let _ = Tests::read(Fd(3), &mut bytes);
    let _ = Tests::read_at(Fd(3), &mut bytes, 0);
    let _ = Tests::write_at(Fd(3), &bytes, 0);
    let _ = Tests::set_length(Fd(3), 0);
    let _ = Tests::map_window(Fd(3), 0, PAGE, true);
    let _ = Tests::identity(Fd(3));
    let _ = Tests::is_folder(b"/\0");
    let _ = Tests::file_limit();
    Tests::close(Fd(3));
    let _ = Tests::make_folder(b"/d\0");
    Tests::unlink(b"/a\0");
    Tests::relax();
    Tests::exit(0);
    let _ = Tests::read_memory(bytes.as_ptr() as u64, &mut [0; 8]);
    let _ = Tests::readable_below(bytes.as_ptr() as u64, 8);
    let _ = Tests::pid();
    let _ = Tests::parent_pid();
    let _ = Tests::tid();
    let _ = Tests::is_gone(1, 1);
    let _ = (Tests::usage(), Tests::rss_now_kb(), Tests::high_water_kb());
    let _ = Tests::wall_ns();
    let _ = Tests::ticks_ns();
    let _ = Tests::current_break();
    let _ = Tests::host(&mut bytes);
    let _ = Tests::working_directory(&mut bytes);
    let _ = Tests::read_link(b"/a\0", &mut bytes);
    let _ = Tests::has_others_rights();
    Tests::complain(b"\n");
    Tests::end_process(false);
    Tests::thread_name(&mut [0; 16]);
    assert!(!Tests::is_filtered());
}

/// The calls that they make are looked up in the list: none maps, and none
/// moves the break.
#[test]
fn no_call_is_off_the_list() {
    call_all();
    let allowed: Vec<libc::c_long> = LIST
        .lines()
        .filter(|line| !line.starts_with('#'))
        .filter_map(|line| line.split_whitespace().nth(1)?.parse().ok())
        .collect();
    let calls = with(|answers| std::mem::take(&mut answers.calls));
    assert!(
        calls.len() > 25 && allowed.len() > 80,
        "{} of {}",
        calls.len(),
        allowed.len()
    );
    for (number, arguments) in calls {
        assert!(allowed.contains(&number), "call {number}");
        assert_ne!(number, libc::SYS_mmap);
        assert!(number != libc::SYS_brk || arguments[0] == 0);
    }
}

/// What a rank pays, as doc/HPC.md says it: for a thread, and once.
#[cfg(memlog_cnk)]
#[test]
fn a_rank_pays_what_is_stated() {
    use crate::log::stream::Slot;
    let thread = size_of::<Slot>();
    println!(
        "thread {thread} recorder {}",
        size_of::<crate::process::recorder::Recorder>()
    );
    assert!(thread < 160 << 10, "{thread}");
    assert!(size_of::<crate::process::recorder::Recorder>() < 160 << 10);
}
