//! A secret that shows itself only when it is asked to.

use std::fmt;
use std::sync::{Arc, Weak};

/// A password, key or token. It has no `Display`, no `Serialize`, and its `Debug` says nothing.
///
/// ```compile_fail,E0277
/// println!("{}", toolcrib_core::Secret::new("t0k3n"));
/// ```
///
/// ```compile_fail,E0277
/// serde_json::json!(toolcrib_core::Secret::new("t0k3n"));
/// ```
///
/// ```
/// assert_eq!(format!("{:?}", toolcrib_core::Secret::new("t0k3n")), "[secret]");
/// ```
#[derive(Clone, PartialEq, Eq, Hash)]
pub struct Secret(Arc<str>);

impl Secret {
    pub fn new(secret: impl Into<Arc<str>>) -> Self {
        Self(secret.into())
    }

    /// The secret itself: for the one place that sends it.
    pub fn expose(&self) -> &str {
        &self.0
    }

    /// Tells whether this or a clone of it is still there, and keeps neither.
    pub(crate) fn holder(&self) -> Weak<str> {
        Arc::downgrade(&self.0)
    }

    pub(crate) fn is_held_by(&self, holder: &Weak<str>) -> bool {
        std::ptr::addr_eq(Arc::as_ptr(&self.0), holder.as_ptr())
    }
}

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("[secret]")
    }
}
