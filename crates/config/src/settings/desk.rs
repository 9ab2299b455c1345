//! What a desk is made of: with references in it, and with the secrets filled in.

use std::path::PathBuf;

use toolcrib_core::Secret;
use url::Url;

use crate::secrets::template::{SecretLookup, Template, TemplateResolution};

/// A desk whose secrets stand beside it.
#[derive(Debug, Clone)]
pub(crate) struct DeskTemplate {
    pub(crate) zone: Option<String>,
    pub(crate) parts: DeskParts,
    pub(crate) file: Option<PathBuf>,
    pub(crate) address: Option<String>,
    pub(crate) caldav: Option<CalDavTemplate>,
    pub(crate) mail: Option<MailTemplate>,
    pub(crate) google: Option<GoogleTemplate>,
}

#[derive(Debug, Clone)]
pub(crate) struct CalDavTemplate {
    pub(crate) url: Url,
    pub(crate) user: Template,
    pub(crate) password: Template,
}

#[derive(Debug, Clone)]
pub(crate) struct MailTemplate {
    pub(crate) imap: Url,
    pub(crate) smtp: Url,
    pub(crate) from: String,
    pub(crate) user: Template,
    pub(crate) password: Template,
}

#[derive(Debug, Clone)]
pub(crate) struct GoogleTemplate {
    pub(crate) client_id: String,
    pub(crate) client_secret: Template,
    pub(crate) refresh_token: Option<Template>,
    pub(crate) base_url: Option<Url>,
}

/// Which parts a desk has.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct DeskParts {
    pub calendar: bool,
    pub tasks: bool,
    pub mail: bool,
}

/// A desk with its secrets. What no account keeps is kept in the file.
#[derive(Debug, Clone, PartialEq)]
pub struct DeskSettings {
    /// The IANA name of the zone that times without one are in; `None`: that of the machine.
    pub zone: Option<String>,
    pub parts: DeskParts,
    /// The file of what is kept here; `None`: one of its own in the state folder.
    pub file: Option<PathBuf>,
    /// Who the local mailbox belongs to: `ann@example.org` or `Ann <ann@example.org>`.
    pub address: Option<String>,
    /// Keeps calendar and tasks.
    pub caldav: Option<CalDavAccount>,
    /// Keeps and sends mail.
    pub mail: Option<MailAccount>,
    /// Keeps what no other account keeps.
    pub google: Option<GoogleAccount>,
}

#[derive(Debug, Clone, PartialEq)]
pub struct CalDavAccount {
    pub url: Url,
    pub user: Secret,
    pub password: Secret,
}

#[derive(Debug, Clone, PartialEq)]
pub struct MailAccount {
    /// `imaps://host`, or `imap://host` for TLS that starts later.
    pub imap: Url,
    /// `smtps://host`, or `smtp://host` for TLS that starts later.
    pub smtp: Url,
    /// Who mail comes from.
    pub from: String,
    pub user: Secret,
    pub password: Secret,
}

#[derive(Debug, Clone, PartialEq)]
pub struct GoogleAccount {
    pub client_id: String,
    pub client_secret: Secret,
    /// `None`: what a sign-in has left.
    pub refresh_token: Option<Secret>,
    /// What stands in for all servers of Google.
    pub base_url: Option<Url>,
}

impl DeskTemplate {
    pub(super) fn resolve(
        &self,
        lookup: &dyn SecretLookup,
        found: &mut TemplateResolution,
    ) -> DeskSettings {
        DeskSettings {
            zone: self.zone.clone(),
            parts: self.parts,
            file: self.file.clone(),
            address: self.address.clone(),
            caldav: self.caldav.as_ref().map(|caldav| CalDavAccount {
                url: caldav.url.clone(),
                user: caldav.user.resolve(lookup, found),
                password: caldav.password.secret(lookup, found),
            }),
            mail: self.mail.as_ref().map(|mail| MailAccount {
                imap: mail.imap.clone(),
                smtp: mail.smtp.clone(),
                from: mail.from.clone(),
                user: mail.user.resolve(lookup, found),
                password: mail.password.secret(lookup, found),
            }),
            google: self.google.as_ref().map(|google| GoogleAccount {
                client_id: google.client_id.clone(),
                client_secret: google.client_secret.secret(lookup, found),
                refresh_token: google.refresh_token.as_ref().map(|text| text.secret(lookup, found)),
                base_url: google.base_url.clone(),
            }),
        }
    }
}
