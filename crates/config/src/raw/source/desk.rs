//! One desk: whose calendar, tasks and mail are tools.

use schemars::JsonSchema;
use serde::Deserialize;

use crate::raw::scalar::SecretText;

/// Calendar, tasks and mail. What is not kept elsewhere is kept in a file of ours.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
#[schemars(rename = "Desk")]
pub(crate) struct DeskTable {
    /// The zone that times without one are in, such as `Europe/Zurich`: that of this machine if not
    /// set.
    pub(crate) timezone: Option<String>,
    /// Which of `calendar`, `tasks` and `mail` there are: all if not set.
    pub(crate) only: Option<Vec<DeskPartWord>>,
    /// The file that keeps what is kept here: one of its own in the state folder if not set.
    pub(crate) file: Option<String>,
    /// Who the local mailbox belongs to, as an address of mail: `me@localhost` if not set.
    pub(crate) address: Option<String>,
    /// A server that keeps the calendar and the tasks.
    pub(crate) caldav: Option<CalDavTable>,
    /// The servers that keep and send mail.
    pub(crate) mail: Option<MailTable>,
    /// An account of Google, which keeps all that no other server keeps.
    pub(crate) google: Option<GoogleTable>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
#[schemars(rename = "PartWord")]
pub(crate) enum DeskPartWord {
    Calendar,
    Tasks,
    Mail,
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "CalDav")]
pub(crate) struct CalDavTable {
    /// The address of the server, or of the account on it.
    pub(crate) url: String,
    /// The name of the user.
    pub(crate) user: SecretText,
    /// The password of the user, or one that is made for one app.
    pub(crate) password: SecretText,
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "MailServers")]
pub(crate) struct MailTable {
    /// Where mail lies: `imaps://imap.example.org`, or `imap://` for one that starts TLS later.
    pub(crate) imap: String,
    /// Where mail is sent: `smtps://smtp.example.org`, or `smtp://` for one that starts TLS later.
    pub(crate) smtp: String,
    /// Who mail comes from: `Ann <ann@example.org>`.
    pub(crate) from: String,
    /// The name of the user on both servers.
    pub(crate) user: SecretText,
    /// The password of the user, or one that is made for one app.
    pub(crate) password: SecretText,
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "Google")]
pub(crate) struct GoogleTable {
    /// The client that Google knows us as.
    pub(crate) client_id: String,
    /// The secret of the client.
    pub(crate) client_secret: SecretText,
    /// What stands for the consent of the person; `toolcrib login` asks for it if not set.
    pub(crate) refresh_token: Option<SecretText>,
    /// A server that speaks for all of Google's, for trying things out.
    pub(crate) base_url: Option<String>,
}
