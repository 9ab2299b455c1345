//! What is read after a person said yes: decided anew, recorded as a call is, and nothing else.

use std::sync::{Arc, Mutex};

use serde_json::{Value, json};
use toolcrib_core::{
    BatchOptions, BoxFuture, CallKey, Caller, ClientSession, CodeResources, CribLimits, Host,
    HostQuestion, JsonFields, Observer, QuestionError, QuestionKind, ResourceOperation,
    ResourceRequest, SourceId, ToolError, Toolset, WithResources,
};
use toolcrib_engine::Crib;
use toolcrib_engine::rules::Rules;

use crate::observer::Notes;

const URI: &str = "note://one";

fn fields(value: Value) -> JsonFields {
    let Value::Object(fields) = value else { panic!("`{value}` is no object") };
    fields
}

fn shelf(name: &str) -> WithResources {
    let definition = fields(json!({ "uri": URI, "name": "one", "description": name }));
    let said = json!({ "contents": [{ "uri": URI, "text": name }] });
    let library = CodeResources::default()
        .resource(definition, move |_, _| std::future::ready(Ok(fields(said.clone()))))
        .completion(|_, _| async { Ok(fields(json!({ "completion": { "values": [] } }))) });
    WithResources::new(Toolset::default(), Arc::new(library))
}

async fn crib(notes: &Arc<Notes>) -> Crib {
    let observer: Arc<dyn Observer> = Arc::<Notes>::clone(notes);
    let builder = crate::builder().policy(rules("ask")).observer(observer);
    builder.source("shelf", shelf("as it was")).build().await
}

fn rules(verdict: &str) -> Rules {
    Rules::parse(&format!("{verdict} = [\"category:resource\"]")).unwrap()
}

/// What happens between question and answer, and the answer.
struct Person {
    meanwhile: Mutex<Option<BoxFuture<'static, ()>>>,
    answer: Result<Value, QuestionError>,
}

impl Person {
    fn says(answer: Value) -> Arc<Self> {
        Arc::new(Self { meanwhile: Mutex::default(), answer: Ok(answer) })
    }

    fn approves_after(meanwhile: impl Future<Output = ()> + Send + 'static) -> Arc<Self> {
        let meanwhile = Mutex::new(Some(Box::pin(meanwhile) as BoxFuture<'static, ()>));
        Arc::new(Self { meanwhile, answer: Ok(yes()) })
    }
}

impl Host for Person {
    fn answers(&self) -> &[QuestionKind] {
        &[QuestionKind::Form]
    }

    fn ask(&self, _: CallKey, _: HostQuestion) -> BoxFuture<'_, Result<Value, QuestionError>> {
        let meanwhile = self.meanwhile.lock().unwrap().take();
        Box::pin(async {
            if let Some(meanwhile) = meanwhile {
                meanwhile.await;
            }
            self.answer.clone()
        })
    }
}

fn yes() -> Value {
    json!({ "action": "accept", "content": { "approve": true } })
}

async fn read(crib: &Crib, person: Option<Arc<Person>>) -> Result<JsonFields, ToolError> {
    let host = person.map(|person| person as Arc<dyn Host>);
    let options = BatchOptions { host, ..BatchOptions::default() };
    ask(crib, ResourceOperation::Resource, json!({ "uri": URI }), options).await
}

async fn ask(
    crib: &Crib,
    about: ResourceOperation,
    params: Value,
    options: BatchOptions,
) -> Result<JsonFields, ToolError> {
    let visitor = ClientSession { caller: Arc::new(Caller::new("house", "ann")), session: None };
    crib.inquire(&visitor, ResourceRequest { about, params: fields(params) }, options).await
}

#[tokio::test]
async fn question_and_answer_are_recorded_as_those_of_a_call() {
    let notes = Arc::new(Notes::default());
    let crib = crib(&notes).await;
    let asked = r#"ask note://one of ann{"uri":"note://one"} with a ticket by rules"#;
    let answered = |verdict: &str, end: &str| {
        let of = r#"note://one of ann{"uri":"note://one"} with a ticket by rules"#;
        [asked, "note://one: pending", &format!("{verdict} {of}"), &format!("note://one: {end}")]
            .map(str::to_owned)
    };
    let done = read(&crib, Some(Person::says(yes()))).await.unwrap();
    assert_eq!(done["contents"][0]["text"], "as it was");
    assert_eq!(notes.take(), answered("allow", "done"));
    // No, no answer, and nobody there.
    let nobody = Person { meanwhile: Mutex::default(), answer: Err(QuestionError::Unable) };
    for person in [
        Some(Person::says(json!({ "action": "decline" }))),
        Some(Person::says(json!({ "action": "cancel" }))),
        Some(Arc::new(nobody)),
        None,
    ] {
        assert!(read(&crib, person).await.is_err());
        assert_eq!(notes.take(), answered("deny", "denied"));
    }
    // Nobody is asked about what the protocol has no question for.
    let params = json!({ "ref": { "type": "ref/resource", "uri": URI }, "argument": {} });
    let host = Some(Person::says(yes()) as Arc<dyn Host>);
    let options = BatchOptions { host, ..BatchOptions::default() };
    assert!(ask(&crib, ResourceOperation::Completion, params, options).await.is_err());
    let seen = notes.take();
    assert!(seen[0].starts_with("ask") && seen[2].starts_with("deny"), "{seen:?}");
    assert_eq!(seen.len(), 4, "{seen:?}");
}

#[tokio::test]
async fn an_approval_is_good_for_what_was_asked_about_under_the_rules_of_now() {
    let notes = Arc::new(Notes::default());
    let crib = crib(&notes).await;
    let placed = |name: &str| {
        let deadline = std::time::Duration::from_secs(30);
        [(
            SourceId::new("shelf"),
            Arc::new(shelf(name)) as Arc<dyn toolcrib_core::Source>,
            deadline,
        )]
    };
    let changed = |crib: &Crib, name: &'static str, verdict: &'static str| {
        let (crib, limits) = (crib.clone(), CribLimits::default());
        async move { crib.replace(placed(name), Arc::new(rules(verdict)), limits).await }
    };
    // The rules deny it by now: for the caller it is not there.
    let person = Person::approves_after(changed(&crib, "as it was", "deny"));
    assert!(read(&crib, Some(person)).await.is_err());
    changed(&crib, "as it was", "ask").await;
    // Something else stands there by now.
    let person = Person::approves_after(changed(&crib, "another", "ask"));
    let error = read(&crib, Some(person)).await.unwrap_err();
    assert!(error.message.contains("not what a person was asked about"), "{error}");
    assert!(notes.take().iter().all(|line| !line.contains("done")));
    let done = read(&crib, Some(Person::says(yes()))).await.unwrap();
    assert_eq!(done["contents"][0]["text"], "another");
}

#[tokio::test]
async fn nothing_of_a_question_is_left_among_the_tickets() {
    let crib = crib(&Arc::default()).await;
    let caller = Caller::new("house", "ann");
    let (seen, of) = (crib.clone(), caller.clone());
    let person = Person::approves_after(async move {
        assert_eq!(seen.tickets(&of).await.unwrap(), []);
    });
    assert!(read(&crib, Some(person)).await.is_ok());
    assert_eq!(crib.tickets(&caller).await.unwrap(), []);
}
