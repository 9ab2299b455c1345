//! One desk.

use jiff::tz::TimeZoneDatabase;
use url::Url;

use crate::check::ConfigChecker;
use crate::file::toml_path::TomlPath;
use crate::raw::{self, DeskPartWord};
use crate::settings::{CalDavTemplate, DeskParts, DeskTemplate, GoogleTemplate, MailTemplate};

impl ConfigChecker<'_, '_, '_> {
    pub(crate) fn desk(&mut self, raw: &raw::DeskTable, place: &TomlPath) -> Option<DeskTemplate> {
        let before = self.findings.problems.len();
        let zone = raw.timezone.as_ref().and_then(|name| self.zone(name, &place.key("timezone")));
        let file = raw.file.as_ref().and_then(|file| self.path(file, &place.key("file")));
        let parts = self.parts(raw, &place.key("only"));
        if let Some(address) = &raw.address {
            self.mailbox(address, &place.key("address"));
        }
        self.built_in(raw, place);
        let caldav = raw.caldav.as_ref().and_then(|raw| self.caldav(raw, &place.key("caldav")));
        let mail = raw.mail.as_ref().and_then(|raw| self.mail(raw, &place.key("mail")));
        let google = raw.google.as_ref().and_then(|raw| self.google(raw, &place.key("google")));
        if raw.caldav.is_some() && raw.mail.is_some() && raw.google.is_some() {
            let cure = "remove it, or one of `caldav` and `mail`";
            self.problem(&place.key("google"), "there is nothing left for Google to keep", cure);
        }
        let address = raw.address.clone();
        (self.findings.problems.len() == before).then_some(DeskTemplate {
            zone,
            parts,
            file,
            address,
            caldav,
            mail,
            google,
        })
    }

    /// Accounts of a kind that this program was built without.
    fn built_in(&mut self, raw: &raw::DeskTable, place: &TomlPath) {
        let accounts = [
            ("caldav", "caldav", "CalDAV", raw.caldav.is_some(), cfg!(feature = "caldav")),
            ("mail", "imap", "IMAP and SMTP", raw.mail.is_some(), cfg!(feature = "imap")),
            ("google", "google", "Google", raw.google.is_some(), cfg!(feature = "google")),
        ];
        for (key, feature, spoken, is_named, is_built_in) in accounts {
            if is_named && !is_built_in {
                let message = format!("this program was built without {spoken}");
                let cure =
                    format!("use one that was built with the feature `{feature}`, or remove it");
                self.problem(&place.key(key), message, cure);
            }
        }
    }

    fn zone(&mut self, name: &str, place: &TomlPath) -> Option<String> {
        if TimeZoneDatabase::bundled().get(name).is_ok() {
            return Some(name.to_owned());
        }
        let cure = "write an IANA name such as `Europe/Zurich`, or `UTC`";
        self.problem(place, "there is no such time zone", cure);
        None
    }

    fn parts(&mut self, raw: &raw::DeskTable, place: &TomlPath) -> DeskParts {
        let Some(only) = &raw.only else {
            return DeskParts { calendar: true, tasks: true, mail: true };
        };
        if only.is_empty() {
            let cure = "name one of `calendar`, `tasks` and `mail`, or set `enabled = false`";
            self.problem(place, "a desk with nothing on it has no tools", cure);
        }
        let has = |part| only.contains(&part);
        let (calendar, tasks, mail) =
            (has(DeskPartWord::Calendar), has(DeskPartWord::Tasks), has(DeskPartWord::Mail));
        DeskParts { calendar, tasks, mail }
    }

    /// An address of mail, with a name before it or without.
    fn mailbox(&mut self, text: &str, place: &TomlPath) {
        let address = text.rsplit_once('<').map_or(text, |(_, rest)| rest.trim_end_matches('>'));
        let whole = address.trim();
        let parts = whole.split_once('@');
        let is_plain = |part: &str| {
            !part.is_empty() && !part.contains(|c: char| c.is_whitespace() || "<>,@".contains(c))
        };
        let is_right = parts.is_some_and(|(user, host)| is_plain(user) && is_plain(host));
        if !is_right || text.chars().any(char::is_control) {
            let cure = "write `ann@example.org` or `Ann <ann@example.org>`";
            self.problem(place, "this is no address of mail", cure);
        }
    }

    fn caldav(&mut self, raw: &raw::CalDavTable, place: &TomlPath) -> Option<CalDavTemplate> {
        let url = self.url(&raw.url, &place.key("url"));
        self.in_the_open(url.as_ref(), true, &place.key("url"));
        let user = self.template(&raw.user, &place.key("user"));
        let password = self.template(&raw.password, &place.key("password"));
        Some(CalDavTemplate { url: url?, user: user?, password: password? })
    }

    fn mail(&mut self, raw: &raw::MailTable, place: &TomlPath) -> Option<MailTemplate> {
        let imap = self.mail_server(&raw.imap, &["imaps", "imap"], &place.key("imap"));
        let smtp = self.mail_server(&raw.smtp, &["smtps", "smtp"], &place.key("smtp"));
        self.mailbox(&raw.from, &place.key("from"));
        let user = self.template(&raw.user, &place.key("user"));
        let password = self.template(&raw.password, &place.key("password"));
        let from = raw.from.clone();
        Some(MailTemplate { imap: imap?, smtp: smtp?, from, user: user?, password: password? })
    }

    /// The address of a server that speaks one of these.
    fn mail_server(&mut self, text: &str, schemes: &[&str], place: &TomlPath) -> Option<Url> {
        let url = Url::parse(text).ok().filter(|url| {
            let rest = ["", "/"].contains(&url.path()) && url.query().is_none();
            schemes.contains(&url.scheme()) && url.has_host() && url.username().is_empty() && rest
        });
        if url.is_none() {
            let forms: Vec<_> = schemes.iter().map(|scheme| format!("`{scheme}://host`")).collect();
            let cure = format!("write {}, with `:port` if it is another one", forms.join(" or "));
            self.problem(place, "this is no address of such a server", cure);
        }
        url
    }

    fn google(&mut self, raw: &raw::GoogleTable, place: &TomlPath) -> Option<GoogleTemplate> {
        let base = raw.base_url.as_ref();
        let base_url = base.and_then(|url| self.url(url, &place.key("base_url")));
        self.in_the_open(base_url.as_ref(), true, &place.key("base_url"));
        let client_secret = self.template(&raw.client_secret, &place.key("client_secret"));
        let token = raw.refresh_token.as_ref();
        let refresh_token = token.map(|token| self.template(token, &place.key("refresh_token")));
        let client_id = raw.client_id.clone();
        Some(GoogleTemplate {
            client_id,
            client_secret: client_secret?,
            refresh_token: refresh_token.flatten(),
            base_url,
        })
    }
}
