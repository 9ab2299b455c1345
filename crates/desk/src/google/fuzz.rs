//! The readers of Google's answers, for the fuzz targets.

use http::{HeaderMap, Method, StatusCode};
use toolcrib_core::Secrets;

use super::calendar::{Key, WiredEvent};
use super::error::refused;
use super::mail::{Labels, WiredMessage};
use super::tasks::WiredTask;
use crate::backend::{Event, Fault, MessageHead, Task};

/// An event in an answer, as it is told; `None`: it is none.
pub fn event(answer: &[u8]) -> Option<Result<Event, Fault>> {
    let wired: WiredEvent = serde_json::from_slice(answer).ok()?;
    Some(wired.event("team@example.org", "anna@example.org", None))
}

/// The same of a task.
pub fn task(answer: &[u8]) -> Option<Result<Task, Fault>> {
    let wired: WiredTask = serde_json::from_slice(answer).ok()?;
    Some(wired.task("list"))
}

/// The same of a message without its text.
pub fn message(answer: &[u8]) -> Option<Result<MessageHead, Fault>> {
    let wired: WiredMessage = serde_json::from_slice(answer).ok()?;
    Some(wired.head(&Labels::default()))
}

/// What a refusal means.
pub fn refusal(status: u16, body: &[u8]) -> Option<Fault> {
    let status = StatusCode::from_u16(status).ok()?;
    let about_us = ("sign in again", &Secrets::default());
    Some(refused(&Method::GET, status, &HeaderMap::new(), body, about_us))
}

/// A cursor, written again as it was read.
pub fn cursor(text: &str) -> Option<String> {
    Key::read(text).ok().map(|key| key.to_string())
}
