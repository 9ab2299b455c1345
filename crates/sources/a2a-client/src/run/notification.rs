//! An agent that does not stream tells by a request to us that a task has moved on. Nothing that it
//! says there is believed: the task is looked at.

use std::collections::HashMap;
use std::sync::{Arc, LazyLock, Mutex, MutexGuard, PoisonError};

use tokio::sync::Notify;
use url::Url;
use uuid::Uuid;

/// Where agents tell it, behind our own address; what follows it is for
/// [`notified`].
pub const NOTIFIED: &str = "/a2a-notified/";

/// The calls that wait for word, by names that nobody can guess.
static WAITING: LazyLock<Mutex<HashMap<String, Arc<Notify>>>> = LazyLock::new(Mutex::default);

fn waiting() -> MutexGuard<'static, HashMap<String, Arc<Notify>>> {
    WAITING.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Has the call look at its task that waits under this name. Whether there is one.
pub fn notified(name: &str) -> bool {
    let call = waiting().get(name).cloned();
    call.inspect(|call| call.notify_one()).is_some()
}

/// The place of one call; given back when it is dropped.
pub(super) struct Notification {
    name: String,
    pub(super) url: String,
    heard: Arc<Notify>,
}

impl Notification {
    /// `base`: our own address.
    pub(super) fn at(base: &Url) -> Self {
        let name = Uuid::new_v4().simple().to_string();
        let base = base.as_str().trim_end_matches('/');
        let (url, heard) = (format!("{base}{NOTIFIED}{name}"), Arc::<Notify>::default());
        waiting().insert(name.clone(), Arc::clone(&heard));
        Self { name, url, heard }
    }

    pub(super) async fn heard(&self) {
        self.heard.notified().await;
    }
}

impl Drop for Notification {
    fn drop(&mut self) {
        waiting().remove(&self.name);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn word_reaches_the_call_that_waits_and_nobody_after_it() {
        let call = Notification::at(&Url::parse("https://crib.example/below/").unwrap());
        let name = call.url.strip_prefix("https://crib.example/below/a2a-notified/").unwrap();
        assert!(!notified("another"));
        assert!(notified(name));
        call.heard().await;
        let name = name.to_owned();
        drop(call);
        assert!(!notified(&name));
    }
}
