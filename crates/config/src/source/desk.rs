//! A desk as the file says it, over the backends that keep its parts.

mod accounts;

use std::collections::BTreeMap;
use std::fs::DirBuilder;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use jiff::tz::{TimeZone, TimeZoneDatabase};
use tokio::sync::OnceCell;
use toolcrib_core::{BoxFuture, Secrets, Source, SourceError, Toolset};
#[cfg(any(feature = "caldav", feature = "google"))]
use toolcrib_desk::backend::BackendError;
use toolcrib_desk::backend::{CalendarBackend, MailBackend, Person, TasksBackend};
use toolcrib_desk::embedded::{Agenda, DeskDatabase, LocalMail};
use toolcrib_desk::mime::NotAnAddress;
use toolcrib_desk::{CalendarOwner, DeskBackends, DeskTimeSettings, DeskToolSource};

use crate::settings::DeskSettings;

/// The tenant of whoever calls on this machine: whose the address of a desk is.
const OWNER: &str = "local";

/// A desk that opens what it needs when its tools are first asked for.
#[cfg_attr(
    not(feature = "google"),
    expect(dead_code, reason = "a sign-in and what it gives are of Google alone")
)]
pub struct DeskSource {
    id: String,
    settings: DeskSettings,
    zone: String,
    /// Where what a sign-in gives is kept.
    signed_in: Option<PathBuf>,
    learned: Secrets,
    /// Where it keeps what no account keeps; `None`: nowhere, it is gone with the process.
    file: Option<PathBuf>,
    opened: OnceCell<OpenDesk>,
}

/// Where a desk is made.
pub(crate) struct DeskContext<'a> {
    /// The IANA name of the zone of a desk that names none.
    pub(crate) zone: Option<&'a str>,
    /// Where the files of desks are that name none.
    pub(crate) folder: Option<&'a Path>,
    /// Where what people are given when they sign in is kept.
    pub(crate) tokens: Option<&'a Path>,
    pub(crate) learned: Secrets,
}

/// A desk with its parts.
struct OpenDesk {
    desk: DeskToolSource,
    agenda: Option<Agenda>,
    mailbox: Option<LocalMail>,
}

impl DeskSource {
    pub(crate) fn new(id: &str, settings: DeskSettings, place: DeskContext<'_>) -> Self {
        let DeskContext { zone, folder, tokens, learned } = place;
        let zone = settings.zone.as_deref().or(zone).unwrap_or("UTC").to_owned();
        let own = folder.map(|folder| folder.join(format!("{id}.db")));
        let file = settings.file.clone().or(own);
        let signed_in = tokens.map(|folder| folder.join(format!("{id}.google")));
        let id = id.to_owned();
        Self { id, settings, zone, signed_in, learned, file, opened: OnceCell::new() }
    }

    /// The calendar and the tasks that are kept here, for whoever puts files into them. `None`:
    /// they are kept elsewhere, or there are none.
    ///
    /// # Errors
    /// Why the desk cannot be opened.
    pub async fn agenda(&self) -> Result<Option<Agenda>, SourceError> {
        Ok(self.opened().await?.agenda.clone())
    }

    /// The mailbox that is kept here, likewise.
    ///
    /// # Errors
    /// Why the desk cannot be opened.
    pub async fn mailbox(&self) -> Result<Option<LocalMail>, SourceError> {
        Ok(self.opened().await?.mailbox.clone())
    }

    /// Whose the desk is when it is asked from this machine.
    pub fn owner(&self) -> &'static str {
        OWNER
    }

    /// Where each part is kept, in words: for whoever asks how the source is doing.
    pub fn about(&self) -> String {
        let parts = self.settings.parts;
        let caldav = self.settings.caldav.as_ref().map(|account| account.url.to_string());
        let mail = self.settings.mail.as_ref().map(|account| account.imap.to_string());
        let google = self.settings.google.as_ref().map(|_| "Google".to_owned());
        let here =
            self.file.as_ref().map_or("memory".to_owned(), |file| file.display().to_string());
        let mut places: Vec<(String, Vec<&str>)> = Vec::new();
        let all = [
            ("calendar", parts.calendar, &caldav),
            ("tasks", parts.tasks, &caldav),
            ("mail", parts.mail, &mail),
        ];
        for (part, _, account) in all.into_iter().filter(|(_, is_there, _)| *is_there) {
            let place = account.as_ref().or(google.as_ref()).unwrap_or(&here);
            match places.iter_mut().find(|(known, _)| known == place) {
                Some((_, parts)) => parts.push(part),
                None => places.push((place.clone(), vec![part])),
            }
        }
        let told = places.iter().map(|(place, parts)| format!("{} in {place}", parts.join(", ")));
        told.collect::<Vec<_>>().join("; ")
    }

    async fn opened(&self) -> Result<&OpenDesk, SourceError> {
        self.opened.get_or_try_init(|| self.open()).await
    }

    async fn open(&self) -> Result<OpenDesk, SourceError> {
        let zone = zone(&self.zone)?;
        let person = self.settings.address.as_deref().map(person);
        let mut home = CalendarOwner::new(zone.clone());
        home.addresses.extend(person.as_ref().map(|person| person.address.clone()));
        let parts = self.settings.parts;
        let google = accounts::at_google(self)?;
        let dav = self.settings.caldav.as_ref().map(|dav| accounts::at_caldav(dav, &home));
        let dav = dav.transpose()?.unwrap_or_default();
        let post = self.settings.mail.as_ref().map(accounts::at_imap);
        let post = post.transpose()?.unwrap_or_default();
        let calendar = dav.calendar.or(google.calendar);
        let tasks = dav.tasks.or(google.tasks);
        let mail = post.mail.or(google.mail);
        let keeps_agenda = (parts.calendar || parts.tasks) && calendar.is_none();
        let keeps_mail = parts.mail && mail.is_none();
        let db = if keeps_agenda || keeps_mail { Some(self.db().await?) } else { None };
        let agenda = db.clone().filter(|_| keeps_agenda).map(|db| Agenda::new(db, home));
        let mailbox = match db.filter(|_| keeps_mail) {
            Some(db) => {
                let people = person.map(|person| (OWNER.to_owned(), person));
                let people: BTreeMap<_, _> = people.into_iter().collect();
                Some(LocalMail::new(db).with_people(people).map_err(no_address)?)
            }
            None => None,
        };
        let calendar = keeper(
            parts.calendar,
            calendar,
            agenda.clone().map(|agenda| -> Arc<dyn CalendarBackend> { Arc::new(agenda) }),
        );
        let tasks = keeper(
            parts.tasks,
            tasks,
            agenda.clone().map(|agenda| -> Arc<dyn TasksBackend> { Arc::new(agenda) }),
        );
        let mail = keeper(
            parts.mail,
            mail,
            mailbox.clone().map(|mailbox| -> Arc<dyn MailBackend> { Arc::new(mailbox) }),
        );
        let backends = DeskBackends { calendar, tasks, mail };
        Ok(OpenDesk {
            desk: DeskToolSource::new(DeskTimeSettings::new(zone), backends),
            agenda,
            mailbox,
        })
    }

    /// The file, on a thread that may wait for the disk.
    async fn db(&self) -> Result<DeskDatabase, SourceError> {
        let file = self.file.clone();
        let opening = tokio::task::spawn_blocking(move || match file {
            // What a person writes down is not to be gone with the process.
            None => Err(SourceError::new(
                "there is no place to keep what the desk is told: set `HOME` or `XDG_STATE_HOME`, \
                 or name a `file`",
            )),
            Some(path) => {
                private_folder(&path).map_err(|error| {
                    let shown = path.display();
                    let message = format!(
                        "there is no place for the desk at `{shown}`: make its folder, or name \
                         another `file`"
                    );
                    SourceError::new(message).because(error)
                })?;
                DeskDatabase::open(&path).map_err(|error| SourceError::new(error.to_string()))
            }
        });
        let broke = |error| SourceError::new("the desk could not be opened").because(error);
        opening.await.map_err(broke)?
    }
}

impl Source for DeskSource {
    fn load(&self) -> BoxFuture<'_, Result<Toolset, SourceError>> {
        Box::pin(async { Ok(self.opened().await?.desk.tools().clone()) })
    }
}

/// What keeps a part, if it is wanted: an account, or what is here.
fn keeper<T: ?Sized>(
    is_wanted: bool,
    account: Option<Arc<T>>,
    here: Option<Arc<T>>,
) -> Option<Arc<T>> {
    account.or(here).filter(|_| is_wanted)
}

fn no_address(error: NotAnAddress) -> SourceError {
    SourceError::new("the address of the desk cannot be used").because(error)
}

#[cfg(any(feature = "caldav", feature = "google"))]
fn source_error(fault: BackendError) -> SourceError {
    let error = SourceError::new(fault.message);
    match fault.cause {
        Some(cause) => error.because(cause),
        None => error,
    }
}

/// A zone by its name, as this program knows it.
fn zone(name: &str) -> Result<TimeZone, SourceError> {
    TimeZoneDatabase::bundled().get(name).map_err(|error| {
        SourceError::new(format!("there is no time zone `{name}`: name another")).because(error)
    })
}

/// Makes the folder of a file, for its owner alone, unless it is there.
fn private_folder(file: &Path) -> io::Result<()> {
    let Some(folder) = file.parent().filter(|folder| !folder.as_os_str().is_empty()) else {
        return Ok(());
    };
    let mut folders = DirBuilder::new();
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut folders, 0o700);
    folders.recursive(true).create(folder)
}

/// `Ann <ann@example.org>` or `ann@example.org`, as it was checked.
pub(crate) fn person(text: &str) -> Person {
    match text.rsplit_once('<') {
        Some((name, address)) => {
            let name = name.trim().trim_matches('"').trim();
            let address = address.trim_end_matches('>').trim().to_owned();
            Person { address, name: (!name.is_empty()).then(|| name.to_owned()) }
        }
        None => Person { address: text.trim().to_owned(), name: None },
    }
}
