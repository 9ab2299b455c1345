//! Where a caller wants to be told of a task.

use std::fmt;

use serde_json::{Map, Value, json};
use toolcrib_a2a_client::protocol::wire::{ProtocolVersion, WireForm};

use crate::fault::A2aFault;
use crate::params::{field, text};

/// Bytes of an id, an address, a token, a scheme and credentials.
const LONGEST: [(&str, usize); 5] =
    [("id", 256), ("url", 2_048), ("token", 1_024), ("scheme", 64), ("credentials", 4_096)];

/// A configuration of push notifications. Its token and its credentials are shown to nobody but
/// its caller: they stand in no debug output.
#[derive(Clone, PartialEq, Eq)]
pub struct PushConfig {
    /// Unique in its task; empty: the server names it.
    pub id: String,
    pub url: String,
    /// Sent along, so that the receiver knows whose notification it is.
    pub token: Option<String>,
    pub authentication: Option<PushAuthentication>,
    /// Of the request that gave it: what is sent is written so.
    pub version: ProtocolVersion,
}

/// What `Authorization` says to the receiver.
#[derive(Clone, PartialEq, Eq)]
pub struct PushAuthentication {
    /// `Bearer`.
    pub scheme: String,
    pub credentials: Option<String>,
}

impl fmt::Debug for PushConfig {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("PushConfig").field("id", &self.id).finish_non_exhaustive()
    }
}

impl fmt::Debug for PushAuthentication {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("PushAuthentication").finish_non_exhaustive()
    }
}

impl PushConfig {
    /// Reads it as it is, or inside of what names its task. Its address is judged by nobody here.
    pub fn read(said: &Value, form: WireForm) -> Result<Self, A2aFault> {
        let outer = field(said, &["config"]).unwrap_or(said);
        let inner = field(outer, &["pushNotificationConfig", "push_notification_config"]);
        let own = inner.unwrap_or(outer);
        let id = text(own, &["id"])?.or(text(said, &["configId", "config_id"])?);
        let url = text(own, &["url"])?.ok_or_else(|| {
            A2aFault::params("`url` must say where notifications are sent").telling("field", "url")
        })?;
        let authentication = field(own, &["authentication"]).map(authentication).transpose()?;
        let version = match form {
            WireForm::Current => ProtocolVersion::V1,
            WireForm::Kinds | WireForm::OldProto => ProtocolVersion::V03,
        };
        let token = text(own, &["token"])?;
        let read = Self {
            id: id.unwrap_or_default(),
            url,
            token,
            authentication: authentication.flatten(),
            version,
        };
        read.check()?;
        Ok(read)
    }

    fn check(&self) -> Result<(), A2aFault> {
        let known = self.authentication.as_ref();
        let said = [
            Some(self.id.as_str()),
            Some(self.url.as_str()),
            self.token.as_deref(),
            known.map(|it| it.scheme.as_str()),
            known.and_then(|it| it.credentials.as_deref()),
        ];
        for ((name, most), said) in LONGEST.into_iter().zip(said) {
            let said = said.unwrap_or_default();
            if said.len() > most {
                let message = format!("`{name}` may have {most} bytes");
                return Err(A2aFault::params(message).telling("field", name));
            }
            // A header carries nothing else.
            if name != "id" && !said.bytes().all(|byte| (b' '..=b'~').contains(&byte)) {
                let message = format!("`{name}` may have letters of ASCII and no line ends");
                return Err(A2aFault::params(message).telling("field", name));
            }
        }
        if known.is_some_and(|it| it.scheme.contains(' ')) {
            let message = "`scheme` is one word, such as `Bearer`";
            return Err(A2aFault::params(message).telling("field", "scheme"));
        }
        Ok(())
    }

    /// The same with the task that it is about.
    pub fn write(&self, task: &str, form: WireForm) -> Value {
        if form == WireForm::Current {
            let mut fields = self.fields();
            fields.insert("taskId".to_owned(), task.into());
            let said = self.authentication.as_ref().map(|it| it.write(false));
            fields.extend(said.map(|said| ("authentication".to_owned(), said)));
            return fields.into();
        }
        let mut inner = self.fields();
        let said = self.authentication.as_ref().map(|it| it.write(true));
        inner.extend(said.map(|said| ("authentication".to_owned(), said)));
        if form == WireForm::Kinds {
            return json!({ "taskId": task, "pushNotificationConfig": inner });
        }
        let name = format!("tasks/{task}/pushNotificationConfigs/{}", self.id);
        json!({ "name": name, "pushNotificationConfig": inner })
    }

    fn fields(&self) -> Map<String, Value> {
        let mut fields = Map::new();
        fields.insert("id".to_owned(), self.id.as_str().into());
        fields.insert("url".to_owned(), self.url.as_str().into());
        fields.extend(self.token.as_deref().map(|token| ("token".to_owned(), token.into())));
        fields
    }

    /// What `Authorization` says to the receiver; `None`: nothing.
    pub fn authorization(&self) -> Option<String> {
        let PushAuthentication { scheme, credentials } = self.authentication.as_ref()?;
        credentials.as_ref().map(|credentials| format!("{scheme} {credentials}"))
    }
}

impl PushAuthentication {
    /// 0.3 has a list of schemes, of which one is spoken.
    fn write(&self, is_old: bool) -> Value {
        let mut fields = Map::new();
        let scheme = self.scheme.as_str();
        if is_old {
            fields.insert("schemes".to_owned(), json!([scheme]));
        } else {
            fields.insert("scheme".to_owned(), scheme.into());
        }
        let said = self.credentials.as_deref();
        fields.extend(said.map(|said| ("credentials".to_owned(), said.into())));
        fields.into()
    }
}

/// `None`: it names no scheme, so that nothing can be said.
fn authentication(said: &Value) -> Result<Option<PushAuthentication>, A2aFault> {
    let first = field(said, &["schemes"]).and_then(Value::as_array).and_then(|it| it.first());
    let first = first.and_then(Value::as_str).map(str::to_owned);
    let credentials = text(said, &["credentials"])?;
    let scheme = text(said, &["scheme"])?.or(first);
    if scheme.is_none() && credentials.is_some() {
        let message = "`authentication.scheme` must say what `credentials` are, such as `Bearer`";
        return Err(A2aFault::params(message).telling("field", "authentication.scheme"));
    }
    Ok(scheme.map(|scheme| PushAuthentication { scheme, credentials }))
}

/// A page of configurations; 0.3 over JSON-RPC has no pages.
pub fn list(task: &str, configs: &[PushConfig], next: Option<&str>, form: WireForm) -> Value {
    let configs: Vec<_> = configs.iter().map(|config| config.write(task, form)).collect();
    if form == WireForm::Kinds {
        return configs.into();
    }
    json!({ "configs": configs, "nextPageToken": next.unwrap_or_default() })
}

/// What is said of one that is gone.
pub fn gone(form: WireForm) -> Value {
    if form == WireForm::Kinds { Value::Null } else { json!({}) }
}

#[cfg(test)]
mod tests {
    use super::*;

    const FORMS: [WireForm; 3] = [WireForm::Current, WireForm::Kinds, WireForm::OldProto];

    #[test]
    fn a_configuration_is_read_as_each_form_writes_it() {
        let current = json!({
            "taskId": "t", "id": "c", "url": "https://a.example/hook", "token": "mine",
            "authentication": { "scheme": "Bearer", "credentials": "secret" },
        });
        let read = PushConfig::read(&current, WireForm::Current).unwrap();
        assert_eq!(read.write("t", WireForm::Current), current);
        assert_eq!(read.authorization().as_deref(), Some("Bearer secret"));
        let inner = json!({
            "id": "c", "url": "https://a.example/hook", "token": "mine",
            "authentication": { "schemes": ["Bearer"], "credentials": "secret" },
        });
        let kinds = json!({ "taskId": "t", "pushNotificationConfig": inner });
        assert_eq!(read.write("t", WireForm::Kinds), kinds);
        let proto = json!({
            "name": "tasks/t/pushNotificationConfigs/c", "pushNotificationConfig": inner,
        });
        assert_eq!(read.write("t", WireForm::OldProto), proto);
        for form in FORMS {
            let again = PushConfig::read(&read.write("t", form), form).unwrap();
            assert_eq!(PushConfig { version: read.version, ..again }, read);
        }
        // As the client of the SDK in Python creates one over HTTP in 0.3.
        let created = json!({ "parent": "tasks/t", "config_id": "c", "config": {
            "push_notification_config": { "url": "https://a.example/hook" },
        } });
        assert_eq!(PushConfig::read(&created, WireForm::OldProto).unwrap().id, "c");
    }

    #[test]
    fn what_no_header_carries_or_is_too_long_is_refused_with_its_field() {
        let with = |name: &str, said: &str| {
            let mut config = json!({ "url": "https://a.example/" });
            config[name] = said.into();
            if name == "scheme" || name == "credentials" {
                config["authentication"] = json!({ "scheme": "Bearer", name: said });
            }
            let fault = PushConfig::read(&config, WireForm::Current).err();
            fault.map(|fault| fault.more)
        };
        for (name, most) in LONGEST {
            assert_eq!(with(name, &"x".repeat(most)), None, "{name}");
            let refused = Some(vec![("field", name.to_owned())]);
            assert_eq!(with(name, &"x".repeat(most + 1)), refused, "{name}");
            if name != "id" {
                assert_eq!(with(name, "x\r\nSmuggled: 1"), refused, "{name}");
            }
        }
        assert_eq!(with("url", ""), Some(vec![("field", "url".to_owned())]));
        assert_eq!(with("scheme", "Bearer x"), Some(vec![("field", "scheme".to_owned())]));
    }

    #[test]
    fn secrets_stand_in_no_debug_output() {
        let said = json!({
            "url": "https://a.example/", "token": "hidden",
            "authentication": { "scheme": "Bearer", "credentials": "hidden" },
        });
        let read = PushConfig::read(&said, WireForm::Current).unwrap();
        let told = format!("{read:?} {:?}", read.authentication);
        assert!(!told.contains("hidden"), "{told}");
    }
}
