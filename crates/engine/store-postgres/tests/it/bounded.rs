//! What a page of the record costs does not grow with the record.

use toolcrib_core::{Caller, Effect};
use toolcrib_store::{CallFilter, StoreOptions};

use crate::owned::write_call;
use crate::scratch::Scratch;

#[tokio::test]
async fn a_page_looks_at_ten_thousand_rows_and_says_where_to_go_on() {
    let scratch = Scratch::new();
    let store = scratch.open(StoreOptions::default()).unwrap();
    let wanted = write_call(&store, Effect::Write, &[]).await;
    scratch.change("UPDATE calls SET tool = 'wanted'");
    scratch.change(
        "INSERT INTO calls (key, call_id, tenant, subject, tool, source, effect, fingerprint, \
         arguments, planned, ended, ending) SELECT 'n' || n, call_id, tenant, subject, 'other', \
         source, effect, fingerprint, arguments, planned, planned, 'succeeded' \
         FROM calls, generate_series(1, 25000) AS n",
    );
    let filter = CallFilter { tool: Some("wanted".to_owned()), ..CallFilter::default() };
    let (mut pages, mut after, mut found) = (0, None, Vec::new());
    loop {
        let page = store.calls(&Caller::local(), filter.clone(), after, 50).await.unwrap();
        pages += 1;
        found.extend(page.calls.into_iter().map(|call| call.key));
        after = page.next;
        if after.is_none() {
            break;
        }
    }
    assert_eq!((pages, found), (3, vec![wanted.to_string()]));
    let newest = store.calls(&Caller::local(), CallFilter::default(), None, 2).await.unwrap();
    let keys: Vec<_> = newest.calls.iter().map(|call| call.key.as_str()).collect();
    assert_eq!(keys, ["n25000", "n24999"]);
    let rest = store.calls(&Caller::local(), CallFilter::default(), newest.next, 1).await.unwrap();
    assert_eq!(rest.calls[0].key, "n24998");
}
