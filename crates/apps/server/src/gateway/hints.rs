//! Our commands and addresses, of which the words of a call tell.

use toolcrib_core::DoorHints;

pub(crate) fn ours() -> DoorHints {
    DoorHints {
        declare_effects: Some(|source| {
            format!("`toolcrib effects {source}` tells how not to be asked again")
        }),
        call_again: Some(
            "by `\"toolcrib/again\": true` in `_meta` (MCP), by `\"again\": true` beside the calls \
             (REST)",
        ),
        takes_forms: Some("elicitation"),
        record: Some(|call| match call {
            Some(call) => format!("/v1/calls/{call}"),
            None => "/v1/calls".to_owned(),
        }),
    }
}
