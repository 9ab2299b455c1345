//! Tasks v1.

use jiff::Timestamp;
use serde_json::{Map, Value, json};

use super::page;
use super::reply::{CheckedRequest, ServiceRefusal, ServiceReply};

const FIRST: &str = "MDAwLWZpcnN0LWxpc3Q";

pub(super) struct FakeTaskLists {
    lists: Vec<FakeTaskList>,
    number: u64,
}

struct FakeTaskList {
    id: String,
    title: String,
    /// The newest first, as Google puts them.
    tasks: Vec<Map<String, Value>>,
}

impl FakeTaskList {
    fn told(&self) -> Value {
        json!({ "kind": "tasks#taskList", "id": self.id, "title": self.title })
    }

    fn find(&mut self, id: &str) -> Result<&mut Map<String, Value>, ServiceRefusal> {
        let found = self.tasks.iter_mut().find(|it| it.get("id") == Some(&json!(id)));
        found.ok_or_else(ServiceRefusal::not_found)
    }
}

impl FakeTaskLists {
    pub(super) fn new() -> Self {
        let first =
            FakeTaskList { id: FIRST.to_owned(), title: "My Tasks".to_owned(), tasks: Vec::new() };
        Self { lists: vec![first], number: 0 }
    }

    pub(super) fn perform(
        &mut self,
        operation: &str,
        request: &CheckedRequest,
        most: usize,
    ) -> Result<ServiceReply, ServiceRefusal> {
        let told = match operation {
            "tasklists.list" => {
                let lists = self.lists.iter().map(FakeTaskList::told).collect();
                page("items", lists, request.size(20, 100, most), request)?
            }
            "tasklists.insert" => {
                self.number += 1;
                let id = format!("list-{}", self.number);
                let title = request.text("title").unwrap_or_default().to_owned();
                self.lists.push(FakeTaskList { id, title, tasks: Vec::new() });
                self.lists.last().map(FakeTaskList::told).unwrap_or_default()
            }
            "tasks.list" => {
                let tasks = self.list(request)?.tasks.iter();
                let shown = tasks.filter(|task| is_shown(task, request)).cloned();
                let shown = shown.map(Value::Object).collect();
                page("items", shown, request.size(20, 100, most), request)?
            }
            "tasks.insert" => {
                self.number += 1;
                let id = format!("task-{}", self.number);
                let mut task = Map::new();
                task.insert("kind".to_owned(), json!("tasks#task"));
                task.insert("id".to_owned(), json!(id));
                task.insert("status".to_owned(), json!("needsAction"));
                apply(&mut task, &request.body)?;
                self.list(request)?.tasks.insert(0, task.clone());
                Value::Object(task)
            }
            "tasks.get" => Value::Object(self.task(request)?.clone()),
            "tasks.patch" => {
                let task = self.task(request)?;
                apply(task, &request.body)?;
                Value::Object(task.clone())
            }
            "tasks.delete" => {
                let id = json!(request.place("task"));
                self.task(request)?;
                self.list(request)?.tasks.retain(|task| task.get("id") != Some(&id));
                return Ok(ServiceReply::Nothing);
            }
            _ => return Err(ServiceRefusal::new(501, "notImplemented", operation)),
        };
        Ok(ServiceReply::Value(told))
    }

    fn list(&mut self, request: &CheckedRequest) -> Result<&mut FakeTaskList, ServiceRefusal> {
        let id = request.place("tasklist");
        let id = if id == "@default" { FIRST } else { id };
        self.lists.iter_mut().find(|list| list.id == id).ok_or_else(ServiceRefusal::not_found)
    }

    fn task(
        &mut self,
        request: &CheckedRequest,
    ) -> Result<&mut Map<String, Value>, ServiceRefusal> {
        self.list(request)?.find(request.place("task"))
    }
}

fn is_shown(task: &Map<String, Value>, request: &CheckedRequest) -> bool {
    let is_done = task.get("status") == Some(&json!("completed"));
    let due = task.get("due").and_then(Value::as_str);
    let in_time = request.query("dueMax").is_none_or(|most| due.is_some_and(|due| due < most));
    in_time && (!is_done || request.query("showCompleted") != Some("false"))
}

/// The day of a due time is kept and nothing else of it; what is done has its moment.
fn apply(task: &mut Map<String, Value>, patch: &Map<String, Value>) -> Result<(), ServiceRefusal> {
    for (name, value) in patch {
        if value.is_null() {
            task.remove(name);
            continue;
        }
        let moment = |text: &Value| text.as_str().and_then(|it| it.parse::<Timestamp>().ok());
        let value = match name.as_str() {
            "due" => {
                let due = moment(value).ok_or_else(|| ServiceRefusal::invalid("Invalid due"))?;
                json!(format!("{}T00:00:00.000Z", due.strftime("%Y-%m-%d")))
            }
            "completed" => {
                let at =
                    moment(value).ok_or_else(|| ServiceRefusal::invalid("Invalid completed"))?;
                json!(at.to_string())
            }
            "status" if !["needsAction", "completed"].contains(&value.as_str().unwrap_or("")) => {
                return Err(ServiceRefusal::invalid("Invalid status"));
            }
            _ => value.clone(),
        };
        task.insert(name.clone(), value);
    }
    let now = json!(Timestamp::now().to_string());
    if task.get("status") == Some(&json!("completed")) {
        task.entry("completed").or_insert(now.clone());
    } else {
        task.remove("completed");
    }
    task.insert("updated".to_owned(), now);
    Ok(())
}
