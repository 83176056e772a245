//! HOT PATH: the functions that compiled Lua code calls through LuaJIT's FFI. Budget: a few nanoseconds
//! above what they do.
//!
//! They act on the worker of the thread that calls them and take numbers, or text as a pointer and a
//! length. None of them calls back into Lua, which compiled code would not survive, and none panics:
//! a call that cannot be done does nothing.
#![expect(
    unsafe_code,
    reason = "text comes from LuaJIT as pointer and length; both are a Lua string's own, which lives \
              while the call lasts, because the caller holds it"
)]

use std::cell::RefCell;
use std::ffi::c_void;

use crate::tally::Counted;
use crate::worker::{FAILED, Rows, Worker};

thread_local! {
    static WORKER: RefCell<Option<Box<Worker>>> = const { RefCell::new(None) };
}

/// Makes a worker the one of this thread.
pub(crate) fn install(worker: Worker) {
    WORKER.with_borrow_mut(|slot| *slot = Some(Box::new(worker)));
}

/// Takes the worker of this thread, with its connections, which close.
pub(crate) fn retire() {
    let worker = WORKER.with_borrow_mut(Option::take);
    drop(worker);
}

/// Does something with the worker of this thread; `otherwise` without one.
#[inline]
pub(super) fn with<T>(otherwise: T, act: impl FnOnce(&mut Worker) -> T) -> T {
    WORKER.with(|slot| match slot.try_borrow_mut() {
        Ok(mut slot) => match slot.as_deref_mut() {
            Some(worker) => act(worker),
            None => otherwise,
        },
        Err(_) => otherwise,
    })
}

/// The bytes of a Lua string.
#[inline]
fn bytes<'a>(text: *const u8, length: usize) -> &'a [u8] {
    if text.is_null() {
        return &[];
    }
    // SAFETY: see the head of this file; callers of these functions in `core.lua` and `sql.lua` pass a
    // string and its own length, and nothing keeps the slice beyond the call.
    unsafe { std::slice::from_raw_parts(text, length) }
}

#[inline]
fn index(number: i32) -> usize {
    usize::try_from(number).unwrap_or(usize::MAX)
}

extern "C" fn begin() -> i32 {
    with(0, |worker| i32::from(worker.begin_event()))
}

extern "C" fn end_event() {
    with((), Worker::end_event);
}

extern "C" fn restart_clock() {
    with((), Worker::restart_clock);
}

extern "C" fn give_up() {
    with((), Worker::give_up_event);
}

/// Closes a connection that the script has lost sight of.
extern "C" fn leave(link: i32) {
    with((), |worker| {
        worker.disconnect(index(link));
    });
}

extern "C" fn is_over() -> i32 {
    with(1, |worker| i32::from(worker.control.is_over()))
}

/// Counts what a script says it did; the numbers are those of `SB_CNT_...` in `core.lua`. Events (3) are counted
/// as they end.
extern "C" fn count(what: i32) {
    with((), |worker| match what {
        1 => worker.tally.count(Counted::Read),
        2 => worker.tally.count(Counted::Write),
        3 => {}
        4 => worker.tally.count_error(),
        5 => worker.tally.count_reconnect(),
        _ => worker.tally.count(Counted::Other),
    });
}

extern "C" fn draw(low: f64, high: f64, kind: i32) -> f64 {
    with(low, |worker| worker.random.draw(kind, low, high))
}

extern "C" fn unit() -> f64 {
    with(0.0, |worker| worker.random.unit())
}

extern "C" fn bits() -> u64 {
    with(0, |worker| worker.random.bits())
}

extern "C" fn unique() -> f64 {
    with(0.0, |worker| worker.unique())
}

extern "C" fn unique_between(first: f64, n_values: f64) -> f64 {
    with(0.0, |worker| worker.unique_between(first, n_values))
}

/// A random text as long as its format; it lies in the worker until the next call.
extern "C" fn random_text(format: *const u8, length: usize) -> *const u8 {
    with(format, |worker| {
        let mut text = std::mem::take(&mut worker.text);
        text.clear();
        worker.random.push_text(bytes(format, length), &mut text);
        worker.text = text;
        worker.text.as_ptr()
    })
}

extern "C" fn query(link: i32, sql: *const u8, length: usize) -> Rows {
    with(FAILED, |worker| worker.query(index(link), bytes(sql, length)))
}

extern "C" fn execute(link: i32, statement: i32) -> Rows {
    with(FAILED, |worker| worker.execute(index(link), index(statement)))
}

extern "C" fn set_int(slot: u32, value: i64) {
    with((), |worker| worker.set_int(slot, value));
}

extern "C" fn set_null(slot: u32) {
    with((), |worker| worker.set_null(slot));
}

extern "C" fn set_text(slot: u32, text: *const u8, length: usize) {
    with((), |worker| worker.set_text(slot, bytes(text, length)));
}

extern "C" fn set_random_text(slot: u32, format: *const u8, length: usize) {
    with((), |worker| worker.set_random_text(slot, bytes(format, length)));
}

extern "C" fn bulk_add(link: i32, row: *const u8, length: usize) -> Rows {
    with(FAILED, |worker| worker.bulk_add(index(link), bytes(row, length)))
}

extern "C" fn n_columns(link: i32) -> i32 {
    with(0, |worker| i32::try_from(worker.n_columns(index(link))).unwrap_or(i32::MAX))
}

extern "C" fn had_result(link: i32) -> i32 {
    with(0, |worker| i32::from(worker.had_result(index(link))))
}

extern "C" fn fetch_row(link: i32) -> i32 {
    with(-2, |worker| worker.fetch_row(index(link)))
}

/// A value of the row that was fetched last; it lies in the worker until the next fetch.
extern "C" fn value(column: i32) -> *const u8 {
    with(std::ptr::null(), |worker| {
        worker.row.value(index(column)).map_or(std::ptr::null(), <[u8]>::as_ptr)
    })
}

/// Its length, -1 for NULL.
extern "C" fn value_len(column: i32) -> isize {
    with(-1, |worker| {
        let value = worker.row.value(index(column));
        value.map_or(-1, |value| isize::try_from(value.len()).unwrap_or(isize::MAX))
    })
}

/// The functions of this file by the names under which Lua casts them.
pub(super) fn pointers() -> [(&'static str, *mut c_void); 25] {
    /// A pointer to a function.
    macro_rules! pointer {
        ($name:ident) => {
            (stringify!($name), $name as *const () as *mut c_void)
        };
    }
    [
        pointer!(begin),
        pointer!(end_event),
        pointer!(restart_clock),
        pointer!(give_up),
        pointer!(leave),
        pointer!(is_over),
        pointer!(count),
        pointer!(draw),
        pointer!(unit),
        pointer!(bits),
        pointer!(unique),
        pointer!(unique_between),
        pointer!(random_text),
        pointer!(query),
        pointer!(execute),
        pointer!(set_int),
        pointer!(set_null),
        pointer!(set_text),
        pointer!(set_random_text),
        pointer!(bulk_add),
        pointer!(n_columns),
        pointer!(had_result),
        pointer!(fetch_row),
        pointer!(value),
        pointer!(value_len),
    ]
}

/// Makes a Lua state with all of Lua's libraries, LuaJIT's FFI and `debug` included, which scripts use.
pub(super) fn new_state() -> mlua::Lua {
    // SAFETY: scripts are programs that the user runs, as sysbench runs them: through the FFI they can
    // do what any program can. Nothing of this process is promised to withstand them.
    unsafe { mlua::Lua::unsafe_new() }
}
