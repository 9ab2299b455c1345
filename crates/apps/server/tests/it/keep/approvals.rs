//! Approvals as a machine, through the doors: in whatever order things are done, a call that asks
//! first ran if and only if one valid approval of exactly this call came before.

use std::io::Write as _;
use std::process::Command;

use serde_json::{Value, json};

use super::doors::{Door, Told, mcp};
use super::keys::killed;
use super::tickets::{ASKING, arguments, body, wanted};
use super::upstream::Upstream;
use crate::chance::Chance;
use crate::process::Folder;
use crate::serve::support::{Serving, eventually};

/// Enough that every pair of steps follows each other many times over the runs of a week.
const STEPS: usize = 120;

/// A call that waits, as the model of what must be sees it.
struct Parked {
    nonce: String,
    ticket: String,
    /// What a client that was asked in place comes back with.
    state: Option<String>,
    /// Which form of the tool it was asked about.
    form: usize,
    is_open: bool,
    is_approved: bool,
}

struct Machine {
    upstream: Upstream,
    serving: Option<Serving>,
    other: String,
    parked: Vec<Parked>,
    denies: bool,
    form: usize,
}

/// An answer to the question of the MCP door that is no approval.
fn no_approvals() -> [Value; 7] {
    [
        json!({ "action": "decline" }),
        json!({ "action": "accept" }),
        json!({ "action": "accept", "content": {} }),
        json!({ "action": "accept", "content": { "approve": "true" } }),
        json!({ "action": "accept", "content": { "approve": false } }),
        json!({ "action": "ACCEPT", "content": { "approve": true } }),
        json!("accept"),
    ]
}

impl Machine {
    fn new() -> Self {
        let upstream = Upstream::start();
        let serving = Serving::start_in(upstream.furnish(ASKING), &[]);
        serving.hears("`child`: 1 tools");
        let other = serving.token_of("other");
        let serving = Some(serving);
        Self { upstream, serving, other, parked: Vec::new(), denies: false, form: 0 }
    }

    fn serving(&self) -> &Serving {
        self.serving.as_ref().unwrap()
    }

    fn sends(&self, token: &str, nonce: &str, more: &Value) -> Told {
        self.sends_with(token, arguments(nonce), more)
    }

    /// A call at the MCP door by a client that can be asked.
    fn sends_with(&self, token: &str, arguments: Value, more: &Value) -> Told {
        let wanted = wanted("child__act", arguments);
        let mut body = body(&wanted, None);
        let params = body["params"].as_object_mut().unwrap();
        params.extend(more.as_object().unwrap().clone());
        let head = Door::Mcp.head(self.serving(), token, &wanted);
        mcp(&self.serving().send(&head, &body.to_string()))
    }

    fn park(&mut self, door: usize) {
        let nonce = format!("n{}", self.parked.len());
        let (ticket, state) = match door {
            0 => {
                let told = self.sends(&self.serving().token, &nonce, &json!({}));
                let state = told.whole["requestState"].as_str().map(str::to_owned);
                (
                    state.as_deref().and_then(|state| state.split('.').next()).map(str::to_owned),
                    state,
                )
            }
            1 => {
                // A client that can ask nobody.
                let wanted = wanted("child__act", arguments(&nonce));
                let told = Door::Mcp.call(self.serving(), &wanted);
                (named_in(&told.whole), None)
            }
            _ => {
                let wanted = wanted("child__act", arguments(&nonce));
                let told = Door::Rest.call(self.serving(), &wanted);
                (named_in(&told.whole), None)
            }
        };
        let Some(ticket) = ticket else {
            assert!(self.denies, "{nonce} was neither parked nor denied");
            return;
        };
        assert!(!self.denies, "{ticket} of what is denied");
        let form = self.form;
        self.parked.push(Parked { nonce, ticket, state, form, is_open: true, is_approved: false });
    }

    /// By REST, by its caller; `true`: it was taken.
    fn decides(&self, token: &str, ticket: &str, more: &Value) -> bool {
        let path = format!("/v1/tickets/{ticket}");
        let mut body = json!({ "profile": "careful" });
        body.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        let answer = self.serving().ask_as(token, "POST", &path, &body.to_string());
        assert!([200, 400, 404, 409, 422].contains(&answer.status), "{answer:?}");
        // What was decided before is told again, and is no new decision.
        answer.status == 200 && answer.json()["recorded"].is_null()
    }

    fn approve(&mut self, place: usize, by_mcp: bool) {
        let Parked { nonce, ticket, state, form, .. } = &self.parked[place];
        let good = *form == self.form && !self.denies;
        let token = &self.serving().token;
        let was_taken = match state {
            Some(state) if by_mcp => {
                let yes = json!({ "action": "accept", "content": { "approve": true } });
                let more = json!({ "requestState": state, "inputResponses": { "approval": yes } });
                let told = self.sends(token, nonce, &more);
                !told.error && told.text == format!("did {nonce}")
            }
            _ => self.decides(token, ticket, &json!({ "decision": "approve" })),
        };
        let parked = &mut self.parked[place];
        let first = parked.is_open && good;
        assert!(!first || was_taken, "{} was approved and did not run", parked.nonce);
        // Whoever comes again by MCP is told the same end.
        assert!(first || !was_taken || parked.is_approved, "{} ran", parked.nonce);
        parked.is_approved |= first;
        parked.is_open = false;
    }

    fn deny(&mut self, place: usize) {
        let (ticket, no) = (self.parked[place].ticket.clone(), json!({ "decision": "deny" }));
        self.decides(&self.serving().token, &ticket, &no);
        self.parked[place].is_open = false;
    }

    /// Tries what must not run anything and must leave a good approval possible.
    fn abuse(&self, place: usize, way: usize) {
        let Parked { nonce, ticket, state, .. } = &self.parked[place];
        let (own, yes) = (&self.serving().token, json!({ "decision": "approve" }));
        let other = json!({ "decision": "approve", "profile": "other" });
        let edited = json!({ "decision": "approve", "arguments": arguments(&format!("{nonce}x")) });
        match way {
            0 => assert!(!self.decides(&self.other, ticket, &yes)),
            1 => assert!(!self.decides(own, ticket, &other)),
            2 => assert!(!self.decides(own, ticket, &edited)),
            3 => assert!(!self.decides(own, &format!("t_{place:032x}"), &yes)),
            4 => assert!(!self.decides(own, ticket, &json!({ "decision": "Approve" }))),
            _ => {
                let Some(state) = state else { return };
                let yes = json!({ "action": "accept", "content": { "approve": true } });
                let more = json!({ "requestState": state, "inputResponses": { "approval": yes } });
                let edited = arguments(&format!("{nonce}x"));
                assert!(self.sends_with(own, edited, &more).error);
                assert!(self.sends(&self.other, nonce, &more).error);
            }
        }
    }

    /// An answer that says no, or says nothing that can be read.
    fn answers_otherwise(&mut self, place: usize, way: usize) {
        let Parked { nonce, state, .. } = &self.parked[place];
        let Some(state) = state else { return };
        let answer = &no_approvals()[way % no_approvals().len()];
        let more = json!({ "requestState": state, "inputResponses": { "approval": answer } });
        let told = self.sends(&self.serving().token, nonce, &more);
        let again = told.whole["resultType"] == "input_required";
        let known = self.parked[place].is_approved;
        assert!(again || told.error || known, "{answer}: {told:?}");
        // Whether a no ends the ticket is told: asked again, it is open still.
        self.parked[place].is_open &= again || self.is_listed(place);
    }

    /// Lets the time of a ticket run out.
    #[expect(
        clippy::disallowed_methods,
        reason = "time passes in the file, as if in another place"
    )]
    fn expires(&mut self, place: usize) {
        const LATER: &str = "import sqlite3, sys, time\n\
            file = sqlite3.connect(sys.argv[1], timeout=20)\n\
            file.execute('UPDATE tickets SET expires = ? WHERE ticket = ?',\n\
            [int(time.time() * 1000) - 1, sys.argv[2]])\n\
            file.commit()\n";
        let ticket = &self.parked[place].ticket;
        let file = self.serving().folder.path().join("crib.db");
        let mut program = Command::new("python3");
        program.args(["-c", LATER]).arg(file).arg(ticket);
        assert!(program.status().unwrap().success());
        assert!(!self.is_listed(place), "{ticket} has expired");
        self.parked[place].is_open = false;
    }

    fn is_listed(&self, place: usize) -> bool {
        let open = self.serving().ask("GET", "/v1/tickets", "");
        open.body.contains(&self.parked[place].ticket)
    }

    fn policy(&mut self, denies: bool) {
        let path = self.serving().folder.path().join("crib.toml");
        let file = std::fs::read_to_string(path).unwrap();
        let (with, without) =
            ("[profile.careful]\ndeny = [\"child__act\"]\n", "[profile.careful]\n");
        let file = file.replace(with, without);
        let file = if denies { file.replace(without, with) } else { file };
        self.serving().folder.write("crib.toml", &file);
        self.denies = denies;
        self.settles();
    }

    /// Waits until what the file says holds.
    fn settles(&self) {
        let tools = || self.serving().ask("GET", "/v1/tools?profile=careful", "").body;
        assert!(eventually(|| tools().contains("child__act") != self.denies));
    }

    fn restart(&mut self, redefines: bool) {
        let serving = self.serving.take().unwrap();
        if redefines {
            self.form += 1;
            redefine(&serving.folder, self.form);
        }
        self.serving = Some(killed(serving));
        self.settles();
    }

    fn step(&mut self, chance: &mut Chance) {
        let (step, way) = (chance.below(22), chance.below(42));
        if self.denies && way % 3 == 0 {
            return self.policy(false);
        }
        match step {
            0..5 => return self.park(way % 3),
            16 => return self.policy(!self.denies),
            17..19 => return self.restart(way % 3 == 0),
            _ if self.parked.is_empty() => return,
            _ => {}
        }
        // Mostly of the last ones: those before are over.
        let place = self.parked.len() - 1 - chance.below(self.parked.len().min(5));
        match step {
            5..9 => self.approve(place, way % 2 == 0),
            9 => self.deny(place),
            10..13 => self.abuse(place, way % 6),
            13..16 => self.answers_otherwise(place, way),
            20.. => self.expires(place),
            _ => {
                self.approve(place, way % 2 == 0);
                self.approve(place, way % 2 == 1);
            }
        }
    }

    /// The upstream did what was approved, once, and nothing else.
    fn agrees(&self) {
        let approved = self.parked.iter().filter(|parked| parked.is_approved);
        let mut must: Vec<_> = approved.map(|parked| (parked.nonce.clone(), 1)).collect();
        let mut did: Vec<_> = self.upstream.oracle.all().into_iter().collect();
        must.sort();
        did.sort();
        assert_eq!(did, must);
    }
}

/// The ticket that an answer names.
fn named_in(told: &Value) -> Option<String> {
    let text = told.to_string();
    let at = text.find("t_")?;
    let name = text[at..].chars().take_while(|c| c.is_ascii_alphanumeric() || *c == '_');
    Some(name.collect())
}

fn redefine(folder: &Folder, form: usize) {
    let child = std::fs::read_to_string(folder.path().join("child.py")).unwrap();
    let at = child.find("Does something").unwrap();
    let end = at + child[at..].find('"').unwrap();
    folder.write(
        "child.py",
        &format!("{}Does something, form {form}.{}", &child[..at], &child[end..]),
    );
}

#[test]
fn whatever_is_done_in_whatever_order_only_what_was_approved_runs() {
    let mut chance = Chance::of("approvals");
    let mut machine = Machine::new();
    let steps = Chance::steps(STEPS);
    for _ in 0..steps {
        machine.step(&mut chance);
        machine.agrees();
    }
    let approved = machine.parked.iter().filter(|parked| parked.is_approved).count();
    let parked = machine.parked.len();
    writeln!(std::io::stdout(), "approvals: {steps} steps, {parked} parked, {approved} ran")
        .unwrap();
}
