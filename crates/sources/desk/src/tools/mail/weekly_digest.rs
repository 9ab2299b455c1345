//! A week of mail, read page by page and made into a digest.

use jiff::ToSpan;
use schemars::JsonSchema;
use serde::Deserialize;
use toolcrib_core::ToolError;

use super::MailCall;
use super::digest::{DigestBuilder, MailDigest};
use crate::backend::MailQuery;
use crate::tools::times::CallClock;
use crate::tools::tool::DataAnswer;

/// Emails that are read from a keeper at once, and altogether.
const PAGE: usize = 100;
const MOST: usize = 1_000;

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct WeeklyDigestArguments {
    /// How many days, today being the last.
    #[serde(default = "seven")]
    #[schemars(range(min = 1, max = 30))]
    days: i32,
    /// How many conversations to show at the most.
    #[serde(default = "twenty")]
    #[schemars(range(min = 1, max = 100))]
    limit: usize,
}

fn seven() -> i32 {
    7
}

fn twenty() -> usize {
    20
}

pub(super) async fn summarize(
    here: MailCall,
    weekly: WeeklyDigestArguments,
) -> Result<DataAnswer<MailDigest>, ToolError> {
    let times = CallClock::new(&here.settings, None)?;
    let today = times.now().date();
    let first = today.checked_sub((weekly.days.clamp(1, 30) - 1).days())?;
    let own = here.keeper.address(&here.owner).await?;
    let mut query = MailQuery {
        after: Some(first.to_zoned(times.zone())?.timestamp()),
        limit: PAGE,
        ..MailQuery::default()
    };
    let mut gathered = DigestBuilder::new(own, (first, today));
    let (mut read, mut notes) = (0, Vec::new());
    loop {
        let page = here.keeper.messages(&here.owner, query.clone()).await?;
        read += page.items.len();
        for head in page.items {
            gathered.take(head, &times);
        }
        match page.next {
            Some(_) if read >= MOST => {
                notes.push(format!("only the newest {read} emails were counted"));
                break;
            }
            Some(next) => query.cursor = Some(next),
            None => break,
        }
    }
    Ok(DataAnswer { data: gathered.digest(weekly.limit, &times), notes })
}
