//! A crib over a desk whose file is in memory and whose clock stands still until it is set.

use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};

use jiff::Timestamp;
use jiff::tz::TimeZone;
use serde_json::{Value, json};
use toolcrib_core::{
    Call, Caller, Decision, PlanRequest, RawArguments, Response, Run, TicketError, TicketId,
    ToolOutcome,
};
use toolcrib_desk::backend::MailBackend;
use toolcrib_desk::embedded::{Agenda, DeskDatabase, LocalMail};
use toolcrib_desk::{CalendarOwner, DeskBackends, DeskTimeSettings, DeskToolSource};
use toolcrib_engine::Crib;
use toolcrib_json::schema::Schema;

/// A Sunday afternoon in Zurich.
const NOW: &str = "2026-11-22T15:07:30+01:00";

pub(crate) struct Room {
    pub(crate) crib: Crib,
    caller: Caller,
    clock: Arc<AtomicI64>,
    pub(crate) backends: DeskBackends,
    pub(crate) mailbox: LocalMail,
}

/// Who the tests are about; her address is her tenant's name.
pub(crate) const ANN: &str = "ann@example.org";

impl Room {
    pub(crate) fn new() -> Self {
        Self::at(NOW, "Europe/Zurich")
    }

    pub(crate) fn at(now: &str, zone: &str) -> Self {
        Self::over(now, zone, None)
    }

    /// One whose mail is kept elsewhere.
    pub(crate) fn with_mail(mail: impl MailBackend + 'static) -> Self {
        Self::over(NOW, "Europe/Zurich", Some(Arc::new(mail)))
    }

    fn over(now: &str, zone: &str, mail: Option<Arc<dyn MailBackend>>) -> Self {
        let clock = Arc::new(AtomicI64::new(0));
        let hand = Arc::clone(&clock);
        let now_is = move || Timestamp::from_second(hand.load(Ordering::Relaxed)).unwrap();
        let db = DeskDatabase::in_memory().unwrap();
        let zone = TimeZone::get(zone).unwrap();
        let agenda = Arc::new(Agenda::new(db.clone(), CalendarOwner::new(zone.clone())));
        let mailbox = LocalMail::new(db).with_clock(now_is.clone());
        let backends = DeskBackends {
            calendar: Some(agenda.clone()),
            tasks: Some(agenda),
            mail: mail.or_else(|| Some(Arc::new(mailbox.clone()))),
        };
        let desk = DeskToolSource::new(DeskTimeSettings::new(zone).clock(now_is), backends.clone());
        let crib = Crib::of(desk.tools().clone());
        let caller = Caller::new(ANN, "ann");
        let room = Self { crib, caller, clock, backends, mailbox };
        room.set(now);
        room
    }

    /// The same for another tenant.
    pub(crate) fn of(&self, tenant: &str) -> Self {
        Self {
            crib: self.crib.clone(),
            caller: Caller::new(tenant, tenant),
            clock: Arc::clone(&self.clock),
            backends: self.backends.clone(),
            mailbox: self.mailbox.clone(),
        }
    }

    /// Sets the clock.
    pub(crate) fn set(&self, now: &str) {
        let now: Timestamp = now.parse().unwrap();
        self.clock.store(now.as_second(), Ordering::Relaxed);
    }

    pub(crate) async fn response(&self, tool: &str, arguments: &Value) -> Response {
        let plan = self.crib.plan(&self.caller, PlanRequest::default()).unwrap();
        let arguments = RawArguments::Value(arguments.clone());
        let report = self.crib.run(&plan, vec![Call::new("1", tool, arguments)]).await;
        report.responses.into_iter().next().unwrap()
    }

    /// What came of a call: its result, `{"asked": words}`, or the kind and text of its failure.
    pub(crate) async fn outcome(&self, tool: &str, arguments: Value) -> Value {
        told(&self.response(tool, &arguments).await)
    }

    /// Whether a result is what its tool says that its results are.
    pub(crate) fn fits(&self, tool: &str, result: &Value) {
        let catalog = self.crib.catalog();
        let listed = catalog.get(tool).unwrap();
        let schema = Schema::compile(&listed.spec.output.as_ref().unwrap().value()).unwrap();
        let checked = schema.check(result);
        assert!(checked.is_ok(), "{tool} {result}: {checked:?}");
    }

    /// The result of a call that a person says yes to, if one is asked.
    pub(crate) async fn done(&self, tool: &str, arguments: Value) -> Value {
        let response = self.response(tool, &arguments).await;
        let result = if let ToolOutcome::Pending(pending) = &response.outcome {
            told(&self.approve(&pending.ticket).await.unwrap())
        } else {
            told(&response)
        };
        assert!(result.get("data").is_some(), "{tool} {arguments}: {result}");
        self.fits(tool, &result);
        result
    }

    /// The id of what a call made.
    pub(crate) async fn made(&self, tool: &str, arguments: Value) -> String {
        let result = self.done(tool, arguments).await;
        result["data"]["id"].as_str().unwrap().to_owned()
    }

    /// What a person is asked before a call runs.
    pub(crate) async fn asked(&self, tool: &str, arguments: Value) -> (TicketId, String) {
        let outcome = self.response(tool, &arguments).await.outcome;
        let ToolOutcome::Pending(pending) = outcome else {
            panic!("{tool} {arguments}: {outcome:?}")
        };
        (pending.ticket, pending.reason)
    }

    pub(crate) async fn approve(&self, ticket: &TicketId) -> Result<Response, TicketError> {
        self.crib.decide(&self.caller, &Run::default(), ticket, Decision::Approve).await
    }
}

fn told(response: &Response) -> Value {
    match (&response.outcome, response.content()) {
        (_, Some(content)) => {
            let structured = content.structured.clone().unwrap();
            assert_eq!(response.text(), structured.to_string(), "models read the same data");
            structured
        }
        (ToolOutcome::Pending(pending), None) => json!({ "asked": pending.reason }),
        (ToolOutcome::Failed(error), None) => json!({ error.kind.as_str(): error.message }),
        (other, None) => json!(other.as_str()),
    }
}

/// The same with `*` for what is made up by the keeper.
pub(crate) fn nameless(mut value: Value) -> Value {
    const NAMES: [&str; 7] = ["id", "series", "calendar", "list", "thread", "latest_id", "next"];
    match &mut value {
        Value::Object(fields) => {
            for (name, field) in fields.iter_mut() {
                let is_name = NAMES.contains(&name.as_str()) && field.is_string();
                *field = if is_name { json!("*") } else { nameless(field.take()) };
            }
        }
        Value::Array(items) => items.iter_mut().for_each(|item| *item = nameless(item.take())),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
    value
}

/// The values of one field of a list.
pub(crate) fn column<'a>(result: &'a Value, field: &str) -> Vec<&'a str> {
    let rows = result["data"].as_array().unwrap_or_else(|| panic!("no list: {result}"));
    rows.iter().map(|row| row[field].as_str().unwrap()).collect()
}
