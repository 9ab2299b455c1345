//! Moments at which a test may end the process or hold it up; a release build knows none of them.

#[cfg(debug_assertions)]
static WATCH: std::sync::OnceLock<fn(&'static str)> = std::sync::OnceLock::new();

/// The process has come this far.
#[inline]
pub fn reached(moment: &'static str) {
    #[cfg(debug_assertions)]
    if let Some(watch) = WATCH.get() {
        watch(moment);
    }
    #[cfg(not(debug_assertions))]
    let _ = moment;
}

/// Has each moment of this process told, once and for all.
#[cfg(debug_assertions)]
pub fn watch(watch: fn(&'static str)) {
    // Whoever comes second hears nothing.
    let _ = WATCH.set(watch);
}
