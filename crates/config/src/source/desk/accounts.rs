//! The accounts of a desk at servers of others, each behind its feature. One that was left out of
//! this program keeps nothing in another place: the desk is not opened.

#[cfg(any(feature = "caldav", feature = "google", feature = "imap"))]
use std::sync::Arc;

use toolcrib_core::SourceError;
#[cfg(feature = "caldav")]
use toolcrib_desk::caldav::{CalDavBackend, CalDavSettings};
#[cfg(feature = "google")]
use toolcrib_desk::google::{GoogleBackend, GoogleSettings, RefreshTokenLocation};
#[cfg(feature = "imap")]
use toolcrib_desk::imap::{ImapMail, ImapSettings};
use toolcrib_desk::{CalendarOwner, DeskBackends};
#[cfg(feature = "imap")]
use toolcrib_desk::{MailLogin, MailServer};
#[cfg(feature = "imap")]
use toolcrib_egress::{Egress, Network, is_of_this_machine};
#[cfg(any(feature = "google", feature = "imap"))]
use url::Url;

use super::DeskSource;
use crate::settings::{CalDavAccount, MailAccount};

/// Calendar and tasks at a server of CalDAV.
#[cfg(feature = "caldav")]
pub(super) fn at_caldav(
    account: &CalDavAccount,
    home: &CalendarOwner,
) -> Result<DeskBackends, SourceError> {
    let CalDavAccount { url, user, password } = account;
    let mut home = home.clone();
    // Guests are known by their addresses, and the name of a user often is one.
    home.addresses.extend(Some(user.expose().to_owned()).filter(|user| user.contains('@')));
    let settings = CalDavSettings::new(url.clone(), user.expose(), password.clone(), home);
    let dav = Arc::new(CalDavBackend::open(settings).map_err(super::source_error)?);
    Ok(DeskBackends { calendar: Some(dav.clone()), tasks: Some(dav), mail: None })
}

#[cfg(not(feature = "caldav"))]
pub(super) fn at_caldav(_: &CalDavAccount, _: &CalendarOwner) -> Result<DeskBackends, SourceError> {
    Err(left_out("CalDAV", "caldav"))
}

/// Mail at servers of IMAP and SMTP.
#[cfg(feature = "imap")]
pub(super) fn at_imap(account: &MailAccount) -> Result<DeskBackends, SourceError> {
    let MailAccount { imap, smtp, from, user, password } = account;
    let login =
        MailLogin { user: user.expose().to_owned(), password: password.expose().to_owned() };
    let server = |url: &Url| {
        // A server on this machine may have no certificate, and nobody listens in between.
        let plain = is_of_this_machine(url) && !url.scheme().ends_with('s');
        MailServer { url: url.clone(), login: Some(login.clone()), plain }
    };
    let egress = Egress::only([imap.clone(), smtp.clone()], Network::default());
    let egress = egress.map_err(|error| SourceError::new(error.message()).because(error))?;
    let account =
        ImapSettings { imap: server(imap), smtp: server(smtp), from: super::person(from) };
    let mail = ImapMail::new(egress, account).map_err(super::no_address)?;
    Ok(DeskBackends { mail: Some(Arc::new(mail)), ..DeskBackends::default() })
}

#[cfg(not(feature = "imap"))]
pub(super) fn at_imap(_: &MailAccount) -> Result<DeskBackends, SourceError> {
    Err(left_out("IMAP and SMTP", "imap"))
}

/// Everything at Google.
#[cfg(feature = "google")]
pub(super) fn at_google(desk: &DeskSource) -> Result<DeskBackends, SourceError> {
    let Some(settings) = desk.google()? else { return Ok(DeskBackends::default()) };
    let google = Arc::new(GoogleBackend::new(settings).map_err(super::source_error)?);
    Ok(DeskBackends {
        calendar: Some(google.clone()),
        tasks: Some(google.clone()),
        mail: Some(google),
    })
}

#[cfg(not(feature = "google"))]
pub(super) fn at_google(desk: &DeskSource) -> Result<DeskBackends, SourceError> {
    match desk.settings.google {
        Some(_) => Err(left_out("Google", "google")),
        None => Ok(DeskBackends::default()),
    }
}

#[cfg(not(all(feature = "caldav", feature = "google", feature = "imap")))]
fn left_out(spoken: &str, feature: &str) -> SourceError {
    SourceError::new(format!(
        "this program was built without {spoken}: use one that was built with the feature \
         `{feature}`, or take the account away"
    ))
}

#[cfg(feature = "google")]
impl DeskSource {
    /// The account of Google, if there is one.
    pub(crate) fn google(&self) -> Result<Option<GoogleSettings>, SourceError> {
        let Some(account) = &self.settings.google else { return Ok(None) };
        let refresh = match (&account.refresh_token, &self.signed_in) {
            (Some(token), _) => RefreshTokenLocation::Token(token.clone()),
            (None, Some(file)) => RefreshTokenLocation::File(file.clone()),
            (None, None) => {
                let message = "there is no place for what a sign-in gives: name a `refresh_token`";
                return Err(SourceError::new(message));
            }
        };
        let settings = GoogleSettings::new(&self.id, &account.client_id, refresh);
        let mut settings = settings.map_err(super::source_error)?;
        settings.client_secret = Some(account.client_secret.clone());
        settings.secrets = self.learned.clone();
        if let Some(base) = &account.base_url {
            let base = base.as_str().trim_end_matches('/');
            let at = |path: &str| {
                let wrong = |error| SourceError::new("`base_url` is no address").because(error);
                Url::parse(&format!("{base}{path}")).map_err(wrong)
            };
            settings.calendar = at("/calendar/v3")?;
            (settings.tasks, settings.gmail) = (at("")?, at("")?);
            (settings.authorize, settings.token) = (at("/authorize")?, at("/token")?);
        }
        Ok(Some(settings))
    }
}
