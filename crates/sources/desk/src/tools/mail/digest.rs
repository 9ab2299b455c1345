//! What many emails come to: counts by day, sender and label, and the liveliest conversations.

use std::collections::{BTreeMap, HashMap};

use jiff::civil::Date;
use schemars::JsonSchema;
use serde::Serialize;

use super::view::PersonView;
use crate::backend::{MessageHead, Person};
use crate::tools::fields::is_same;
use crate::tools::quoting::plain;
use crate::tools::times::{CallClock, iso};

/// Senders and labels that are told.
const SHOWN: usize = 10;
/// People of a conversation that are told.
const SHOWN_PEOPLE: usize = 5;
/// Labels under which nothing is that somebody would read about.
const LEFT_OUT: [&str; 3] = ["trash", "spam", "drafts"];

#[derive(Serialize, JsonSchema)]
pub(crate) struct MailDigest {
    /// The first day.
    from: String,
    /// The last day, inclusive.
    until: String,
    /// Emails that came, and those of them that are not read.
    received: usize,
    unread: usize,
    /// Emails that the user sent.
    sent: usize,
    by_day: Vec<DayCount>,
    /// Who wrote most, the first 10.
    by_sender: Vec<SenderCount>,
    /// The labels of what came, the first 10.
    by_label: Vec<LabelCount>,
    /// Conversations, those with most emails first.
    threads: Vec<ThreadView>,
    /// How many conversations there were.
    thread_count: usize,
}

#[derive(Serialize, JsonSchema)]
struct DayCount {
    day: String,
    weekday: String,
    received: usize,
    sent: usize,
}

#[derive(Serialize, JsonSchema)]
struct SenderCount {
    #[serde(flatten)]
    sender: PersonView,
    received: usize,
    unread: usize,
}

#[derive(Serialize, JsonSchema)]
struct LabelCount {
    label: String,
    received: usize,
    unread: usize,
}

#[derive(Serialize, JsonSchema)]
struct ThreadView {
    subject: String,
    emails: usize,
    unread: usize,
    /// Who wrote, the latest first; 5 at the most.
    people: Vec<String>,
    /// When the latest came or went: ISO 8601 with offset.
    latest: String,
    /// The id of the latest, for `get_email`.
    latest_id: String,
    /// The first words of the latest.
    snippet: String,
}

#[derive(Default, Clone, Copy)]
struct EmailCount {
    received: usize,
    other: usize,
}

/// What is known so far. Emails are taken the newest first.
pub(crate) struct DigestBuilder {
    own: Person,
    span: (Date, Date),
    total: EmailCount,
    sent: usize,
    /// Received and sent.
    days: BTreeMap<Date, EmailCount>,
    /// Received and unread.
    senders: HashMap<String, (Person, EmailCount)>,
    labels: BTreeMap<String, EmailCount>,
    threads: HashMap<String, DigestThread>,
}

struct DigestThread {
    /// The newest email.
    head: MessageHead,
    emails: usize,
    unread: usize,
    people: Vec<String>,
}

impl DigestBuilder {
    pub(crate) fn new(own: Person, span: (Date, Date)) -> Self {
        let days = span.0.series(jiff::Span::new().days(1)).take_while(|day| *day <= span.1);
        Self {
            own,
            span,
            total: EmailCount::default(),
            sent: 0,
            days: days.map(|day| (day, EmailCount::default())).collect(),
            senders: HashMap::new(),
            labels: BTreeMap::new(),
            threads: HashMap::new(),
        }
    }

    pub(crate) fn take(&mut self, head: MessageHead, times: &CallClock) {
        if head.labels.iter().any(|label| LEFT_OUT.contains(&label.as_str())) {
            return;
        }
        let of_own = head.from.as_ref().is_some_and(|from| is_same(from, &self.own));
        let lies = |place: &str| head.labels.iter().any(|label| label == place);
        // What somebody sent to themselves came as well.
        let is_sent = !lies("inbox") && (of_own || lies("sent") || lies("outbox"));
        let unread = usize::from(head.unread && !is_sent);
        let day = self.days.entry(times.at(head.date).date()).or_default();
        if is_sent {
            self.sent += 1;
            day.other += 1;
        } else {
            day.received += 1;
            self.total.add(unread);
            for label in &head.labels {
                self.labels.entry(label.clone()).or_default().add(unread);
            }
            let sender = head.from.clone();
            let sender = sender.unwrap_or(Person { address: "unknown".to_owned(), name: None });
            let key = sender.address.to_lowercase();
            self.senders.entry(key).or_insert((sender, EmailCount::default())).1.add(unread);
        }
        let writer = head.from.as_ref().map(|from| from.address.clone());
        let conversation = self.threads.entry(thread(&head)).or_insert_with(|| DigestThread {
            head,
            emails: 0,
            unread: 0,
            people: Vec::new(),
        });
        conversation.emails += 1;
        conversation.unread += unread;
        let known = conversation.people.len() >= SHOWN_PEOPLE;
        conversation
            .people
            .extend(writer.filter(|one| !known && !conversation.people.contains(one)));
    }

    pub(crate) fn digest(self, limit: usize, times: &CallClock) -> MailDigest {
        let by_day = self.days.iter().map(|(day, count)| DayCount {
            day: day.to_string(),
            weekday: day.strftime("%A").to_string(),
            received: count.received,
            sent: count.other,
        });
        let thread_count = self.threads.len();
        MailDigest {
            from: self.span.0.to_string(),
            until: self.span.1.to_string(),
            received: self.total.received,
            unread: self.total.other,
            sent: self.sent,
            by_day: by_day.collect(),
            by_sender: senders(self.senders),
            by_label: labels(self.labels),
            threads: threads(self.threads, limit, times),
            thread_count,
        }
    }
}

impl EmailCount {
    fn add(&mut self, unread: usize) {
        self.received += 1;
        self.other += unread;
    }
}

/// What an email has in common with its conversation: the subject, where its keeper knows no
/// conversations.
fn thread(head: &MessageHead) -> String {
    if let Some(thread) = &head.thread {
        return format!("id {thread}");
    }
    let mut subject = head.subject.trim().to_lowercase();
    while let Some(rest) =
        ["re:", "aw:", "fw:", "fwd:", "wg:"].iter().find_map(|start| subject.strip_prefix(start))
    {
        subject = rest.trim_start().to_owned();
    }
    format!("subject {subject}")
}

fn senders(senders: HashMap<String, (Person, EmailCount)>) -> Vec<SenderCount> {
    let mut senders: Vec<_> = senders.into_iter().collect();
    senders.sort_by(|(one, (_, a)), (other, (_, b))| {
        b.received.cmp(&a.received).then_with(|| one.cmp(other))
    });
    let shown = senders.into_iter().take(SHOWN).map(|(_, (sender, count))| SenderCount {
        sender: sender.into(),
        received: count.received,
        unread: count.other,
    });
    shown.collect()
}

fn labels(labels: BTreeMap<String, EmailCount>) -> Vec<LabelCount> {
    let mut labels: Vec<_> = labels.into_iter().collect();
    labels.sort_by(|(one, a), (other, b)| b.received.cmp(&a.received).then_with(|| one.cmp(other)));
    let shown = labels.into_iter().take(SHOWN).map(|(label, count)| LabelCount {
        label,
        received: count.received,
        unread: count.other,
    });
    shown.collect()
}

fn threads(
    threads: HashMap<String, DigestThread>,
    limit: usize,
    times: &CallClock,
) -> Vec<ThreadView> {
    let mut threads: Vec<_> = threads.into_values().collect();
    threads.sort_by(|a, b| {
        let newest = b.head.date.cmp(&a.head.date);
        b.emails.cmp(&a.emails).then(newest).then_with(|| a.head.id.cmp(&b.head.id))
    });
    let shown = threads.into_iter().take(limit).map(|one| ThreadView {
        subject: plain(&one.head.subject, 200),
        emails: one.emails,
        unread: one.unread,
        people: one.people,
        latest: iso(&times.at(one.head.date)),
        latest_id: one.head.id,
        snippet: plain(&one.head.snippet, 160),
    });
    shown.collect()
}
