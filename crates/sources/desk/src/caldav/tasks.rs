//! Tasks of the server.

use jiff::Timestamp;
use toolcrib_core::BoxFuture;
use uuid::Uuid;

use super::CalDavBackend;
use super::calendar::short;
use super::objects::CalDavObject;
use crate::backend::{
    BackendError, BackendErrorKind, BackendPage, NewTask, Task, TaskChange, TaskList, TaskQuery,
    TasksBackend,
};
use crate::calendar_object::list::{Unread, id_of_name, list_name, task_page};
use crate::calendar_object::{CalendarObject, CalendarObjectKind, ObjectLocation};

impl TasksBackend for CalDavBackend {
    fn lists<'a>(&'a self, _owner: &'a str) -> BoxFuture<'a, Result<Vec<TaskList>, BackendError>> {
        Box::pin(async move {
            let all = self.collections(CalendarObjectKind::Task).await?;
            Ok(all.into_iter().map(|it| TaskList { id: it.id, name: it.name }).collect())
        })
    }

    fn add_list<'a>(
        &'a self,
        _owner: &'a str,
        name: &'a str,
    ) -> BoxFuture<'a, Result<TaskList, BackendError>> {
        Box::pin(async move {
            let name = list_name(name)?;
            let all = self.collections(CalendarObjectKind::Task).await?;
            if all.iter().any(|it| it.name.to_lowercase() == name.to_lowercase()) {
                let message = format!("there is a list `{name}` already: use that one");
                return Err(BackendError::new(BackendErrorKind::Conflict, message));
            }
            // In addresses only what every server takes.
            let id: String = id_of_name(&name).chars().filter(char::is_ascii).collect();
            let id = if id.is_empty() { "list".to_owned() } else { id };
            let id = self.make(&id, &name, CalendarObjectKind::Task).await?;
            Ok(TaskList { id, name })
        })
    }

    fn tasks<'a>(
        &'a self,
        _owner: &'a str,
        query: TaskQuery,
    ) -> BoxFuture<'a, Result<BackendPage<Task>, BackendError>> {
        Box::pin(async move {
            let home = &self.account().await?.home;
            let collections = match &query.list {
                Some(id) => vec![self.collection(CalendarObjectKind::Task, Some(id)).await?],
                None => self.collections(CalendarObjectKind::Task).await?,
            };
            let (mut tasks, mut unread) = (Vec::new(), Unread::default());
            for collection in &collections {
                for (id, read) in self.objects(collection, CalendarObjectKind::Task, None).await? {
                    let place = ObjectLocation { id: &id, collection: &collection.id, home };
                    let task = read.map_err(|error| error.to_string());
                    match task.and_then(|it| it.task(place).map_err(|fault| fault.message)) {
                        Ok(task) => tasks.push(task),
                        Err(why) => unread.note(&id, &why),
                    }
                }
            }
            Ok(unread.with(task_page(tasks, &query, &home.zone)?))
        })
    }

    fn task<'a>(
        &'a self,
        _owner: &'a str,
        id: &'a str,
    ) -> BoxFuture<'a, Result<Task, BackendError>> {
        Box::pin(async move {
            let home = &self.account().await?.home;
            let CalDavObject { collection, resource, .. } =
                self.object(CalendarObjectKind::Task, id).await?;
            resource.task(ObjectLocation { id, collection: &collection.id, home })
        })
    }

    fn add<'a>(
        &'a self,
        _owner: &'a str,
        task: NewTask,
    ) -> BoxFuture<'a, Result<Task, BackendError>> {
        Box::pin(async move {
            let home = &self.account().await?.home;
            let uid = Uuid::new_v4();
            let made = CalendarObject::new_task(&task, &uid.to_string(), home, Timestamp::now());
            let collection =
                self.collection(CalendarObjectKind::Task, task.list.as_deref()).await?;
            let id = self.put_new(&collection, &short(uid), &made).await?;
            made.task(ObjectLocation { id: &id, collection: &collection.id, home })
        })
    }

    fn change<'a>(
        &'a self,
        _owner: &'a str,
        id: &'a str,
        change: TaskChange,
    ) -> BoxFuture<'a, Result<Task, BackendError>> {
        Box::pin(async move {
            let home = &self.account().await?.home;
            let mut object = self.object(CalendarObjectKind::Task, id).await?;
            let collection = object.collection.id.clone();
            let place = ObjectLocation { id, collection: &collection, home };
            object.resource.change_task(place, &change, Timestamp::now())?;
            let task = object.resource.task(place)?;
            self.put(&object).await?;
            Ok(task)
        })
    }

    fn remove<'a>(
        &'a self,
        _owner: &'a str,
        id: &'a str,
    ) -> BoxFuture<'a, Result<(), BackendError>> {
        Box::pin(async move {
            let object = self.object(CalendarObjectKind::Task, id).await?;
            self.delete(&object).await
        })
    }
}
