//! Which threads read the output of a child for their own calls.

use std::cell::Cell;

use tokio::runtime::Handle;

thread_local! {
    static READS: Cell<bool> = const { Cell::new(false) };
}

/// Lets calls that are made on this thread have the output of a child read by it, for as long as
/// they come one after the other.
///
/// For a thread that does nothing but drive a runtime of its own, with IO, until that ends: what is
/// read there for others waits while nobody drives it.
pub fn enable_local_stdout_reader() {
    READS.set(true);
}

/// The runtime of a thread that reads for its calls.
pub(crate) fn reader_here() -> Option<Handle> {
    READS.get().then(Handle::try_current)?.ok()
}
