//! Every text of ours that a model reads: what happened, and what to do next.

use std::time::Duration;

use crate::call::name::{SourceId, ToolName, shown};
use crate::ledger::ticket::id::TicketId;
use crate::ledger::{LONGEST_KEY, ResultHandle};
use crate::outcome::PendingTicket;

pub(crate) fn denied(reason: &str) -> String {
    format!(
        "Denied: {reason}. The call did not run. Do not repeat it, and look for no way around it: \
         go on without it, or tell the user"
    )
}

pub(crate) fn pending(pending: &PendingTicket) -> String {
    if pending.question.is_some() {
        return format!(
            "Waiting for an answer of the user: {}. The call has begun and goes on when a person has \
             answered; the question is kept under the ticket `{}`. Do not call it again, and do not \
             answer yourself: go on with something else, or tell the user what is asked",
            pending.reason, pending.ticket
        );
    }
    format!(
        "Waiting for approval: {}. The call has not run yet; it is kept under the ticket `{}`. \
         Do not call it again: go on with something else, or tell the user what you are waiting \
         for",
        pending.reason, pending.ticket
    )
}

/// Why a call is asked about whose tool does not say what it does. A model reads it as well, which
/// is why it says whose matter that is.
/// `cure`: how to have it declared.
pub(crate) fn undeclared(reason: &str, cure: Option<String>) -> String {
    let cure = cure
        .map_or_else(String::new, |cure| format!(" (for the person who decides alone: {cure})"));
    format!("{reason}; the tool declares nothing of what it does, so the worst is assumed{cure}")
}

/// Of a reading that a rule would have a person asked about.
pub(crate) fn not_asked_about(reason: &str) -> String {
    format!("{reason}; what is completed or followed is not asked about: permit it by a rule")
}

/// `takes_forms`: what such a client declares.
pub(crate) fn client_cannot_ask(reason: &str, takes_forms: Option<&str>) -> String {
    let declared = takes_forms.map_or_else(String::new, |word| format!(" (`{word}`)"));
    format!(
        "{reason}; a person would have to be asked, and this client can ask nobody: read it \
         through one that takes forms{declared}, or permit it by a rule"
    )
}

pub(crate) fn cannot_ask_now(reason: &str) -> String {
    format!("{reason}; nobody could be asked, and nothing was read: try again later")
}

pub(crate) fn nobody_decided(reason: &str) -> String {
    format!(
        "{reason}; nobody decided, and nothing was read: tell the user what you are waiting for"
    )
}

pub(crate) fn changed_since() -> String {
    "it is not what a person was asked about any more: look at it and ask again".to_owned()
}

/// `waits`: it asks something more.
pub(crate) fn late(name: &str, id: &str, (waits, text): (bool, &str)) -> String {
    let (name, id) = (shown(name), shown(id));
    let now = if waits { "goes on, and waits again" } else { "has ended" };
    format!("The call of `{name}` ({id}) that waited for a person {now}:\n\n{text}")
}

pub(crate) fn repaired(repairs: &[String]) -> String {
    format!("Note: the arguments were put right before the call: {}", repairs.join("; "))
}

/// `finder`: the tool that searches, where not all tools are shown.
pub(crate) fn unknown_tool(
    wrong: &str,
    nearest: &[&ToolName],
    available: &[&ToolName],
    finder: Option<&ToolName>,
) -> String {
    let name = shown(wrong);
    let meant = match nearest {
        [] => String::new(),
        names => format!(" Did you mean {}?", list(names)),
    };
    if let Some(finder) = finder {
        return format!("there is no tool `{name}`.{meant} Search for one with `{finder}`");
    }
    let there = match available {
        [] => " There are no tools: answer without one".to_owned(),
        names if names.len() <= SHOWN => format!(" Call one of: {}", list(names)),
        names => format!(
            " Call one of the {} tools that you were given, among them {}",
            names.len(),
            list(names.get(..SHOWN).unwrap_or_default())
        ),
    };
    format!("there is no tool `{name}`.{meant}{there}")
}

/// `source`: which one begins so, if the caller may know of it.
pub fn starting(name: &str, source: Option<&SourceId>) -> String {
    let name = shown(name);
    let who = source.map_or_else(
        || "some sources are still starting".to_owned(),
        |source| format!("the source `{source}` is still starting"),
    );
    format!(
        "not run (source_starting): there is no tool `{name}` yet, and {who}. Make the same call \
         again in a moment"
    )
}

/// `why`: in words that a model may read.
pub fn away(name: &str, source: &SourceId, why: &str) -> String {
    let name = shown(name);
    format!(
        "not run: there is no tool `{name}` now, and the source `{source}`, which may have it, gives \
         no tools: {why}. Try again later, or tell the user"
    )
}

/// Of what is no tool.
pub fn starting_beside() -> String {
    "nothing was read (source_starting): it is not there yet, and some sources are still starting. \
     Ask again in a moment"
        .to_owned()
}

/// Names that an error lists at the most.
const SHOWN: usize = 20;

fn list(names: &[&ToolName]) -> String {
    names.iter().map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", ")
}

/// `finder` and `relay`: the tools that find others and pass calls on to them.
pub(crate) fn not_loaded(
    name: &ToolName,
    finder: Option<&ToolName>,
    relay: Option<&ToolName>,
) -> String {
    match (finder, relay) {
        (Some(finder), Some(relay)) => format!(
            "`{name}` is not loaded, so it cannot be called directly: call `{relay}` with \
             `name`: \"{name}\" and its arguments as `parameters`; `{finder}` tells which those are"
        ),
        _ => format!("`{name}` is not loaded yet: search for it first, then call it"),
    }
}

/// How the tool that passes calls on is called.
pub(crate) fn relay_signature(relay: Option<&ToolName>) -> String {
    let relay = relay.map_or("invoke_tool", ToolName::as_str);
    format!("{relay}(name: string, parameters: object)")
}

pub(crate) fn relay_names_nothing(relay: Option<&ToolName>, finder: Option<&ToolName>) -> String {
    let cure = finder.map_or_else(String::new, |name| format!("; `{name}` finds tools"));
    format!("`name` must be the name of the tool to call: {}{cure}", relay_signature(relay))
}

pub(crate) fn relay_names_itself(relay: Option<&ToolName>) -> String {
    format!(
        "a tool cannot be called through itself: write the tool that you mean as `name`: {}",
        relay_signature(relay)
    )
}

pub(crate) fn no_call(fault: &str) -> String {
    format!("this is no tool call: {fault}. Send it again with a name and arguments")
}

pub(crate) fn not_an_object(got: &str, signature: &str) -> String {
    format!("the arguments must be a JSON object, got {got}: call {signature}")
}

pub(crate) fn unreadable(problem: &str, signature: &str) -> String {
    format!("the arguments cannot be read: {problem}. Send one JSON object: {signature}")
}

pub(crate) fn refused(violations: &str, signature: &str) -> String {
    format!("the arguments do not fit: {violations}. Correct them and call again: {signature}")
}

pub(crate) fn over_limit(limit: usize) -> String {
    format!(
        "not run: limit of {limit} calls at once. Send it again in your next turn if it is still needed"
    )
}

pub(crate) fn comes_alone(name: &ToolName) -> String {
    format!(
        "not run: `{name}` gives its answer directly to the user and must be called alone, so no \
         tool of this batch ran. Call the other tools first, then `{name}` by itself"
    )
}

pub(crate) fn refused_beside(controlling: &[&ToolName]) -> String {
    format!(
        "not run: {} must be called alone, so no tool of this batch ran. Send this call again \
         without it",
        list(controlling)
    )
}

pub(crate) fn busy() -> String {
    "not run: too much is going on at the moment. Try again later, with fewer calls at once"
        .to_owned()
}

pub(crate) fn ledger_down() -> String {
    "not run: the call could not be recorded. Try again later or tell the user".to_owned()
}

pub(crate) fn unfit_key() -> String {
    format!("not run: the key of a call must have from 1 to {LONGEST_KEY} bytes")
}

/// Of a call that ended before this process began.
pub(crate) fn answer_not_kept() -> String {
    "the call ended so, and what it answered was not kept".to_owned()
}

pub(crate) fn key_runs() -> String {
    "not run again: the first call under this key is not done yet. Ask again under the same key \
     in a moment"
        .to_owned()
}

pub(crate) fn key_of_another() -> String {
    "not run: this key came with other arguments before. Use a new key for a new call".to_owned()
}

/// A call like it was made a while ago, and nobody knows how that ended. `of`: its name, and
/// whether whoever made it gave it up; `ticket`: by which a person can let it run; `again`: how a
/// program says that it means the call.
pub(crate) fn duplicate_of_unknown(
    of: Option<(&str, bool)>,
    ticket: Option<&TicketId>,
    again: Option<&str>,
) -> String {
    let anew = of.filter(|(_, was_cancelled)| *was_cancelled);
    let anew = anew.map_or_else(String::new, |_| {
        let ways = again.map_or_else(String::new, |again| format!("{again}, or "));
        format!(
            ". It was cancelled by whoever made it: a program that means it once more all the same \
             says so, {ways}by a new idempotency key"
        )
    });
    let cure = ticket.map_or_else(String::new, |ticket| {
        format!(". A person can let it run all the same: it is kept under the ticket `{ticket}`")
    });
    let of = of.map_or_else(String::new, |(of, _)| format!(" (`{of}`)"));
    format!(
        "not run (duplicate_of_unknown): the same call was made a while ago{of}, and it may \
         or may not have taken effect. Do not repeat it; check first whether it did, or ask the \
         user{cure}{anew}"
    )
}

pub(crate) fn not_started() -> String {
    "not run: the request was cancelled before the call started. Call it again if it is still \
     needed"
        .to_owned()
}

pub(crate) fn cancelled() -> String {
    "the call was cancelled. It changed nothing; call it again if it is still needed".to_owned()
}

pub(crate) fn timed_out(after: Duration) -> String {
    format!(
        "no answer within {after:?}. It changed nothing: ask for less and call again, or go on \
         without it"
    )
}

/// A started call that may have changed something and whose end nobody knows.
pub(crate) fn unknown_outcome(what: &str) -> String {
    format!(
        "{what}. It may or may not have taken effect: do not repeat it; check first whether it \
         did, or ask the user"
    )
}

/// Where there is a tool that tells how such a call stands.
pub(crate) fn looked_up(by: &ToolName, call: &str) -> String {
    format!(". `{by}` with the `call_id` `{call}` tells how it stands")
}

/// The same of a call that may be made again without harm.
pub(crate) fn perhaps_done(what: &str) -> String {
    format!(
        "{what}. It may or may not have taken effect; to repeat it as it is does no harm: call it \
         again or tell the user"
    )
}

/// Of a reader whose first try got lost, and whose next ones never left.
pub(crate) fn lost() -> String {
    "the line broke after the call was sent, and the other side cannot be reached since: try again \
     later, or go on without it"
        .to_owned()
}

pub(crate) fn crashed() -> String {
    "the tool crashed. The same call will most likely crash again: try other arguments or another \
     tool, or tell the user"
        .to_owned()
}

pub(crate) fn stuck(what: &str) -> String {
    format!("{what}. It changed nothing: try another tool, or tell the user")
}

/// What is told of a function in whose place a tool of a provider comes; `what`: what that does, as
/// a sentence.
pub fn on_demand(what: &str) -> String {
    format!(
        "{what} The provider of this model runs it. To have it, call this function once, without \
         arguments: from your next turn on that tool stands in its place"
    )
}

/// The answer to a call of such a function.
pub fn at_hand(name: &str) -> String {
    format!(
        "`{name}` is at hand: from your next turn on the provider of this model runs it, and you \
         use that tool in the place of this function. Nothing else was done yet"
    )
}

pub(crate) fn not_admitted() -> String {
    "not run: the batch could not be read, through a fault of ours. Send the calls again one by \
     one, or tell the user"
        .to_owned()
}

pub(crate) fn not_reached() -> String {
    "not run, through a fault of ours. Try another way, or tell the user".to_owned()
}

/// `reader`: where the whole is kept, and the tool that reads it.
/// `again`: to make the call once more does no harm.
pub(crate) fn cut(
    (shown, whole): (usize, usize),
    again: bool,
    reader: Option<(&ResultHandle, &ToolName)>,
) -> String {
    let pieces = reader.map(|(handle, tool)| {
        format!("read it in pieces: call `{tool}` with the handle `{handle}`")
    });
    let rest = match (again, pieces) {
        (true, Some(pieces)) => {
            format!("Call again with arguments that ask for less to see the rest, or {pieces}")
        }
        (true, None) => "Call again with arguments that ask for less to see the rest".to_owned(),
        (false, Some(pieces)) => format!("Do not call again to see the rest; {pieces}"),
        (false, None) => "The call is done: do not call again to see the rest".to_owned(),
    };
    format!("[cut: {shown} of {whole} bytes are shown. {rest}]")
}
