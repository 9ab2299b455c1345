//! Calls that a team answers: specialists are given tasks, and their answers become results.

use std::sync::Arc;

use serde_json::{Value, json};
use tokio_util::sync::CancellationToken;
use toolcrib_core::{Call, Discovery, RawArguments, Response, TicketId};
use toolcrib_json::schema::signature;

use super::super::{AgentRun, Listener};
use super::answers::{done, failed};
use super::work::ChildOutcomes;
use crate::record::tape::TapeEntry;
use crate::team::mode::AgentMode;
use crate::team::names::{ASK, DELEGATE, DELEGATE_ALIAS, FIND, HAND_OVER, REPORT_MISSING, ROUTE};
use crate::team::tools::RoutedTool;
use crate::team::wish::TeamWish;
use crate::team::{Specialist, Team};
use crate::usage::Usage;

/// Specialists that a search tells at the most.
const FOUND: usize = 8;

/// A call that the team answers, with its place among the calls of the batch.
pub(in crate::agent) struct TeamCall {
    pub(in crate::agent) place: usize,
    call: Call,
    wish: Result<TeamWish, String>,
}

impl AgentRun {
    /// How the team is used now; `None`: there is none.
    pub(in crate::agent) fn team(&self) -> Option<(&Arc<Team>, AgentMode)> {
        let team = self.agent.team.as_ref()?;
        let decided = self.state.team.mode.as_ref().map(|decided| decided.mode);
        Some((team, decided.unwrap_or(team.mode)))
    }

    /// Whether a tool of this name is one of the team, or of those who work for another one.
    pub(in crate::agent) fn is_of_team(&self, name: &str) -> bool {
        let is_known = match (name, self.team()) {
            (REPORT_MISSING, _) => !self.state.team.lineage.is_first(),
            (ROUTE, Some((_, mode))) => mode == AgentMode::Router,
            (name, Some((team, AgentMode::Planner))) => {
                let of_one = || name.strip_prefix(ASK).is_some_and(|one| team.find(one).is_some());
                [DELEGATE, DELEGATE_ALIAS, FIND, HAND_OVER].contains(&name) || of_one()
            }
            (_, _) => false,
        };
        is_known && !self.state.caller_tools().iter().any(|tool| tool.name == name)
    }

    /// Takes the calls out that the team answers; those that the router passes on become calls of
    /// the tools that they name.
    pub(in crate::agent) fn take_team_calls(
        &self,
        calls: &mut Vec<Call>,
    ) -> (Vec<usize>, Vec<TeamCall>) {
        let (mut places, mut plain, mut of_team) = (Vec::new(), Vec::new(), Vec::new());
        let is_alone = calls.len() == 1;
        for (place, call) in std::mem::take(calls).into_iter().enumerate() {
            if !self.is_of_team(&call.wire.name) {
                places.push(place);
                plain.push(call);
                continue;
            }
            let wish = match TeamWish::read(&call) {
                Ok(TeamWish::HandOver { .. }) if !is_alone => Err(
                    "not run: handing over must be the only call of a turn. The other calls ran; \
                     look at their results and hand over then"
                        .to_owned(),
                ),
                Ok(TeamWish::Route { toolset, tool, arguments }) => {
                    match self.routed(&toolset, &tool) {
                        Ok(()) => {
                            places.push(place);
                            let arguments = RawArguments::Value(arguments);
                            plain.push(Call { name: tool, arguments, ..call });
                            continue;
                        }
                        Err(why) => Err(why),
                    }
                }
                wish => wish,
            };
            of_team.push(TeamCall { place, call, wish });
        }
        *calls = plain;
        (places, of_team)
    }

    /// Whether the router may run a tool of a set.
    fn routed(&self, toolset: &str, tool: &str) -> Result<(), String> {
        let none = || format!("there is no toolset `{toolset}`");
        let (team, _) = self.team().ok_or_else(none)?;
        let specialist = team.find(toolset).ok_or_else(none)?;
        let tools = self.routed_tools(specialist);
        if tools.iter().any(|one| one.name == tool) {
            return Ok(());
        }
        let names: Vec<_> = tools.iter().map(|one| format!("`{}`", one.name)).take(40).collect();
        Err(format!("`{toolset}` has no tool `{tool}`: it has {}", names.join(", ")))
    }

    /// The tools of a specialist that this caller may use.
    pub(in crate::agent) fn routed_tools(&self, specialist: &Specialist) -> Vec<RoutedTool> {
        let mut wishes = specialist.agent.wishes.clone();
        wishes.discovery = Some(Discovery::Direct);
        let Ok(plan) = specialist.agent.crib.plan(&self.caller, wishes) else {
            return Vec::new();
        };
        let specs = plan.tools().map(|tool| &tool.listed.spec);
        let ours = |source: &str| source == crate::team::names::OURS;
        specs
            .filter(|spec| !ours(spec.origin.source.as_str()))
            .map(|spec| RoutedTool {
                name: spec.name.to_string(),
                signature: signature(spec.name.as_str(), &spec.input.value()),
                summary: spec.summary.clone(),
            })
            .collect()
    }

    /// Answers the calls of the team, each in its place. `None`: the process ends, and another one
    /// goes on.
    pub(in crate::agent) async fn delegate(
        &mut self,
        calls: Vec<TeamCall>,
        tell: Listener<'_>,
        cancel: &CancellationToken,
    ) -> Option<Vec<(usize, Response)>> {
        let (mut answered, mut given, mut begun) = (Vec::new(), Vec::new(), Vec::new());
        for TeamCall { place, call, wish } in calls {
            match self.wished(place, &call, wish, tell).await {
                Ok(Some(ticket)) => {
                    given.push((place, ticket.clone()));
                    begun.push(ticket);
                }
                Ok(None) => {}
                Err(response) => answered.push((place, *response)),
            }
        }
        let outcomes = self.drive(begun, tell, cancel).await;
        if outcomes.is_held {
            return None;
        }
        let mut used = Usage::default();
        let mut results = self.results_of(outcomes, &mut used);
        self.take_usage(used);
        for (place, ticket) in given {
            let result = match results.iter().position(|(of, _)| *of == ticket) {
                Some(at) => results.swap_remove(at).1,
                None => self.waiting_result(&ticket),
            };
            answered.push((place, result));
        }
        Some(answered)
    }

    /// Counts what those that ended have cost.
    fn take_usage(&mut self, used: Usage) {
        if used != Usage::default() {
            self.usage.add(used);
            self.tape.note(|| TapeEntry::Used(used));
        }
    }

    /// Goes on with those that wait for nobody any more. `false`: the process ends.
    pub(in crate::agent) async fn go_on_with_children(
        &mut self,
        tell: Listener<'_>,
        cancel: &CancellationToken,
    ) -> bool {
        let ready = self.children.ready();
        let outcomes = self.drive(ready, tell, cancel).await;
        let is_held = outcomes.is_held;
        let mut used = Usage::default();
        for (ticket, response) in self.results_of(outcomes, &mut used) {
            self.take_usage(std::mem::take(&mut used));
            self.hear(&ticket, response, tell);
        }
        !is_held
    }

    async fn drive(
        &mut self,
        tickets: Vec<TicketId>,
        tell: Listener<'_>,
        cancel: &CancellationToken,
    ) -> ChildOutcomes {
        if tickets.is_empty() {
            return ChildOutcomes::default();
        }
        // Whoever waits for others does not work.
        let worked = self.place.take().is_some();
        let left = self.time_left();
        let mut children = std::mem::take(&mut self.children);
        let outcomes = Box::pin(children.drive(tickets, left, tell, cancel)).await;
        self.children = children;
        if worked {
            self.place = self.tree.clone().place(self, cancel).await;
        }
        outcomes
    }

    /// What a call of the team comes to: a child that is begun, or an answer at once.
    async fn wished(
        &mut self,
        place: usize,
        call: &Call,
        wish: Result<TeamWish, String>,
        tell: Listener<'_>,
    ) -> Result<Option<TicketId>, Box<Response>> {
        match wish {
            Err(why) => Err(failed(call, why)),
            Ok(
                TeamWish::Delegate { specialist, task } | TeamWish::HandOver { specialist, task },
            ) => self.given(place, call, (&specialist, task), tell).await.map(Some),
            Ok(TeamWish::Find { query }) => Err(self.found(call, &query)),
            Ok(TeamWish::ReportMissing { capability }) => {
                let text = if self.state.team.lineage.is_first() {
                    "There is nobody above you who could have it: tell the user."
                } else {
                    self.state.team.missing.push(capability.chars().take(300).collect());
                    "It is noted. Answer now with what you could do."
                };
                Err(done(call, text))
            }
            // It became a call of its tool.
            Ok(TeamWish::Route { .. }) => Err(failed(call, "not run".to_owned())),
        }
    }

    fn found(&self, call: &Call, query: &str) -> Box<Response> {
        let Some((team, _)) = self.team() else {
            return failed(call, "there is no team".to_owned());
        };
        let words = |text: &str| -> Vec<String> {
            let words = text.split(|letter: char| !letter.is_alphanumeric());
            words.filter(|word| word.len() > 2).map(str::to_lowercase).collect()
        };
        let wanted = words(query);
        let mut rated: Vec<(usize, &Specialist)> = team
            .specialists
            .iter()
            .map(|one| {
                let own = words(&format!("{} {}", one.agent.name, one.agent.description));
                (wanted.iter().filter(|word| own.contains(word)).count(), one)
            })
            .filter(|(score, _)| *score > 0)
            .collect();
        rated.sort_by_key(|(score, _)| std::cmp::Reverse(*score));
        let found = rated.iter().take(FOUND).map(|(_, one)| {
            json!({ "specialist": one.agent.name, "description": one.agent.description })
        });
        let found: Vec<Value> = found.collect();
        done(call, &json!({ "specialists": found }).to_string())
    }
}
