//! Tasks of clients. Several processes look at them, so that the clock is that of the database.

use toolcrib_core::{Caller, TaskRecord};
use toolcrib_store::writes::requests::client_task_requests::WriteClientTask;

use super::NOW;
use crate::session::{Answer, Session};

pub(crate) async fn write(session: &Session, asked: &WriteClientTask) -> Answer<()> {
    let WriteClientTask { task, life } = asked;
    let TaskRecord { name, caller, profile, state, has_ended } = task;
    let life = i64::try_from(life.as_millis()).unwrap_or(i64::MAX);
    let put = format!(
        "INSERT INTO client_tasks (name, tenant, subject, profile, state, ended, expires) \
         VALUES ($1, $2, $3, $4, $5, $6, {NOW} + $7::bigint) \
         ON CONFLICT (name) DO UPDATE SET state = excluded.state, ended = excluded.ended, \
         expires = excluded.expires WHERE NOT client_tasks.ended"
    );
    let (tenant, subject) = (&caller.tenant, &caller.subject);
    session.change(&put, &[name, tenant, subject, profile, state, has_ended, &life]).await?;
    Ok(())
}

/// One whose life is not over.
pub(crate) async fn find(session: &Session, name: &str) -> Answer<Option<TaskRecord>> {
    let find = format!(
        "SELECT tenant, subject, profile, state, ended FROM client_tasks \
         WHERE name = $1 AND expires > {NOW}"
    );
    let Some(row) = session.row(&find, &[&name]).await? else { return Ok(None) };
    Ok(Some(TaskRecord {
        name: name.to_owned(),
        caller: Caller::new(row.try_get::<_, String>(0)?, row.try_get::<_, String>(1)?),
        profile: row.try_get(2)?,
        state: row.try_get(3)?,
        has_ended: row.try_get(4)?,
    }))
}
