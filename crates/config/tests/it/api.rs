//! What the file says of an API, as its source gets it.

use std::sync::{Arc, Mutex};

use toolcrib_config::SourceFactory;
use toolcrib_core::{Source, SourceId};
use toolcrib_mcp::McpSourceSettings;
use toolcrib_openapi::{
    ApiSettings, ApiSource, Credential, DocumentLocation, OperationFilter, inspect,
};

use crate::workshop::{Workshop, config};

/// Keeps what it is to make sources of.
#[derive(Default)]
struct Listening(Mutex<Vec<ApiSettings>>);

impl SourceFactory for Listening {
    fn mcp(&self, _: &str, _: McpSourceSettings) -> Arc<dyn Source> {
        unreachable!("no such test")
    }

    fn api(&self, id: &str, settings: ApiSettings) -> Arc<dyn Source> {
        self.0.lock().unwrap().push(settings.clone());
        Arc::new(ApiSource::new(SourceId::new(id), settings))
    }
}

#[test]
fn the_user_of_basic_may_be_a_key_and_is_a_secret_then() {
    let text = r#"
[[source]]
id = "stripe"
openapi = { document = "api.json", auth = { basic = { user = "${env:STRIPE_KEY}", password = "" } } }

[[source]]
id = "jira"
openapi = { document = "api.json", auth = { basic = { user = "ann@example.com", password = "${env:JIRA}" } } }
"#;
    let workshop = Workshop::default();
    workshop.set("STRIPE_KEY", "key-as-the-user");
    workshop.set("JIRA", "token-of-jira");
    let heard = Listening::default();
    let built = config(text).build(&workshop, &heard);
    let heard = heard.0.into_inner().unwrap();
    let shown: Vec<_> = heard
        .iter()
        .map(|settings| {
            let Credential::Basic { user, password } = &settings.credentials["*"] else {
                unreachable!("another credential")
            };
            let kept = |name: &str| settings.secrets.iter().any(|it| it.expose() == name);
            (user.expose(), password.expose(), kept("key-as-the-user"), kept("ann@example.com"))
        })
        .collect();
    assert_eq!(
        shown,
        [("key-as-the-user", "", true, false), ("ann@example.com", "token-of-jira", false, false),]
    );
    let said = "key-as-the-user token-of-jira ann@example.com";
    assert_eq!(built.redactor.text(said), "[secret] [secret] ann@example.com");
    assert!(!format!("{heard:?}").contains("key-as-the-user"));
}

#[test]
fn an_api_is_told_which_of_its_operations_are_wanted() {
    let text = r#"
[[source]]
id = "some"
include = ["get_*"]
exclude = ["*_old"]
openapi = { document = "api.json" }

[[source]]
id = "all"
openapi = { document = "api.json" }
"#;
    let heard = Listening::default();
    let _built = config(text).build(&Workshop::default(), &heard);
    let picks: Vec<OperationFilter> =
        heard.0.into_inner().unwrap().into_iter().map(|settings| settings.pick).collect();
    let some =
        OperationFilter::new(vec!["get_*".to_owned()], vec!["*_old".to_owned()], |_: &str| false);
    assert_eq!(picks, [some, OperationFilter::default()]);
    let document =
        r#"{"openapi": "3.1.0", "paths": {"/a": {"get": {}, "put": {}}, "/b/old": {"get": {}}}}"#;
    let pick = picks[0].clone();
    let settings = ApiSettings { pick, ..ApiSettings::new(DocumentLocation::Text(String::new())) };
    let (tools, report) = inspect(document, &settings).unwrap();
    let names: Vec<&str> = tools.iter().map(|tool| tool.name.as_str()).collect();
    assert_eq!((names, report.operations), (vec!["get_a"], 1));
}
