//! Lists as pages: who is in, in which order, and where the next page goes on.

use jiff::tz::TimeZone;
use jiff::{Timestamp, ToSpan};

use super::slot::bounds;
use super::{CalendarObject, invalid};
use crate::backend::{
    BackendError, BackendPage, CalendarEvent, EventQuery, Task, TaskDue, TaskQuery,
};

/// Most items of a page.
const LONGEST_PAGE: usize = 1_000;
/// Most occurrences that are put into order for one query.
const MOST_TOGETHER: usize = 20_000;
/// Objects that are told one by one to be unreadable.
const MOST_UNREAD: usize = 5;
/// Longest name of a list, in characters.
const LONGEST_NAME: usize = 200;

/// What a list is sorted by: a number, and the id among equals.
type ListPosition = (i64, String);

/// The page of a query out of all events of its stretch of time.
pub(crate) fn event_page(
    events: Vec<CalendarEvent>,
    query: &EventQuery,
    zone: &TimeZone,
) -> Result<BackendPage<CalendarEvent>, BackendError> {
    let words = words_of(query.text.as_deref());
    let wanted =
        events.into_iter().filter(|event| words.is_empty() || has_words(&text_of(event), &words));
    let place = |event: &CalendarEvent| (bounds(&event.slot, zone).0.as_second(), event.id.clone());
    page(wanted.collect(), place, query.limit, query.cursor.as_deref())
}

/// The page of a query out of all tasks of its lists.
pub(crate) fn task_page(
    tasks: Vec<Task>,
    query: &TaskQuery,
    zone: &TimeZone,
) -> Result<BackendPage<Task>, BackendError> {
    let words = words_of(query.text.as_deref());
    let is_due = |task: &Task| match (&query.due_by, &task.due) {
        (None, _) => true,
        (Some(_), None) => false,
        (Some(by), Some(TaskDue::Day(day))) => day <= by,
        (Some(by), Some(TaskDue::At(time))) => time.with_time_zone(zone.clone()).date() <= *by,
    };
    let wanted = tasks.into_iter().filter(|task| {
        let text = format!("{}\n{}", task.title, task.notes.as_deref().unwrap_or_default());
        query.done.is_none_or(|done| done == task.done.is_some())
            && is_due(task)
            && (words.is_empty() || has_words(&text, &words))
    });
    page(wanted.collect(), |task| task_place(task, zone), query.limit, query.cursor.as_deref())
}

/// Done ones stand behind all open ones, and those without a due time behind those with one.
fn task_place(task: &Task, zone: &TimeZone) -> ListPosition {
    const NEVER: i64 = 1 << 40;
    let due = match &task.due {
        None => NEVER,
        Some(TaskDue::At(time)) => time.timestamp().as_second(),
        // To be done on a day is to be done when it ends.
        Some(TaskDue::Day(day)) => {
            let end = day.checked_add(1.day()).unwrap_or(*day).to_zoned(zone.clone());
            end.map_or(NEVER, |end| end.timestamp().as_second())
        }
    };
    (due + if task.done.is_some() { 2 * NEVER } else { 0 }, task.id.clone())
}

fn page<T>(
    mut items: Vec<T>,
    place: impl Fn(&T) -> ListPosition,
    limit: usize,
    cursor: Option<&str>,
) -> Result<BackendPage<T>, BackendError> {
    items.sort_by_cached_key(&place);
    if let Some(cursor) = cursor {
        let after = read_cursor(cursor)?;
        items.retain(|item| place(item) > after);
    }
    let limit = limit.clamp(1, LONGEST_PAGE);
    let has_more = items.len() > limit;
    items.truncate(limit);
    let last = items.last().filter(|_| has_more).map(place);
    let next = last.map(|(at, id)| format!("{at}:{id}"));
    Ok(BackendPage { items, next, unread: Vec::new() })
}

fn read_cursor(cursor: &str) -> Result<ListPosition, BackendError> {
    let parts = cursor.split_once(':');
    let read = parts.and_then(|(at, id)| Some((at.parse::<i64>().ok()?, id.to_owned())));
    read.ok_or_else(|| invalid("this cursor is none of ours: leave it out to begin anew"))
}

/// What could not be read while a list was made.
#[derive(Default)]
pub(crate) struct Unread {
    told: Vec<String>,
    more: usize,
}

impl Unread {
    /// Notes one, unless what was found could be read.
    pub(crate) fn note(&mut self, id: &str, why: &str) {
        if self.told.len() < MOST_UNREAD {
            self.told.push(format!("`{id}` is left out, since it cannot be read: {why}"));
        } else {
            self.more += 1;
        }
    }

    /// A page with what was noted.
    pub(crate) fn with<T>(mut self, mut page: BackendPage<T>) -> BackendPage<T> {
        if self.more > 0 {
            self.told.push(format!("{} more are left out, since they cannot be read", self.more));
        }
        page.unread = self.told;
        page
    }
}

/// Whether so many occurrences can be put into order together.
pub(crate) fn few_enough(together: usize) -> Result<(), BackendError> {
    if together <= MOST_TOGETHER {
        return Ok(());
    }
    Err(invalid(format!(
        "there are more than {MOST_TOGETHER} events in this stretch of time: ask for a shorter one"
    )))
}

/// The name of a new list, if it can be one.
pub(crate) fn list_name(name: &str) -> Result<String, BackendError> {
    let name = name.trim();
    if name.is_empty() || name.chars().count() > LONGEST_NAME {
        return Err(invalid(format!("the name of a list has 1 to {LONGEST_NAME} characters")));
    }
    Ok(name.to_owned())
}

/// The id that a name makes: its words in lower case.
pub(crate) fn id_of_name(name: &str) -> String {
    let name = name.to_lowercase();
    let words = name.split(|it: char| !it.is_alphanumeric()).filter(|it| !it.is_empty());
    let id = words.collect::<Vec<_>>().join("-");
    if id.is_empty() { "list".to_owned() } else { id }
}

/// The words of a search, each in lower case.
pub(crate) fn words_of(text: Option<&str>) -> Vec<String> {
    text.unwrap_or_default().split_whitespace().map(str::to_lowercase).collect()
}

/// Whether all words stand in a text.
pub(crate) fn has_words(text: &str, words: &[String]) -> bool {
    let text = text.to_lowercase();
    words.iter().all(|word| text.contains(word.as_str()))
}

fn text_of(event: &CalendarEvent) -> String {
    let mut text = event.title.clone();
    let mut add = |more: &str| {
        text.push('\n');
        text.push_str(more);
    };
    [&event.description, &event.location].into_iter().flatten().for_each(|it| add(it));
    for guest in &event.guests {
        add(&guest.person.address);
        guest.person.name.iter().for_each(|name| add(name));
    }
    text
}

impl CalendarObject {
    /// All that a search may find in it, in lower case: never less than in its occurrences.
    pub(crate) fn words(&self) -> String {
        let mut all = String::new();
        for part in self.parts() {
            for property in &part.properties {
                let (text, name) = match property.name.as_str() {
                    "SUMMARY" | "DESCRIPTION" | "LOCATION" => (property.as_text(), None),
                    "ATTENDEE" => {
                        let address = super::read::address(property).unwrap_or_default();
                        (address.to_owned(), property.parameter("CN"))
                    }
                    _ => continue,
                };
                for text in [Some(text.as_str()), name].into_iter().flatten() {
                    all.push_str(&text.to_lowercase());
                    all.push('\n');
                }
            }
        }
        all
    }

    /// When it was last changed, by its own words.
    pub(crate) fn changed_at(&self, home: &crate::owner::CalendarOwner) -> Option<Timestamp> {
        let zones = self.zones(home);
        let at = |name| self.parts().filter_map(|part| zones.instant(part.get(name)?)).max();
        at("LAST-MODIFIED").or_else(|| at("DTSTAMP"))
    }
}
