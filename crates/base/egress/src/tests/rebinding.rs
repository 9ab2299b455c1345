//! Names that change their mind.

use crate::error::EgressErrorKind;
use crate::rules::EgressScope;
use crate::tests::Noting;

#[tokio::test]
async fn a_name_is_judged_again_at_every_connection() {
    let noting = Noting::new(EgressScope::Public, &[], &[]);
    let url = "http://rebinding.test/";
    assert_eq!(
        noting.get(url).await,
        (EgressErrorKind::NotConnected, "93.184.216.34:80".to_owned())
    );
    assert_eq!(noting.get(url).await, (EgressErrorKind::Refused, String::new()));
}
