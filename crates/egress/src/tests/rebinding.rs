//! Names that change their mind.

use crate::error::Kind;
use crate::rules::Reach;
use crate::tests::Noting;

#[tokio::test]
async fn a_name_is_judged_again_at_every_connection() {
    let noting = Noting::new(Reach::Public, &[], &[]);
    let url = "http://rebinding.test/";
    assert_eq!(noting.get(url).await, (Kind::NotConnected, "93.184.216.34:80".to_owned()));
    assert_eq!(noting.get(url).await, (Kind::Refused, String::new()));
}
