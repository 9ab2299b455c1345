//! A collection of the server: what it says of itself.

use url::Url;

use super::xml::{CAL, DAV, XmlElement};
use crate::calendar_object::CalendarObjectKind;

/// A calendar as CalDAV has them, which may hold events, tasks, or both.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct CalendarCollection {
    /// The last part of its address.
    pub(super) id: String,
    pub(super) url: Url,
    pub(super) name: String,
    pub(super) can_write: bool,
    events: bool,
    tasks: bool,
}

/// Names by which servers call what they make first, so that it comes first here too.
const FIRST: [&str; 6] = ["personal", "default", "calendar", "tasks", "home", "work"];

impl CalendarCollection {
    pub(super) fn holds(&self, kind: CalendarObjectKind) -> bool {
        match kind {
            CalendarObjectKind::Event => self.events,
            CalendarObjectKind::Task => self.tasks,
        }
    }

    /// By what the collections are sorted, since servers have them in any order.
    pub(super) fn place(&self) -> (bool, usize, String, String) {
        let rank = FIRST.iter().position(|first| *first == self.id).unwrap_or(FIRST.len());
        (!self.can_write, rank, self.name.to_lowercase(), self.id.clone())
    }

    /// Reads what the server says of an address; `None` if that is no calendar.
    pub(super) fn read(url: Url, props: &DavProperties<'_>) -> Option<Self> {
        props.get(DAV, "resourcetype")?.child(CAL, "calendar")?;
        // Without the slash, names in it would be resolved beside it.
        let url = if url.path().ends_with('/') {
            url
        } else {
            let mut whole = url.clone();
            whole.set_path(&format!("{}/", url.path()));
            whole
        };
        let id = url.path_segments()?.rev().find(|part| !part.is_empty())?.to_owned();
        let holds = |name: &str| {
            let set = props.get(CAL, "supported-calendar-component-set");
            set.is_none_or(|set| {
                set.all(CAL, "comp").any(|comp| {
                    comp.label.as_deref().is_some_and(|label| label.eq_ignore_ascii_case(name))
                })
            })
        };
        let can_write = props.get(DAV, "current-user-privilege-set").is_none_or(|set| {
            let rights = set.all(DAV, "privilege").flat_map(|it| &it.children);
            let mut rights = rights.filter(|right| right.namespace == DAV);
            rights.any(|right| matches!(right.name.as_str(), "all" | "write" | "write-content"))
        });
        let name = props.get(DAV, "displayname").map(|name| name.text.trim().to_owned());
        let name = name.filter(|name| !name.is_empty()).unwrap_or_else(|| id.clone());
        let (events, tasks) = (holds("VEVENT"), holds("VTODO"));
        Some(Self { id, url, name, can_write, events, tasks })
    }
}

/// The properties of one `response` that were found.
pub(super) struct DavProperties<'a>(&'a XmlElement);

impl<'a> DavProperties<'a> {
    pub(super) fn of(response: &'a XmlElement) -> Self {
        Self(response)
    }

    pub(super) fn get(&self, namespace: &str, name: &str) -> Option<&'a XmlElement> {
        let found = self.0.all(DAV, "propstat").filter(|part| {
            // `HTTP/1.1 200 OK`
            let status = part.child(DAV, "status").map_or("", |status| status.text.as_str());
            status.split_whitespace().nth(1).is_none_or(|code| code.starts_with('2'))
        });
        let mut props = found.filter_map(|part| part.child(DAV, "prop"));
        props.find_map(|prop| prop.child(namespace, name))
    }
}
