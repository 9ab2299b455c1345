//! Tokens of sign-ins, which all replicas share. The clock is that of the database.

use std::time::Duration;

use toolcrib_core::{BoxFuture, LedgerError, TokenLedger};

use crate::reads::PostgresReads;

/// The tokens in a database. It has sessions of its own, opened when they are needed first: whoever
/// signs in by the command line is no replica.
pub struct PostgresTokens(pub(crate) PostgresReads);

impl TokenLedger for PostgresTokens {
    fn document<'a>(
        &'a self,
        name: &'a str,
    ) -> BoxFuture<'a, Result<Option<Vec<u8>>, LedgerError>> {
        let name = name.to_owned();
        Box::pin(async move {
            let found = self.0.read(async move |session| {
                let find = "SELECT sealed FROM sign_ins WHERE name = $1";
                let row = session.row(find, &[&name]).await?;
                Ok(row.map(|row| row.try_get(0)).transpose()?)
            });
            Ok(found.await?)
        })
    }

    fn put<'a>(
        &'a self,
        name: &'a str,
        sealed: Option<Vec<u8>>,
    ) -> BoxFuture<'a, Result<(), LedgerError>> {
        let name = name.to_owned();
        Box::pin(async move {
            let written = self.0.read(async move |session| match sealed {
                Some(sealed) => {
                    let keep = "INSERT INTO sign_ins (name, sealed) VALUES ($1, $2) \
                             ON CONFLICT (name) DO UPDATE SET sealed = excluded.sealed";
                    session.change(keep, &[&name, &sealed]).await
                }
                None => session.change("DELETE FROM sign_ins WHERE name = $1", &[&name]).await,
            });
            Ok(written.await.map(drop)?)
        })
    }

    fn lock<'a>(
        &'a self,
        name: &'a str,
        holder: &'a str,
        lasts: Duration,
    ) -> BoxFuture<'a, Result<bool, LedgerError>> {
        let (name, holder) = (name.to_owned(), holder.to_owned());
        let lasts = i64::try_from(lasts.as_millis()).unwrap_or(i64::MAX);
        Box::pin(async move {
            let taken = self.0.read(async move |session| {
                let take = "INSERT INTO sign_in_renewals (name, holder, until) \
                     VALUES ($1, $2, clock_timestamp() + $3::bigint * interval '1 millisecond') \
                     ON CONFLICT (name) DO UPDATE SET holder = excluded.holder, \
                     until = excluded.until WHERE sign_in_renewals.until <= clock_timestamp() \
                     OR sign_in_renewals.holder = excluded.holder";
                session.change(take, &[&name, &holder, &lasts]).await
            });
            Ok(taken.await? > 0)
        })
    }

    fn unlock<'a>(
        &'a self,
        name: &'a str,
        holder: &'a str,
    ) -> BoxFuture<'a, Result<(), LedgerError>> {
        let (name, holder) = (name.to_owned(), holder.to_owned());
        Box::pin(async move {
            let given = self.0.read(async move |session| {
                let give = "DELETE FROM sign_in_renewals WHERE name = $1 AND holder = $2";
                session.change(give, &[&name, &holder]).await
            });
            Ok(given.await.map(drop)?)
        })
    }
}
