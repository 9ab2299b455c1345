//! Where the calendars of an account are (RFC 6764, RFC 5397, RFC 4791 section 6.2.1).

use std::sync::Arc;
use std::time::Duration;

use http::StatusCode;
use tokio::time::Instant;
use url::Url;

use super::CalDavBackend;
use super::account::{CalDavAccountInfo, CalendarUrl, CollectionCache};
use super::client::{CalDavRequest, CalDavResponse, not_understood};
use super::collection::{CalendarCollection, DavProperties};
use super::xml::{CAL, DAV, escaped};
use crate::backend::{BackendError, BackendErrorKind};
use crate::calendar_object::{CalendarObjectKind, invalid};

/// How long a list of collections is good for.
const FRESH: Duration = Duration::from_mins(1);

const ABOUT: &str = r#"<?xml version="1.0" encoding="utf-8"?><propfind xmlns="DAV:" xmlns:C="urn:ietf:params:xml:ns:caldav"><prop><resourcetype/><current-user-principal/><C:calendar-home-set/><C:calendar-user-address-set/></prop></propfind>"#;

const LIST: &str = r#"<?xml version="1.0" encoding="utf-8"?><propfind xmlns="DAV:" xmlns:C="urn:ietf:params:xml:ns:caldav"><prop><resourcetype/><displayname/><current-user-privilege-set/><C:supported-calendar-component-set/></prop></propfind>"#;

/// What a server says of one address.
struct CalDavAddressInfo {
    is_calendar: bool,
    principal: Option<Url>,
    calendars: Option<Url>,
    addresses: Vec<String>,
}

impl CalDavBackend {
    pub(super) async fn account(&self) -> Result<&CalDavAccountInfo, BackendError> {
        self.account.get_or_try_init(|| self.find_account()).await
    }

    async fn find_account(&self) -> Result<CalDavAccountInfo, BackendError> {
        let named = self.find_named().await?.ok_or_else(|| {
            let message = format!(
                "there is nothing of CalDAV at `{}`: tell the user to correct the address in the \
                 configuration",
                self.url.path()
            );
            BackendError::new(BackendErrorKind::Broken, message)
        })?;
        let principal = match &named.principal {
            Some(principal) => self.about(principal).await?,
            None => None,
        };
        let mut home = self.home.clone();
        let told = principal.as_ref().map_or(&named.addresses, |it| &it.addresses);
        for address in told {
            if !home.is_own(address) {
                home.addresses.push(address.clone());
            }
        }
        let place = if named.is_calendar {
            CalendarUrl::Single(self.url.clone())
        } else {
            let calendars = named.calendars.or(principal.and_then(|it| it.calendars));
            CalendarUrl::Home(calendars.ok_or_else(|| not_understood("no home of calendars"))?)
        };
        Ok(CalDavAccountInfo { place, home })
    }

    /// What the server says of where the settings point: at its well-known address if they name no
    /// path, else, or if that leads nowhere, as they say.
    async fn find_named(&self) -> Result<Option<CalDavAddressInfo>, BackendError> {
        let mut refused = None;
        if self.url.path() == "/"
            && let Ok(url) = self.url.join("/.well-known/caldav")
        {
            match self.about(&url).await {
                Ok(Some(about)) if about.principal.is_some() || about.calendars.is_some() => {
                    return Ok(Some(about));
                }
                Ok(_) => {}
                // It may lead away, or be none of this server's.
                Err(fault)
                    if matches!(
                        fault.kind,
                        BackendErrorKind::Refused | BackendErrorKind::Broken
                    ) =>
                {
                    refused = Some(fault);
                }
                Err(fault) => return Err(fault),
            }
        }
        match (self.about(&self.url).await, refused) {
            (Ok(None) | Err(_), Some(refused)) => Err(refused),
            (result, _) => result,
        }
    }

    /// What the server says of an address; `None` if there is nothing that speaks `WebDAV`.
    async fn about(&self, url: &Url) -> Result<Option<CalDavAddressInfo>, BackendError> {
        let ask = CalDavRequest::Find { depth: "0", body: ABOUT.to_owned() };
        let answer = self.wire.ask(url, &ask).await?;
        if answer.status != StatusCode::MULTI_STATUS {
            return Ok(None);
        }
        let whole = answer.multistatus()?;
        let Some(response) = whole.child(DAV, "response") else { return Ok(None) };
        let props = DavProperties::of(response);
        let address = |namespace: &str, name: &str| {
            let href = props.get(namespace, name).and_then(|it| it.href());
            href.map(|href| answer.resolve(href)).transpose()
        };
        let kind = props.get(DAV, "resourcetype");
        let own = props.get(CAL, "calendar-user-address-set").into_iter();
        let own = own.flat_map(|set| set.all(DAV, "href")).filter_map(|href| {
            let (scheme, address) = href.text.trim().split_once(':')?;
            scheme.eq_ignore_ascii_case("mailto").then(|| address.to_owned())
        });
        Ok(Some(CalDavAddressInfo {
            is_calendar: kind.is_some_and(|kind| kind.child(CAL, "calendar").is_some()),
            principal: address(DAV, "current-user-principal")?,
            calendars: address(CAL, "calendar-home-set")?,
            addresses: own.collect(),
        }))
    }

    /// The collections that hold a kind, in the order that tools see. If there is none, the first
    /// is made.
    pub(super) async fn collections(
        &self,
        kind: CalendarObjectKind,
    ) -> Result<Vec<CalendarCollection>, BackendError> {
        let found = self.holding(kind).await?;
        if !found.is_empty() || matches!(self.account().await?.place, CalendarUrl::Single(_)) {
            return Ok(found);
        }
        let (id, name) = match kind {
            CalendarObjectKind::Event => ("personal", "Personal"),
            CalendarObjectKind::Task => ("tasks", "Tasks"),
        };
        match self.make(id, name, kind).await {
            // It may be there without being listed as one that holds this.
            Ok(_) => self.holding(kind).await,
            Err(fault)
                if matches!(fault.kind, BackendErrorKind::Refused | BackendErrorKind::Invalid) =>
            {
                Ok(Vec::new())
            }
            Err(fault) => Err(fault),
        }
    }

    async fn holding(
        &self,
        kind: CalendarObjectKind,
    ) -> Result<Vec<CalendarCollection>, BackendError> {
        let all = self.every().await?;
        Ok(all.iter().filter(|it| it.holds(kind)).cloned().collect())
    }

    /// The collection of an id, or the first that can be written to.
    pub(super) async fn collection(
        &self,
        kind: CalendarObjectKind,
        id: Option<&str>,
    ) -> Result<CalendarCollection, BackendError> {
        let what = match kind {
            CalendarObjectKind::Event => "calendar",
            CalendarObjectKind::Task => "list",
        };
        let all = self.collections(kind).await?;
        match id {
            Some(id) => {
                all.into_iter().find(|it| it.id == id).ok_or_else(|| BackendError::no(what, id))
            }
            None => all.into_iter().find(|it| it.can_write).ok_or_else(|| {
                invalid(format!("the calendar server has no {what} that can be written to"))
            }),
        }
    }

    async fn every(&self) -> Result<Arc<Vec<CalendarCollection>>, BackendError> {
        let account = self.account().await?;
        let mut known = self.known.lock().await;
        if let Some(known) = known.as_ref().filter(|known| known.since.elapsed() < FRESH) {
            return Ok(Arc::clone(&known.all));
        }
        let (url, depth) = match &account.place {
            CalendarUrl::Home(url) => (url, "1"),
            CalendarUrl::Single(url) => (url, "0"),
        };
        let ask = CalDavRequest::Find { depth, body: LIST.to_owned() };
        let answer = self.wire.ask(url, &ask).await?;
        let all = Arc::new(listed(&answer)?);
        *known = Some(CollectionCache { since: Instant::now(), all: Arc::clone(&all) });
        Ok(all)
    }

    /// Asks again for the collections the next time.
    pub(super) async fn forget(&self) {
        *self.known.lock().await = None;
    }

    /// Makes a collection, under another id if there is something already.
    pub(super) async fn make(
        &self,
        id: &str,
        name: &str,
        kind: CalendarObjectKind,
    ) -> Result<String, BackendError> {
        let CalendarUrl::Home(home) = &self.account().await?.place else {
            return Err(invalid("the configuration names one calendar, beside which none is made"));
        };
        let taken: Vec<String> = self.every().await?.iter().map(|it| it.id.clone()).collect();
        let numbered = (2..).map(|number: usize| format!("{id}-{number}"));
        let mut ids = std::iter::once(id.to_owned()).chain(numbered);
        let id = ids.find(|id| !taken.contains(id)).unwrap_or_else(|| id.to_owned());
        let url = home.join(&format!("{id}/"));
        let url = url.map_err(|error| invalid("this name cannot be used").because(error))?;
        let body = format!(
            r#"<?xml version="1.0" encoding="utf-8"?><C:mkcalendar xmlns="DAV:" xmlns:C="urn:ietf:params:xml:ns:caldav"><set><prop><displayname>{}</displayname><C:supported-calendar-component-set><C:comp name="{}"/></C:supported-calendar-component-set></prop></set></C:mkcalendar>"#,
            escaped(name),
            kind.component()
        );
        let answer = self.wire.ask(&url, &CalDavRequest::Make { body }).await?;
        self.forget().await;
        if answer.status.is_success() {
            return Ok(id);
        }
        let status = answer.status.as_u16();
        Err(invalid(format!("the calendar server made no list of this name (status {status})")))
    }
}

fn listed(answer: &CalDavResponse) -> Result<Vec<CalendarCollection>, BackendError> {
    let whole = answer.multistatus()?;
    let mut all = Vec::new();
    for response in whole.all(DAV, "response") {
        // An address of another server is none of this account.
        let url = response.href().and_then(|href| answer.resolve(href).ok());
        all.extend(url.and_then(|url| CalendarCollection::read(url, &DavProperties::of(response))));
    }
    all.sort_by_cached_key(CalendarCollection::place);
    Ok(all)
}
