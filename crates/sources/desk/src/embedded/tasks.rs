//! Tasks in the desk's file.

use jiff::Timestamp;
use toolcrib_core::BoxFuture;
use uuid::Uuid;

use super::calendar::Agenda;
use super::calendar::rows::{AgendaObject, AgendaRow, AgendaTransaction};
use crate::backend::{
    BackendError, BackendPage, NewTask, Task, TaskChange, TaskList, TaskQuery, TasksBackend,
};
use crate::calendar_object::list::{Unread, has_words, list_name, task_page, words_of};
use crate::calendar_object::{CalendarObject, CalendarObjectKind, ObjectLocation};

impl TasksBackend for Agenda {
    fn lists<'a>(&'a self, owner: &'a str) -> BoxFuture<'a, Result<Vec<TaskList>, BackendError>> {
        let owner = owner.to_owned();
        Box::pin(self.db.ask(move |connection| {
            let rows = AgendaTransaction::look(connection, &owner, CalendarObjectKind::Task)?;
            let all = rows.collections()?;
            Ok(all.into_iter().map(|(id, name)| TaskList { id, name }).collect())
        }))
    }

    fn add_list<'a>(
        &'a self,
        owner: &'a str,
        name: &'a str,
    ) -> BoxFuture<'a, Result<TaskList, BackendError>> {
        let (owner, name) = (owner.to_owned(), name.to_owned());
        Box::pin(self.db.ask(move |connection| {
            let name = list_name(&name)?;
            let rows = AgendaTransaction::begin(connection, &owner, CalendarObjectKind::Task)?;
            let id = rows.new_collection(&name)?;
            rows.commit()?;
            Ok(TaskList { id, name })
        }))
    }

    fn tasks<'a>(
        &'a self,
        owner: &'a str,
        query: TaskQuery,
    ) -> BoxFuture<'a, Result<BackendPage<Task>, BackendError>> {
        let (owner, home) = (owner.to_owned(), self.home(owner));
        Box::pin(self.db.ask(move |connection| {
            let rows = AgendaTransaction::look(connection, &owner, CalendarObjectKind::Task)?;
            if let Some(list) = &query.list {
                rows.collection(Some(list))?;
            }
            let words = words_of(query.text.as_deref());
            let (mut tasks, mut unread) = (Vec::new(), Unread::default());
            rows.all(query.list.as_deref(), query.done, |row: AgendaRow| {
                if !has_words(&row.words, &words) {
                    return Ok(());
                }
                let place =
                    ObjectLocation { id: &row.id, collection: &row.collection, home: &home };
                let read = CalendarObject::read(&row.body).map_err(|error| error.to_string());
                match read.and_then(|it| it.task(place).map_err(|fault| fault.message)) {
                    Ok(task) => tasks.push(task),
                    Err(why) => unread.note(&row.id, &why),
                }
                Ok(())
            })?;
            Ok(unread.with(task_page(tasks, &query, &home.zone)?))
        }))
    }

    fn task<'a>(
        &'a self,
        owner: &'a str,
        id: &'a str,
    ) -> BoxFuture<'a, Result<Task, BackendError>> {
        let (owner, id, home) = (owner.to_owned(), id.to_owned(), self.home(owner));
        Box::pin(self.db.ask(move |connection| {
            let rows = AgendaTransaction::look(connection, &owner, CalendarObjectKind::Task)?;
            let AgendaObject { collection, resource } = rows.object(&id)?;
            resource.task(ObjectLocation { id: &id, collection: &collection, home: &home })
        }))
    }

    fn add<'a>(
        &'a self,
        owner: &'a str,
        task: NewTask,
    ) -> BoxFuture<'a, Result<Task, BackendError>> {
        let (owner, home) = (owner.to_owned(), self.home(owner));
        Box::pin(self.db.ask(move |connection| {
            let rows = AgendaTransaction::begin(connection, &owner, CalendarObjectKind::Task)?;
            let uid = Uuid::new_v4().to_string();
            let made = CalendarObject::new_task(&task, &uid, &home, Timestamp::now());
            let collection = rows.collection(task.list.as_deref())?;
            let id = rows.insert(&collection, &made, &home)?;
            let task =
                made.task(ObjectLocation { id: &id, collection: &collection, home: &home })?;
            rows.commit()?;
            Ok(task)
        }))
    }

    fn change<'a>(
        &'a self,
        owner: &'a str,
        id: &'a str,
        change: TaskChange,
    ) -> BoxFuture<'a, Result<Task, BackendError>> {
        let (owner, id, home) = (owner.to_owned(), id.to_owned(), self.home(owner));
        Box::pin(self.db.ask(move |connection| {
            let rows = AgendaTransaction::begin(connection, &owner, CalendarObjectKind::Task)?;
            let AgendaObject { collection, mut resource } = rows.object(&id)?;
            let place = ObjectLocation { id: &id, collection: &collection, home: &home };
            resource.change_task(place, &change, Timestamp::now())?;
            let task = resource.task(place)?;
            rows.update(&id, &resource, &home)?;
            rows.commit()?;
            Ok(task)
        }))
    }

    fn remove<'a>(
        &'a self,
        owner: &'a str,
        id: &'a str,
    ) -> BoxFuture<'a, Result<(), BackendError>> {
        let (owner, id) = (owner.to_owned(), id.to_owned());
        Box::pin(self.db.ask(move |connection| {
            let rows = AgendaTransaction::begin(connection, &owner, CalendarObjectKind::Task)?;
            rows.delete(&id)?;
            rows.commit()
        }))
    }
}
