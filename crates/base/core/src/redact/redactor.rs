//! Knows secrets and masks them.

use std::borrow::Cow;
use std::fmt;
use std::ops::Range;

use aho_corasick::AhoCorasick;
use serde_json::{Map, Value};
use toolcrib_json::invisible::is_unseen;

use super::forms::{self, SecretForm};
use super::prefilter::Prefilter;
use super::secret::Secret;
use super::view::TextView;
use crate::outcome::ToolError;
use crate::outcome::content::{Content, Part, Reference};
use crate::outcome::refusal::RefusalReason;

/// What stands where a secret stood.
const MASK: &str = "[secret]";
/// Shorter secrets would be found in ordinary words.
const SHORTEST: usize = 6;

/// Knows secrets and masks them, also where they stand in base64, hex, percent-encoding or escaped
/// in JSON, and where letters that nobody sees stand among theirs. Without a secret it does nothing
/// and costs nothing.
#[derive(Default)]
pub struct Redactor(SearchScope);

#[derive(Default)]
enum SearchScope {
    #[default]
    Nothing,
    For {
        // In the order of the searcher's patterns.
        forms: Vec<SecretForm>,
        searcher: AhoCorasick,
        sieve: Prefilter,
        has_space: bool,
    },
    /// More secrets than can be searched for: nothing may pass.
    Everything,
}

impl Redactor {
    /// Secrets of fewer than six characters are left out; so is white space around one.
    pub fn new(secrets: impl IntoIterator<Item = Secret>) -> Self {
        let mut forms = Vec::new();
        let mut has_space = false;
        for secret in secrets {
            if Self::masks(&secret) {
                let secret = secret.expose().trim();
                has_space |= secret.contains(' ');
                forms.extend(forms::of(secret));
                // One of several lines is also found where its lines are broken otherwise.
                let bare = secret.replace(is_unseen, "");
                if bare.len() < secret.len() && bare.chars().count() >= SHORTEST {
                    forms.extend(forms::of(&bare));
                }
            }
        }
        if forms.is_empty() {
            return Self(SearchScope::Nothing);
        }
        let beginnings = forms.iter().map(SecretForm::beginning);
        let sieve = Prefilter::new(beginnings.clone());
        let searcher = AhoCorasick::new(beginnings);
        Self(searcher.map_or(SearchScope::Everything, |searcher| SearchScope::For {
            forms,
            searcher,
            sieve,
            has_space,
        }))
    }

    /// Whether a secret is long enough to be looked for.
    pub(super) fn masks(secret: &Secret) -> bool {
        secret.expose().trim().chars().count() >= SHORTEST
    }

    /// Whether there is nothing to look for.
    pub fn is_idle(&self) -> bool {
        matches!(self.0, SearchScope::Nothing)
    }

    pub fn text<'a>(&self, text: &'a str) -> Cow<'a, str> {
        let found = match &self.0 {
            SearchScope::Nothing => return Cow::Borrowed(text),
            SearchScope::Everything => return Cow::Borrowed(MASK),
            SearchScope::For { .. } => self.found(text),
        };
        if found.is_empty() {
            return Cow::Borrowed(text);
        }
        let mut masked = String::with_capacity(text.len());
        let mut done = 0;
        for range in found {
            let Some(kept) = text.get(done..range.start) else { return Cow::Borrowed(MASK) };
            masked.push_str(kept);
            masked.push_str(MASK);
            done = range.end;
        }
        masked.push_str(text.get(done..).unwrap_or_default());
        Cow::Owned(masked)
    }

    /// Strings, names of members and numbers, at any depth.
    pub fn value(&self, value: &mut Value) {
        if self.is_idle() {
            return;
        }
        let mut waiting = vec![value];
        while let Some(value) = waiting.pop() {
            match value {
                Value::String(text) => self.string(text),
                Value::Number(number) => {
                    if let Cow::Owned(masked) = self.text(&number.to_string()) {
                        *value = Value::String(masked);
                    }
                }
                Value::Array(items) => waiting.extend(items),
                Value::Object(members) => {
                    self.names(members);
                    waiting.extend(members.values_mut());
                }
                Value::Null | Value::Bool(_) => {}
            }
        }
    }

    /// Every text of a result. A picture or file that holds a secret is left out whole: with a
    /// piece of it masked it would be none.
    pub fn content(&self, content: &mut Content) {
        if self.is_idle() {
            return;
        }
        let Content { parts, structured, references, reminder, extra } = content;
        for part in parts {
            self.part(part);
        }
        for reference in references {
            self.reference(reference);
        }
        self.strings(reminder);
        if let Some(value) = structured {
            self.value(value);
        }
        self.members(extra);
    }

    /// A JSON object, keys and values.
    pub fn fields(&self, fields: &mut Map<String, Value>) {
        if !self.is_idle() {
            self.members(fields);
        }
    }

    /// The message, the content and the causes.
    pub fn error(&self, error: &mut ToolError) {
        if self.is_idle() {
            return;
        }
        self.string(&mut error.message);
        if let Some(content) = &mut error.content {
            self.content(content);
        }
        if let Some(refusal) = &mut error.refusal {
            self.string(&mut refusal.message);
            match &mut refusal.reason {
                RefusalReason::NoResource { uri } => self.string(uri),
                RefusalReason::Origin { data: Some(data), .. } => self.value(data),
                RefusalReason::Origin { data: None, .. }
                | RefusalReason::UnknownMethod
                | RefusalReason::InvalidRequest
                | RefusalReason::HostLacks(_) => {}
            }
        }
        let causes = error.causes().unwrap_or_default();
        if let Cow::Owned(masked) = self.text(&causes) {
            *error = error.clone().because(masked);
        }
    }

    fn part(&self, part: &mut Part) {
        match part {
            Part::Text { text, extra } => {
                self.string(text);
                self.members(extra);
            }
            Part::Image { data, mime, extra } | Part::Audio { data, mime, extra } => {
                if let Cow::Owned(_) = self.text(data) {
                    *part = Part::text(MASK);
                    return;
                }
                self.string(mime);
                self.members(extra);
            }
            Part::File { data, mime, name, extra } => {
                if let Cow::Owned(_) = self.text(data) {
                    *part = Part::text(MASK);
                    return;
                }
                self.string(mime);
                self.string(name);
                self.members(extra);
            }
            Part::Link { uri, mime, name, extra } => {
                self.string(uri);
                self.strings(mime.iter_mut().chain(name));
                self.members(extra);
            }
        }
    }

    fn reference(&self, reference: &mut Reference) {
        let Reference { id, title, url, text } = reference;
        self.strings([id, title, text].into_iter().chain(url));
    }

    fn string(&self, text: &mut String) {
        if let Cow::Owned(masked) = self.text(text) {
            *text = masked;
        }
    }

    fn strings<'a>(&self, texts: impl IntoIterator<Item = &'a mut String>) {
        for text in texts {
            self.string(text);
        }
    }

    fn members(&self, members: &mut Map<String, Value>) {
        self.names(members);
        members.values_mut().for_each(|value| self.value(value));
    }

    fn names(&self, members: &mut Map<String, Value>) {
        if members.keys().all(|name| matches!(self.text(name), Cow::Borrowed(_))) {
            return;
        }
        let old = std::mem::take(members);
        members.extend(old.into_iter().map(|(name, value)| (self.text(&name).into_owned(), value)));
    }

    /// Where secrets stand, in order and apart from each other.
    fn found(&self, text: &str) -> Vec<Range<usize>> {
        let SearchScope::For { forms, searcher, sieve, has_space } = &self.0 else {
            return Vec::new();
        };
        // Most texts hold none, and are told by the sieve in a tenth of the time.
        let may_hold = |view: &TextView<'_>| sieve.may_hold(&view.bytes);
        if !super::view::any(TextView::sketch(text), *has_space, may_hold) {
            return Vec::new();
        }
        let mut found = Vec::new();
        super::view::any(TextView::plain(text), *has_space, |view| {
            for hit in searcher.find_overlapping_iter(&view.bytes) {
                let form = forms.get(hit.pattern().as_usize());
                let whole = form.and_then(|form| form.whole(&view.bytes, hit.start()));
                found.extend(whole.and_then(|range| view.source(range)));
            }
            // All of them are searched.
            false
        });
        merged(found)
    }
}

fn merged(mut ranges: Vec<Range<usize>>) -> Vec<Range<usize>> {
    ranges.sort_by_key(|range| range.start);
    let mut apart: Vec<Range<usize>> = Vec::new();
    for range in ranges {
        match apart.last_mut() {
            Some(last) if range.start < last.end => last.end = last.end.max(range.end),
            _ => apart.push(range),
        }
    }
    apart
}

impl fmt::Debug for Redactor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Redactor")
    }
}
