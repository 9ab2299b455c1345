//! The readers of Google's answers, for the fuzz targets.

use http::{HeaderMap, Method, StatusCode};
use toolcrib_core::Secrets;

use super::calendar::EventPosition;
use super::error::refused;
use super::mail::GmailLabels;
use super::tasks::GoogleTask;
use crate::backend::{BackendError, CalendarEvent, MessageHead, Task};
use crate::google::calendar::GoogleEvent;
use crate::google::mail::GmailMessage;

/// An event in an answer, as it is told; `None`: it is none.
pub fn event(answer: &[u8]) -> Option<Result<CalendarEvent, BackendError>> {
    let wired: GoogleEvent = serde_json::from_slice(answer).ok()?;
    Some(wired.event("team@example.org", "anna@example.org", None))
}

/// The same of a task.
pub fn task(answer: &[u8]) -> Option<Result<Task, BackendError>> {
    let wired: GoogleTask = serde_json::from_slice(answer).ok()?;
    Some(wired.task("list"))
}

/// The same of a message without its text.
pub fn message(answer: &[u8]) -> Option<Result<MessageHead, BackendError>> {
    let wired: GmailMessage = serde_json::from_slice(answer).ok()?;
    Some(wired.head(&GmailLabels::default()))
}

/// What a refusal means.
pub fn refusal(status: u16, body: &[u8]) -> Option<BackendError> {
    let status = StatusCode::from_u16(status).ok()?;
    let about_us = ("sign in again", &Secrets::default());
    Some(refused(&Method::GET, status, &HeaderMap::new(), body, about_us))
}

/// A cursor, written again as it was read.
pub fn cursor(text: &str) -> Option<String> {
    EventPosition::read(text).ok().map(|key| key.to_string())
}
